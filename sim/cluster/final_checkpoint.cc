#include "vigil/sim/cluster/final_checkpoint.h"

#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/sim/cluster/trainer.h"
#include "vigil/sim/workloads/regression.h"

namespace vigil::sim {
namespace {

// The loss of the parameters that a checkpoint has, if it is one of a regression.
std::optional<double> LossIn(Files& files, const std::string& prefix, std::uint64_t seed) {
  absl::StatusOr<BundleReader> reader = BundleReader::Open(files, prefix);
  if (!reader.ok() || !reader->Has("w") || !reader->Has("b")) return std::nullopt;
  const absl::StatusOr<Tensor> w = reader->Read("w");
  const absl::StatusOr<Tensor> b = reader->Read("b");
  if (!w.ok() || !b.ok()) return std::nullopt;
  const absl::StatusOr<RegressionParameters> parameters = ParametersFrom(*w, *b);
  if (!parameters.ok()) return std::nullopt;
  return LossOf(*parameters, RegressionTestData(seed, kJobNoise, kJobTestExamples));
}

}  // namespace

FinalCheckpoint ReadNewestCheckpoint(Files& files, const std::string& dir, std::uint64_t seed) {
  constexpr std::string_view kBefore = "model.ckpt-";
  constexpr std::string_view kAfter = ".index";
  const absl::StatusOr<std::vector<std::string>> names = files.List(dir);
  FinalCheckpoint found;
  if (!names.ok()) return found;
  std::string newest;
  for (const std::string& name : *names) {
    if (!name.starts_with(kBefore) || !name.ends_with(kAfter)) continue;
    std::int64_t step = 0;
    const char* const digits = name.data() + kBefore.size();
    if (std::from_chars(digits, name.data() + name.size(), step).ec != std::errc()) continue;
    if (found.step.has_value() && step < *found.step) continue;
    const std::string prefix = JoinPath(dir, name.substr(0, name.size() - kAfter.size()));
    if (!VerifyBundle(files, prefix).ok()) continue;
    found.step = step;
    newest = prefix;
  }
  if (!newest.empty()) found.loss = LossIn(files, newest, seed);
  return found;
}

}  // namespace vigil::sim

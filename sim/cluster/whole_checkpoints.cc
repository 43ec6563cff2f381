#include "vigil/sim/cluster/whole_checkpoints.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "fmt/format.h"
#include "vigil/core/env/files.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/sim/cluster/job.h"
#include "vigil/sim/cluster/trainer.h"
#include "vigil/sim/node_files.h"
#include "vigil/sim/workloads/regression.h"

namespace vigil::sim {
namespace {

constexpr std::string_view kBefore = "model.ckpt-";
constexpr std::string_view kAfter = ".index";

std::string PrefixOf(std::int64_t step) { return JoinPath(kCheckpoints, fmt::format("{}{}", kBefore, step)); }

}  // namespace

std::vector<std::int64_t> WholeCheckpoints(World& world) {
  std::vector<std::int64_t> whole;
  Files& files = world.shared_disk().files;
  const absl::StatusOr<std::vector<std::string>> names = files.List(kCheckpoints);
  if (!names.ok()) return whole;
  for (const std::string& name : *names) {
    if (!name.starts_with(kBefore) || !name.ends_with(kAfter)) continue;
    std::int64_t step = 0;
    const char* const digits = name.data() + kBefore.size();
    if (std::from_chars(digits, name.data() + name.size(), step).ec != std::errc()) continue;
    if (VerifyBundle(files, PrefixOf(step)).ok()) whole.push_back(step);
  }
  std::ranges::sort(whole);
  return whole;
}

std::optional<double> LossInCheckpoint(World& world, std::int64_t step, std::uint64_t seed) {
  absl::StatusOr<BundleReader> reader = BundleReader::Open(world.shared_disk().files, PrefixOf(step));
  if (!reader.ok() || !reader->Has("w") || !reader->Has("b")) return std::nullopt;
  const absl::StatusOr<Tensor> w = reader->Read("w");
  const absl::StatusOr<Tensor> b = reader->Read("b");
  if (!w.ok() || !b.ok()) return std::nullopt;
  const absl::StatusOr<RegressionParameters> parameters = ParametersFrom(*w, *b);
  if (!parameters.ok()) return std::nullopt;
  return LossOf(*parameters, RegressionTestData(seed, kJobNoise, kJobTestExamples));
}

}  // namespace vigil::sim

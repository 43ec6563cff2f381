#include "vigil/sim/cluster/whole_checkpoints.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "fmt/format.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/env/files.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/sim/cluster/job.h"
#include "vigil/sim/cluster/restore_watch.h"
#include "vigil/sim/cluster/trainer.h"
#include "vigil/sim/node_files.h"
#include "vigil/sim/workloads/regression.h"

namespace vigil::sim {
namespace {

constexpr std::string_view kBefore = "model.ckpt-";
constexpr std::string_view kIndex = ".index";
constexpr std::string_view kData = ".data-";

// The step in the name of a checkpoint's file, if it has `after` behind that. An index that has more behind it is none
// yet.
std::optional<std::int64_t> StepIn(std::string_view name, std::string_view after) {
  if (!name.starts_with(kBefore)) return std::nullopt;
  std::int64_t step = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + kBefore.size(), end, step);
  const std::string_view behind(rest, end);
  if (error != std::errc() || !behind.starts_with(after) || (after == kIndex && behind != kIndex)) return std::nullopt;
  return step;
}

// Of the files whose names have `after` behind a step.
std::vector<std::int64_t> StepsWith(Files& files, const std::string& folder, std::string_view after) {
  std::vector<std::int64_t> steps;
  const absl::StatusOr<std::vector<std::string>> names = files.List(folder);
  if (!names.ok()) return steps;
  for (const std::string& name : *names) {
    if (const std::optional<std::int64_t> step = StepIn(name, after)) steps.push_back(*step);
  }
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

std::string PrefixOf(const std::string& folder, std::int64_t step) {
  return JoinPath(folder, fmt::format("{}{}", kBefore, step));
}

}  // namespace

IndexedCheckpoints LookAtCheckpoints(Files& files, const std::string& folder) {
  IndexedCheckpoints found;
  for (const std::int64_t step : StepsWith(files, folder, kIndex)) {
    const bool whole = VerifyBundle(files, PrefixOf(folder, step)).ok();
    (whole ? found.whole : found.incomplete).push_back(step);
  }
  return found;
}
IndexedCheckpoints LookAtCheckpoints(World& world) {
  return LookAtCheckpoints(world.shared_disk().files, kCheckpoints);
}

std::vector<std::int64_t> HalfDeletedCheckpoints(World& world) {
  return HalfDeletedCheckpoints(world.shared_disk().files, kCheckpoints);
}
std::vector<std::int64_t> HalfDeletedCheckpoints(Files& files, const std::string& folder) {
  const std::vector<std::int64_t> data = StepsWith(files, folder, kData);
  const std::vector<std::int64_t> indices = StepsWith(files, folder, kIndex);
  std::vector<std::int64_t> half;
  std::ranges::set_difference(data, indices, std::back_inserter(half));
  return half;
}

std::set<std::int64_t> RottenCheckpoints(World& world) {
  std::set<std::int64_t> steps;
  for (const auto& [path, contents] : world.disk_faults().rotten()) {
    if (const auto step = StepIn(path.substr(path.rfind('/') + 1), "")) steps.insert(*step);
  }
  return steps;
}

bool StateFileHasRotted(World& world) {
  return world.disk_faults().rotten().contains(JoinPath(kCheckpoints, kDefaultStateFile));
}

std::set<std::int64_t> NamedByRottenStateFile(World& world) {
  constexpr std::string_view kNames = "model_checkpoint_path: \"";
  std::set<std::int64_t> steps;
  const auto& rotten = world.disk_faults().rotten();
  const auto state_file = rotten.find(JoinPath(kCheckpoints, kDefaultStateFile));
  if (state_file == rotten.end()) return steps;
  for (const FileDamage& damage : state_file->second) {
    const std::string_view content = damage.content;
    if (!content.starts_with(kNames)) continue;
    const std::string_view named = content.substr(kNames.size());
    steps.insert(StepInName(std::string(named.substr(0, named.find('"')))));
  }
  return steps;
}

std::int64_t DamageMet(World& world, std::int64_t step) {
  const std::string data = PrefixOf(kCheckpoints, step) + std::string(kData);
  return std::ranges::count_if(world.disk_faults().meetings(), [&](const DiskFaults::Meeting& meeting) {
    return meeting.task.starts_with("ps") && meeting.path.starts_with(data);
  });
}

std::optional<double> LossInCheckpoint(World& world, std::int64_t step, std::uint64_t seed) {
  return LossInCheckpoint(world.shared_disk().files, kCheckpoints, step, seed);
}
std::optional<double> LossInCheckpoint(Files& files, const std::string& folder, std::int64_t step, std::uint64_t seed) {
  absl::StatusOr<BundleReader> reader = BundleReader::Open(files, PrefixOf(folder, step));
  if (!reader.ok() || !reader->Has("w") || !reader->Has("b")) return std::nullopt;
  const absl::StatusOr<Tensor> w = reader->Read("w");
  const absl::StatusOr<Tensor> b = reader->Read("b");
  if (!w.ok() || !b.ok()) return std::nullopt;
  const absl::StatusOr<RegressionParameters> parameters = ParametersFrom(*w, *b);
  if (!parameters.ok()) return std::nullopt;
  return LossOf(*parameters, RegressionTestData(seed, kJobNoise, kJobTestExamples));
}

}  // namespace vigil::sim

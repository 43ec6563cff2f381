#include "vigil/replays/play/real_player.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "fmt/format.h"
#include "vigil/core/base/code.h"
#include "vigil/replays/real/real_job.h"
#include "vigil/sim/checkers/checker.h"

namespace vigil::replays {
namespace {

Outcome Without(Verdict verdict, std::string reason) {
  Outcome outcome;
  outcome.verdict = verdict;
  outcome.reason = std::move(reason);
  return outcome;
}

// As mkdtemp takes it.
std::string FolderFor(const Scenario& scenario, const std::string& keep) {
  std::filesystem::path parent = keep;
  std::error_code failed;
  if (keep.empty()) parent = std::filesystem::temp_directory_path(failed);
  if (failed) parent = "/tmp";  // TMPDIR names no folder
  std::string name = keep.empty() ? "vigil-job" : scenario.id;
  std::ranges::replace(name, '/', '_');
  return (parent / (name + "-XXXXXX")).string();
}

// In a folder of its own.
absl::StatusOr<RealJobRun> PlayOnce(const Scenario& scenario, const PlayerOptions& player, const std::string& keep,
                                    const std::atomic<bool>* interrupt) {
  std::string folder = FolderFor(scenario, keep);
  if (mkdtemp(folder.data()) == nullptr) {
    return MakeStatus(Code::kUnavailable, fmt::format("cannot make a folder {}: {}", folder, std::strerror(errno)));
  }
  const absl::Cleanup remove = [&] {
    std::error_code left;
    if (keep.empty()) std::filesystem::remove_all(folder, left);
  };
  return PlayRealJob(scenario,
                     {.program = player.task_program, .folder = folder, .plant = player.plant, .interrupt = interrupt});
}

}  // namespace

Outcome PlayForReal(const Scenario& scenario, const PlayerOptions& player, const RunnerOptions& options) {
  if (!scenario.job.has_value()) return Without(Verdict::kCannot, "processes play clusters only");
  if (const std::string why = WhyNotReal(*scenario.job); !why.empty())
    return Without(Verdict::kCannot, fmt::format("processes cannot play {}", why));
  absl::StatusOr<RealJobRun> run = PlayOnce(scenario, player, player.keep, options.interrupt);
  if (!run.ok()) return Without(Verdict::kNotSetUp, std::string(MessageOf(run.status())));
  Outcome outcome;
  if (run->interrupted) outcome.verdict = Verdict::kInterrupted;
  outcome.real = true;
  outcome.job = std::move(run->facts);
  outcome.history = std::move(run->history);
  const sim::JobSpec& job = *scenario.job;
  if (!options.quiet || run->interrupted || !job.heal_after.has_value() || !sim::ComparableLoss(job, *outcome.job))
    return outcome;
  Scenario without = scenario;
  without.job->plan = {};
  without.job->heal_after.reset();
  absl::StatusOr<RealJobRun> quiet = PlayOnce(without, player, "", options.interrupt);
  if (!quiet.ok()) return Without(Verdict::kNotSetUp, std::string(MessageOf(quiet.status())));
  if (quiet->interrupted) outcome.verdict = Verdict::kInterrupted;
  outcome.quiet = std::move(quiet->facts);
  return outcome;
}

}  // namespace vigil::replays

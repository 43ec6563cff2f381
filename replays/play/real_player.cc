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
  std::error_code ignored;
  const std::filesystem::path parent =
      keep.empty() ? std::filesystem::temp_directory_path(ignored) : std::filesystem::path(keep);
  std::string name = keep.empty() ? "vigil-job" : scenario.id;
  std::ranges::replace(name, '/', '_');
  return (parent / (name + "-XXXXXX")).string();
}

}  // namespace

Outcome PlayForReal(const Scenario& scenario, const std::string& program, const std::string& keep,
                    const RunnerOptions& options) {
  if (!scenario.job.has_value()) return Without(Verdict::kCannot, "processes play clusters only");
  if (const std::string why = WhyNotReal(*scenario.job); !why.empty())
    return Without(Verdict::kCannot, fmt::format("processes cannot play {}", why));
  std::string folder = FolderFor(scenario, keep);
  if (mkdtemp(folder.data()) == nullptr)
    return Without(Verdict::kNotSetUp, fmt::format("cannot make a folder {}: {}", folder, std::strerror(errno)));
  const absl::Cleanup remove = [&] {
    std::error_code left;
    if (keep.empty()) std::filesystem::remove_all(folder, left);
  };
  absl::StatusOr<RealJobRun> run =
      PlayRealJob(scenario, {.program = program, .folder = folder, .interrupt = options.interrupt});
  if (!run.ok()) return Without(Verdict::kNotSetUp, std::string(MessageOf(run.status())));
  Outcome outcome;
  if (run->interrupted) outcome.verdict = Verdict::kInterrupted;
  outcome.job = std::move(run->facts);
  outcome.history = std::move(run->history);
  return outcome;
}

}  // namespace vigil::replays

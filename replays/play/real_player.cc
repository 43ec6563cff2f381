#include "vigil/replays/play/real_player.h"

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

}  // namespace

Outcome PlayForReal(const Scenario& scenario, const std::string& program, const RunnerOptions& options) {
  if (!scenario.job.has_value()) return Without(Verdict::kCannot, "processes play clusters only");
  if (const std::string why = WhyNotReal(*scenario.job); !why.empty())
    return Without(Verdict::kCannot, fmt::format("processes cannot play {}", why));
  std::error_code ignored;
  std::string folder = (std::filesystem::temp_directory_path(ignored) / "vigil-job-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    return Without(Verdict::kNotSetUp, fmt::format("cannot make a folder {}: {}", folder, std::strerror(errno)));
  const absl::Cleanup remove = [&folder] {
    std::error_code left;
    std::filesystem::remove_all(folder, left);
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

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>

#include "vigil/sim/checkers/checker.h"

namespace vigil::sim {
namespace {

void CheckSteps(const JobRun& run, Findings& findings) {
  std::map<std::string, std::optional<std::int64_t>, std::less<>> last;  // none: a new session
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kStarted || moment.kind == JobMoment::Kind::kSession) last[moment.task].reset();
    if (moment.kind != JobMoment::Kind::kSawStep) continue;
    std::optional<std::int64_t>& before = last[moment.task];
    if (before.has_value()) {
      findings.Arm();
      if (moment.step < *before) {
        findings.Violate(moment, fmt::format("step {} or more in the same session", *before),
                         fmt::format("{}", moment.step));
      }
    }
    before = moment.step;
  }
}

}  // namespace

const Checker kStepGoesBackOnlyWithARecovery = {
    .id = "step.goes_back_only_with_a_recovery",
    .sentence = "Within one session of a replica the global step never goes back.",
    .source = "pain 2: a chief that returned rolled every worker back by hundreds of steps, and no worker was told",
    .needs = &Behaviour::join_live_model,
    .check = CheckSteps,
};

}  // namespace vigil::sim

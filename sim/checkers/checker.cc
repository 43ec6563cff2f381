#include "vigil/sim/checkers/checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/sim/checkers/writes.h"

namespace vigil::sim {
namespace {

constexpr std::size_t kShown = 3;  // violations of one checker in one run

}  // namespace

bool Leaves(const JobMoment& moment) {
  using Kind = JobMoment::Kind;
  return moment.kind == Kind::kStopAsked || moment.kind == Kind::kLeaves ||
         (moment.kind == Kind::kRunFailed && moment.code == Code::kOutOfRange);
}

void Findings::Violate(const JobMoment& moment, std::string_view expected, std::string_view seen) {
  violations_.push_back({.rule = "",
                         .text = fmt::format("{} (life {}) at {:.3f} s: expected {}, seen {}", moment.task, moment.life,
                                             ToSeconds(moment.at - start_), expected, seen),
                         .task = moment.task,
                         .at = moment.at});
}

void Findings::Violate(std::string_view task, std::string_view expected, std::string_view seen) {
  violations_.push_back(
      {.rule = "", .text = fmt::format("{}: expected {}, seen {}", task, expected, seen), .task = std::string(task)});
}

std::span<const Checker> Checkers() {
  static const Checker kAll[] = {kUpdatesExactlyOnce,
                                 kUpdatesAsApplied,
                                 kStepGoesBackOnlyWithARecovery,
                                 kReportedCheckpointSurvives,
                                 kFinalCheckpointHasFinalStep,
                                 kLastOneSaves,
                                 kEveryTaskEnds,
                                 kBoundedRecovery,
                                 kNoTaskLeft,
                                 kTokensConserved,
                                 kTokensAsOwed,
                                 kQueuesInOrderOnce,
                                 kHistoryLinearizable,
                                 kLossAsWithoutFaults,
                                 kCompleteWhenReported,
                                 kCheckpointLogged,
                                 kKeepLimit,
                                 kIndexMeansWhole,
                                 kNoRunAfterAStop,
                                 kErrorsHaveACause,
                                 kRestoresNewestReported,
                                 kRestoreBringsWhatWasSaved,
                                 kSavesWhatWasThere,
                                 kDamageIsNotRestored,
                                 kNothingFailsWithoutAFault,
                                 kResourcesReturn,
                                 kGetsOnWhenHealed,
                                 kIdleSessionsStay,
                                 kDiariesSurvive,
                                 kServerStops,
                                 kTrainerStops,
                                 kHoldsForSessions,
                                 kFailuresInReach,
                                 kAnswersAsAlone,
                                 kEndsAtItsLastStep,
                                 kInitFnRanWhole,
                                 kDivergedIsNotSaved};
  return kAll;
}

JobJudgement CheckJob(const JobRun& given) {
  const Writes writes(given.history);
  JobRun run = given;
  run.writes = &writes;
  JobJudgement judgement;
  for (const Checker& checker : Checkers()) {
    if (checker.needs != nullptr && !(run.behaviour.*checker.needs)) continue;
    if (checker.by_order && run.real) continue;
    Findings findings(run.start);
    checker.check(run, findings);
    judgement.armed[std::string(checker.id)] += findings.armed();
    const std::size_t shown = std::min(findings.violations().size(), kShown);
    for (std::size_t i = 0; i < shown; ++i) {
      judgement.violations.push_back(std::move(findings.violations()[i]));
      judgement.violations.back().rule = checker.id;
    }
  }
  return judgement;
}

}  // namespace vigil::sim

// What conversations hear (sim/cluster/conversation.h).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

// From then on whatever the faults had broken is known to be.
constexpr std::chrono::minutes kSettled{3};
// An ask that nothing holds up: with slow processors, links and pools it takes seconds.
constexpr std::chrono::minutes kLongest{1};

bool SomebodyStaysAway(const JobFacts& facts) {
  return std::ranges::any_of(facts.faults,
                             [](const FaultCount& fault) { return fault.kind == "crash_for_good" && fault.fired > 0; });
}

class AnswerCheck {
 public:
  AnswerCheck(const JobRun& run, Findings& findings)
      : run_(run),
        findings_(findings),
        calm_(StartsInOrder(run.spec) && IsCalm(run.facts)),
        all_come_back_(!SomebodyStaysAway(run.facts)) {}

  void See(const JobMoment& moment) {
    if (moment.kind == JobMoment::Kind::kHealed) healed_ = moment.at;
    if (moment.kind == JobMoment::Kind::kServing && IsServer(moment.task)) server_began_ = moment.at;
    if (moment.kind != JobMoment::Kind::kAnswered) return;
    findings_.Arm();
    if (const std::string wrong = WrongWith(moment); !wrong.empty())
      findings_.Violate(moment, "what the same graph answers in one process, or an error of which a fault is the cause",
                        wrong);
  }

 private:
  // Nothing has struck, or all of it before the session was made.
  bool IsUndisturbed(const JobMoment& moment) const {
    if (calm_) return true;
    const Duration age = std::max(moment.answer->session_for, moment.answer->took);
    return all_come_back_ && moment.at >= healed_ + kSettled + age;
  }

  std::string WrongWith(const JobMoment& moment) const {
    const Answer& answer = *moment.answer;
    if (!answer.wrong.empty()) return answer.wrong;
    const bool undisturbed = IsUndisturbed(moment);
    const std::string seen =
        fmt::format("{} after {:.3f} s ({})", CodeName(moment.code), ToSeconds(answer.took), answer.text);
    if (moment.code == Code::kOk) return undisturbed && answer.took > kLongest ? seen : "";
    // It may be long ago that a server has lost its variables.
    if (moment.code == Code::kFailedPrecondition || moment.code == Code::kNotFound)
      return HasLostVariables(moment) ? "" : seen;
    return undisturbed || !MayFail(moment.code) ? seen : "";
  }

  // A server that was another process when they were initialised.
  bool HasLostVariables(const JobMoment& moment) const {
    return server_began_ + moment.answer->initialised_for >= moment.at;
  }

  bool MayFail(Code code) const {
    return code == Code::kAborted || code == Code::kUnavailable ||
           (code == Code::kDeadlineExceeded && run_.spec.workload.timeout_ms > 0);
  }

  const JobRun& run_;
  Findings& findings_;
  const bool calm_;
  const bool all_come_back_;
  Time healed_ = kNever;
  Time server_began_{Duration::min()};  // the newest
};

void CheckAnswers(const JobRun& run, Findings& findings) {
  AnswerCheck check(run, findings);
  for (const JobMoment& moment : run.history) check.See(moment);
}

}  // namespace

const Checker kAnswersAsAlone = {
    .id = "session.answers_as_alone",
    .sentence =
        "Whatever a session on a cluster is asked, it answers what the same graph answers in one process, within a "
        "minute once everything has healed; or it fails with ABORTED or UNAVAILABLE, by its time limit, or since a "
        "server has lost its variables, and never without a fault.",
    .source = "core/session/session.h: one interface, one meaning; TensorFlow's direct and gRPC sessions likewise",
    .needs = &Behaviour::bounded_recovery,
    .check = CheckAnswers,
    .excuses =
        "errors of sessions that were made before three minutes after everything has healed, and all of these in "
        "jobs in which a node stays away",
    .why = "a session breaks once, whenever it is used next; who needs what is away has none",
};

}  // namespace vigil::sim

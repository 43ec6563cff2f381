// What conversations hear (sim/cluster/conversation.h).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
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

class AnswerCheck {
 public:
  AnswerCheck(const JobRun& run, Findings& findings)
      : run_(run),
        findings_(findings),
        calm_(StartsInOrder(run.spec) && IsCalm(run.facts)),
        all_come_back_(NobodyStaysAway(run.facts)) {}

  void See(const JobMoment& moment) {
    if (moment.kind == JobMoment::Kind::kHealed) healed_ = moment.at;
    if (moment.kind == JobMoment::Kind::kServing) began_[moment.task] = moment.at;
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
    if (undisturbed && answer.took > answer.limit + kLongest) return seen;
    switch (moment.code) {
      case Code::kOk:
        return "";
      case Code::kFailedPrecondition:
      case Code::kNotFound:
        return HasLostVariables(moment) ? "" : seen;  // it may be long ago
      case Code::kDeadlineExceeded:
        // Who is more impatient than an ask may take hears it without any fault.
        if (answer.limit > Duration::zero() && answer.limit < kLongest) return "";
        return undisturbed || (answer.limit == Duration::zero() && run_.spec.workload.timeout_ms == 0) ? seen : "";
      case Code::kAborted:
      case Code::kUnavailable:
        return undisturbed ? seen : "";
      default:
        return seen;
    }
  }

  // A server, or its own task, was another process when they were initialised.
  bool HasLostVariables(const JobMoment& moment) const {
    return std::ranges::any_of(began_, [&moment](const auto& entry) {
      const auto& [task, began] = entry;
      return (IsServer(task) || task == WithoutZombie(moment.task)) &&
             began + moment.answer->initialised_for >= moment.at;
    });
  }

  const JobRun& run_;
  Findings& findings_;
  const bool calm_;
  const bool all_come_back_;
  Time healed_ = kNever;
  std::map<std::string, Time, std::less<>> began_;  // the newest process of each task, to serve
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
    .check = CheckAnswers,
    .excuses =
        "errors of sessions that were made before three minutes after everything has healed, or where it never does, "
        "or "
        "where a node stays away, but in jobs without any fault whose processes start in order; uninitialised "
        "variables "
        "where any server was started since; any of the errors of a step that runs before there are variables; "
        "CANCELLED, "
        "USAGE and ABORTED of a run whose session is closed meanwhile, and what a close takes",
    .why =
        "a session breaks once, whenever it is used next; who needs what is away has none; which server a variable is "
        "on "
        "the history does not say; of several errors any may come first",
};

}  // namespace vigil::sim

// How the scope of a supervisor ends that was stopped without an error.
#include <string>

#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

using replays::Note;

constexpr RuleInfo kCleanStop{
    .id = "supervisor.clean_stop_ends_well",
    .sentence =
        "A scope whose coordinator was first asked to stop without an error, or with OUT_OF_RANGE, ends well (but for "
        "a "
        "complaint about a thread that does not end, or an error of the last save that SIGTERM asks for).",
    .documented =
        "Supervisor.managed_session: OutOfRangeError is not raised again when the block exits; Supervisor.stop: raises "
        "what the coordinator was told first",
    .observed = "random_31_3_supervisor random_31_164_supervisor",
    .of = SpeaksOf::kSupervisor,
    .stays =
        "supervisor.reported_error_comes_out speaks of errors that must come out; this of clean ends that must not be "
        "lost, which the reference model finds as well, but in no cluster.",
    .excuses = "USAGE, errors of the writer, errors that are reported after a join, and supervisors without a scope",
    .why =
        "a thread that does not end is complained about; the writer's errors come out; what comes after a join is "
        "handed back",
};
class CleanStop : public Rule {
 public:
  CleanStop() : Rule(kCleanStop) {}
  void OnEvent(const Moment& now) override {
    if (now.run.facts().by_hand) return;  // no scope to end
    if (now.Says(Note::kSession)) handed_out_ = true;
    if (now.Says(Note::kPrepare)) {
      first_ = {};
      handed_out_ = joined_ = false;
    }
    if (now.Is(EventKind::kCoordinatorJoin)) joined_ = true;
    if (now.event.kind == EventKind::kCoordinatorRequestStop) {
      // What is reported after a join is handed back to who reports it.
      if (joined_ && !now.ok() && now.event.code != Code::kOutOfRange) handed_out_ = false;
      if (!first_) first_ = {now.index, now.event.code};
    }
    // The writer's errors come out, too.
    if (now.event.kind == EventKind::kSupervisorReturn && !now.ok() &&
        (now.event.call == static_cast<std::uint8_t>(SupervisorMethod::kWriter) ||
         now.event.call == static_cast<std::uint8_t>(SupervisorMethod::kWriteGraph)))
      first_ = {};
    const bool ends = now.Says(Note::kExitClean) || now.Says(Note::kExitFailed);
    if (!ends || !handed_out_ || !first_ || (first_.code != Code::kOk && first_.code != Code::kOutOfRange)) return;
    Arm();
    if (now.Says(Note::kExitFailed) && now.event.code != Code::kUsage && now.event.code != now.run.last_save.code)
      Violate({first_.at, now.index}, "a clean end", NameOf(now.event.code));
  }

 private:
  Seen first_;  // request to the coordinator since the session was prepared
  bool handed_out_ = false;
  bool joined_ = false;
};

}  // namespace

std::vector<RuleFactory> SupervisorEndRules() { return {NewRule<CleanStop>}; }

}  // namespace vigil::properties

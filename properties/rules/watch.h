// What has happened so far in a run, gathered once for all rules. Facts read off the events; no judgement, no knowledge
// of the core.
//
// A round is what the hooks see of one run: before_run of each hook, one session run, after_run of each hook. A step
// function may make several rounds or none.
// Only events of the main task move it, except that stop requests of other tasks are noted. Thread safety: none.
#ifndef VIGIL_PROPERTIES_RULES_WATCH_H_
#define VIGIL_PROPERTIES_RULES_WATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "vigil/core/base/event.h"
#include "vigil/properties/rules/facts.h"
#include "vigil/sim/kernel/trace.h"

namespace vigil::properties {

inline constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// Something that happened (or did not): the number of its event and its code.
struct Seen {
  std::size_t at = kNever;
  Code code = Code::kOk;
  explicit operator bool() const { return at != kNever; }
};

struct Round {
  std::size_t before = 0;  // before_run calls that returned OK
  std::size_t after = 0;   // after_run calls that returned OK
  Seen run;                // its session run
  std::int64_t session = 0;
  Seen failed;       // its first failure, in a hook or in the run
  Seen stop;         // the first stop request of a hook in it
  bool over = true;  // nothing more may belong to it
};

// What a hook can say that it is for: the details up to this one.
inline constexpr std::size_t kHookKinds = static_cast<std::size_t>(HookDetail::kEverySeconds) + 1;

// What a hook of the list says that it is for.
struct BuiltIn {
  // By what it says of itself: the value, and the index.
  struct Said {
    std::size_t at = kNever;
    double value = 0;
    std::int32_t index = -1;
    int times = 0;  // in one call
  };
  const Said& As(HookDetail is) const { return said[static_cast<std::size_t>(is)]; }
  std::array<Said, kHookKinds> said;
  bool twice = false;  // something was said more than once in one call: several such hooks in one
};

// The call of a hook that is in progress, or the last one: which step it read, what its timer was asked, what it saves.
struct CallOfHook {
  struct Question {
    std::size_t at;
    double step;
    bool yes;
  };
  std::size_t at = kNever;
  bool has_value = false;
  double value = 0;  // of after_run: what the hook sees
  std::size_t read = kNever;
  double step = 0;
  std::vector<Question> asked;  // of the timer
  std::size_t set = kNever;     // the timer
  double set_to = 0;
  std::size_t saves = kNever;  // the last save that began
  double saves_step = 0;
  bool keeps_nothing = false;

  std::size_t asked_last() const { return asked.empty() ? kNever : asked.back().at; }
  bool first_answer() const { return !asked.empty() && asked.front().yes; }
  // An event of the main task; in_hook: between a hook's call and its return.
  void Update(const Event& event, std::size_t index, bool in_hook);
};

// What the caller is doing.
enum class Phase { kConstructing, kBetween, kRun, kStep, kClose };

class Watch {
 public:
  explicit Watch(const RunFacts& facts) : facts_(facts) {}
  void Update(const sim::TraceRecord& record, std::size_t index, bool on_main);

  const RunFacts& facts() const { return facts_; }
  // The process was told to end, or may have been.
  bool MayEnd() const { return told_to_end || facts_.told_to_end; }
  // By ours the attempts to recover are given up some time, with an error of their own; a worker gives up on a session
  // that does not get ready by either.
  // A wait that a signal ends is given up as well.
  bool GivesUp(Code code) const {
    if (code == Code::kCancelled) return MayEnd();
    return recovery && code == Code::kDeadlineExceeded && (!facts_.tensorflow || (facts_.worker && not_ready));
  }
  // A session is being made, and the files of its checkpoint may be what cannot be read.
  bool DiskMayHaveFailed(Code code) const {
    const bool looks = facts_.disk_fails && facts_.may_restore && !live && !failure;
    return looks && (code == Code::kUnknown || code == Code::kResourceExhausted);
  }
  std::size_t hooks() const { return facts_.hooks; }

  // What hook number `hook` says as to `is`; null: it is not for that, or it is made of several such hooks.
  const BuiltIn::Said* HookThat(std::int32_t hook, HookDetail is) const;
  // What the coordinator of a session keeps.
  Seen StoredBy(std::int64_t coordinator_of) const;

  Phase phase = Phase::kConstructing;
  Seen phase_start;        // the RunStart or CloseStart of a phase
  bool left_clean = true;  // of a close: what the scope was left with means the end of the training
  Seen closed;             // the first CloseEnd
  Seen constructed;        // the construction has ended
  bool in_hook = false;    // between a hook's call and its return
  std::int32_t hook = -1;  // the hook that was called last
  HookMethod method = HookMethod::kBegin;
  std::size_t begun = 0;  // begin calls that returned OK
  Seen finalized;         // the graph is
  Seen attempt;           // the last creation of a session, failed or not
  Seen recovery;          // the last one
  // The newest session:
  std::int64_t session = 0;
  std::size_t session_at = kNever;
  bool ready = false;             // it said so
  Seen not_ready;                 // it said that it is not, or not yet ready for local init
  std::size_t after_created = 0;  // after_create_session calls on it that returned OK
  bool live = false;              // completely created, neither given up nor closed
  Round round;
  Seen sticky_stop;  // a hook's stop request in a round that went well, since the last recovery
  // Requests to the newest session's coordinator:
  Seen asked_to_stop;                   // the first that the main task made
  bool stopped_from_elsewhere = false;  // another task made one
  std::set<Code> reported;              // every error that was passed along, by any task, during the life
  Seen told_to_end;                     // SIGTERM has come
  Seen last_save;                       // ... and a supervisor's last save, after its join, has failed
  Seen failure;  // the last failure of anything but a close since the phase or the last recovery began

 private:
  void OnDetail(const Event& event, std::size_t index);
  void OnHook(const Event& event, std::size_t index);
  void OnSessionCall(const Event& event, std::size_t index);
  void OnRestore(const Event& event, std::size_t index);
  void OnCoordinator(const Event& event, std::size_t index);
  void OnSessionCreated(const Event& event, std::size_t index);
  void OnStopRequest(const Event& event, std::size_t index, bool on_main);
  void OnPhase(const Event& event, std::size_t index);
  void OnNote(const Event& event, std::size_t index);
  void Failed(const Event& event, std::size_t index);
  void CheckLive();

  const RunFacts facts_;
  bool queue_started_ = false;
  std::size_t restore_failed_ = kNever;
  bool joined_ = false;  // the newest session's coordinator
  std::map<std::int32_t, BuiltIn> built_in_;
  std::map<std::int64_t, Seen> stored_;
};

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_RULES_WATCH_H_

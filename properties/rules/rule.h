// A rule: one promise about the order, the count or the state of things, as a small automaton over the events of one
// run.
//
// A rule sees events only: never the core, never what was expected. It says whose promise it is (a document, a
// recording, both) and counts how often it was armed, that is, how often its condition came about: a rule that is never
// armed proves nothing. One object watches one run of one node. Thread safety: none.
#ifndef VIGIL_PROPERTIES_RULES_RULE_H_
#define VIGIL_PROPERTIES_RULES_RULE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/properties/rules/watch.h"
#include "vigil/replays/stage/notes.h"
#include "vigil/sim/kernel/trace.h"

namespace vigil::properties {

// Under which behaviours a rule holds: every one, TensorFlow's alone, Behaviour::Default() alone.
enum class Holds { kAlways, kTensorFlow, kDefault };

// Of whose sessions a rule speaks: monitored ones (singular and training sessions included), supervisors, both.
enum class SpeaksOf { kMonitored, kSupervisor, kBoth };

// Which details of a run (IsDetail) a rule gets to see, besides everything else that happens.
enum : unsigned {
  kNoDetails = 0,
  kRunParts = 1U << 0U,
  kHookDetails = 1U << 1U,
  kSaverDetails = 1U << 2U,
  kCoordinatorDetails = 1U << 3U,
  kQueueDetails = 1U << 4U,
};
inline constexpr std::size_t kDetailKinds = 5;
static_assert(static_cast<int>(EventKind::kQueueDetail) - static_cast<int>(EventKind::kRunPart) + 1 == kDetailKinds);
// REQUIRES: a detail.
constexpr unsigned DetailsOf(EventKind kind) {
  return 1U << (static_cast<unsigned>(kind) - static_cast<unsigned>(EventKind::kRunPart));
}
static_assert(DetailsOf(EventKind::kRunPart) == kRunParts && DetailsOf(EventKind::kHookDetail) == kHookDetails);
static_assert(DetailsOf(EventKind::kSaverDetail) == kSaverDetails);
static_assert(DetailsOf(EventKind::kCoordinatorDetail) == kCoordinatorDetails);
static_assert(DetailsOf(EventKind::kQueueDetail) == kQueueDetails);

struct RuleInfo {
  std::string_view id;          // "end.only_on_clean_exit"
  std::string_view sentence;    // the promise
  std::string_view documented;  // where a document makes it, in own words; "" = nowhere
  std::string_view observed;    // ids of recordings that show it, separated by spaces
  std::string_view conflict;    // how document and recordings disagree; "" = they do not
  Holds holds = Holds::kAlways;
  SpeaksOf of = SpeaksOf::kMonitored;
  unsigned details = kNoDetails;
  std::string_view stays =
      "";  // why it stays though no planted bug is lost without it; "" = one is (properties/planted)
  std::string_view excuses = "";  // what it lets pass though the sentence, taken alone, forbids it (docs/judges.md)
  std::string_view why = "";      // it does that; both or none
};

// Whether the rule has a say in such a run.
bool Applies(const RuleInfo& info, const RunFacts& facts);

struct Violation {
  std::string_view rule;
  std::size_t number = 0;            // of the rule in AllRules()
  std::vector<std::size_t> witness;  // numbers of the events that prove it, in order
  std::string expected;
  std::string actual;
};

// An event and everything before it.
struct Moment {
  const Watch& run;        // without this event
  const CallOfHook& call;  // with it
  const Event& event;
  std::size_t index;
  bool on_main;  // in the task that uses the session
  Time time;     // the world's
  std::uint32_t task = 0;
  unsigned details = kNoDetails;  // that the rule gets to see which looks

  // By any task. A rule that asks for details which it never gets to see would wait for them for ever: that is a bug of
  // the rule (RuleInfo::details), and found at the first event of which it asks.
  bool Happens(EventKind kind) const {
    VIGIL_CHECK(!IsDetail(kind) || (details & DetailsOf(kind)) != 0);
    return event.kind == kind;
  }
  bool Is(EventKind kind) const { return Happens(kind) && on_main; }
  bool HookCall(HookMethod method) const {
    return Is(EventKind::kHookCall) && event.call == static_cast<std::uint8_t>(method);
  }
  bool HookReturn(HookMethod method) const {
    return Is(EventKind::kHookReturn) && event.call == static_cast<std::uint8_t>(method);
  }
  bool Creation() const { return Is(EventKind::kSessionCreated) || Is(EventKind::kSessionCreateFailed); }
  // A call that the session layer itself makes on a raw session; hooks and step functions make others.
  bool LayerCall() const;
  bool LayerCall(CallKind kind) const { return LayerCall() && event.call == static_cast<std::uint8_t>(kind); }
  // A hook gets to see the session, or it runs.
  bool UsesSession() const {
    return HookCall(HookMethod::kAfterCreateSession) || HookCall(HookMethod::kBeforeRun) || LayerCall(CallKind::kRun);
  }
  bool Says(replays::Note note) const { return Is(EventKind::kNote) && event.call == static_cast<std::uint8_t>(note); }
  bool Part(RunPart part) const { return Is(EventKind::kRunPart) && event.call == static_cast<std::uint8_t>(part); }
  bool Detail(HookDetail detail) const {
    return Is(EventKind::kHookDetail) && event.call == static_cast<std::uint8_t>(detail);
  }
  // By any task:
  bool Saver(SaverDetail detail) const {
    return Happens(EventKind::kSaverDetail) && event.call == static_cast<std::uint8_t>(detail);
  }
  bool Coordinates(CoordinatorDetail detail) const {
    return Happens(EventKind::kCoordinatorDetail) && event.call == static_cast<std::uint8_t>(detail);
  }
  bool Queues(QueueDetail detail) const {
    return Happens(EventKind::kQueueDetail) && event.call == static_cast<std::uint8_t>(detail);
  }
  // A step was read.
  bool ReadsStep() const {
    return Is(EventKind::kSessionCall) && ok() && event.call == static_cast<std::uint8_t>(CallKind::kReadStep);
  }
  // A hook runs, and it is for this.
  bool InHookThat(HookDetail is) const { return run.HookThat(run.hook, is) != nullptr; }
  bool ok() const { return event.code == Code::kOk; }
  bool yes() const { return ok() && event.value != 0; }
};

class Rule {
 public:
  explicit Rule(const RuleInfo& info) : info_(info) {}
  virtual ~Rule() = default;
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;

  virtual void OnEvent(const Moment& now) = 0;
  // The run has ended by itself: what should have happened by now has not.
  virtual void Finish(const Watch&) {}

  const RuleInfo& info() const { return info_; }
  std::uint64_t armed() const { return armed_; }
  const std::optional<Violation>& violation() const { return violation_; }

 protected:
  void Arm() { ++armed_; }
  // The first one counts. Events that never happened are left out of the witness.
  void Violate(std::vector<std::size_t> witness, std::string expected, std::string actual);

 private:
  const RuleInfo& info_;
  std::uint64_t armed_ = 0;
  std::optional<Violation> violation_;
};

using RuleFactory = std::unique_ptr<Rule> (*)();

// For the registry: a rule class that knows its own info.
template <typename R>
std::unique_ptr<Rule> NewRule() {
  return std::make_unique<R>();
}

// What a violation calls it.
inline std::string NameOf(Code code) { return std::string(CodeName(code)); }
constexpr bool IsPreemptionCode(Code code) { return code == Code::kAborted || code == Code::kUnavailable; }
constexpr bool IsCleanEndCode(Code code) { return code == Code::kOutOfRange || code == Code::kStopIteration; }

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_RULES_RULE_H_

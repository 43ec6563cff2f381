// What happened in one run, to look at: lanes, what lies on them, messages between nodes, what was found wrong. One
// list, which every picture is made from (timeline_page.h, perfetto.h).
//
// What has a beginning and an end (a life, a session, a run, a call of a hook, a fault that lasts) is one mark with
// both; the end of what was cut off is that of its process, or of the run. Marks of one lane and depth do not overlap.
// Thread safety: data, and pure functions.
#ifndef VIGIL_REPLAYS_SHOW_TIMELINE_H_
#define VIGIL_REPLAYS_SHOW_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/show/causes.h"
#include "vigil/replays/show/story_lines.h"
#include "vigil/replays/stage/played.h"
#include "vigil/sim/message_log.h"

namespace vigil::replays {

enum class MarkKind : std::uint8_t {
  kLife,      // of a process
  kSession,   // a raw session, from its creation to its close
  kRun,       // a caller's run or step function, and runs inside it
  kHook,      // a call of a hook or a listener
  kCall,      // what came of a call on a session; creation, init, restore
  kSave,      // checkpoints, summary writers
  kStop,      // requests to stop, and who heard of them; the close
  kRecovery,  // a session is given up
  kCaller,    // what the caller says
  kLog,       // a logged line
  kSleep,     // somebody sleeps
  kFault,     // of the plan
};
inline constexpr int kMarkKinds = static_cast<int>(MarkKind::kFault) + 1;
// "life", "session", ...
std::string_view MarkKindName(MarkKind kind);

struct TimelineLane {
  std::string node;  // "" = the plan of faults, which is nobody's
  std::string name;  // "main", "hook a", "sessions"
  int depth = 1;     // its marks have depths below that
};

struct TimelineMark {
  std::size_t lane = 0;
  int depth = 0;
  MarkKind kind = MarkKind::kCaller;
  bool failed = false;                           // an error is in it
  Duration at{0};                                // since the start of the world
  std::optional<Duration> until = std::nullopt;  // of what lasts
  // Places among everything that happened: what order is left where the clock stands still.
  std::size_t place = 0;
  std::size_t until_place = 0;  // of what lasts
  std::string text;
};

struct TimelineArrow {
  std::size_t from = 0;  // of `nodes`
  std::size_t to = 0;
  sim::LoggedMessage::Kind kind = sim::LoggedMessage::Kind::kRequest;
  std::uint64_t call = 0;
  std::string method;  // without its service
  Duration sent{0};
  std::optional<Duration> arrived = std::nullopt;
};

// One of what led to something (causes.h), and where it is to be seen.
struct TimelineCause {
  Duration at{0};
  std::string kind;  // "fault", "message", ...
  std::string text;  // with its node and task
  std::optional<std::size_t> mark = std::nullopt;
  std::optional<std::size_t> arrow = std::nullopt;
};

// A promise that was broken, the marks that prove it, and what led to it.
struct TimelineFinding {
  std::string rule;
  std::string text;                     // lines
  std::vector<std::size_t> witness;     // of `marks`, in order
  std::vector<TimelineCause> why = {};  // oldest first, without the violation itself
};

struct Timeline {
  std::string id;
  std::string title;
  std::string end;  // how it went, in one line
  std::vector<std::string> nodes;
  std::vector<TimelineLane> lanes;    // in the order of their nodes
  std::vector<TimelineMark> marks;    // by place
  std::vector<TimelineArrow> arrows;  // by the time of sending
  std::uint64_t arrows_left_out = 0;  // behind the last one: more than can be kept
  std::vector<TimelineFinding> findings;
  std::vector<StoryLine> lines;                 // what it was made from
  std::vector<std::size_t> marks_of_events;     // of each event of the trace, its mark; kNoMark: it has none
  std::vector<std::size_t> arrows_of_messages;  // of each message of the log, its arrow; kNoMark: it has none
};
inline constexpr std::size_t kNoMark = ~std::size_t{0};

// Of a run of one node each hook has a lane of its own; of several, its calls lie within those of its task. `nodes`: in
// the order of their lanes; others follow as they come.
Timeline MakeTimeline(const Played& played, const std::vector<std::string>& nodes = {});
// The same of a play of that scenario.
std::shared_ptr<Timeline> ShowTimeline(const Scenario& scenario, const Played& played);

// The chain in a timeline of the same play.
std::vector<TimelineCause> ChainInTimeline(const CauseChain& chain, const Timeline& timeline);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_SHOW_TIMELINE_H_

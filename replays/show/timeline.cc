#include "vigil/replays/show/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/event.h"
#include "vigil/replays/show/machines.h"
#include "vigil/replays/stage/notes.h"

namespace vigil::replays {
namespace {

using sim::FaultApplier;
using sim::JobMoment;

MarkKind KindOfNote(const Event& event) {
  switch (static_cast<Note>(event.call)) {
    case Note::kLog:
      return MarkKind::kLog;
    case Note::kHookRaises:
    case Note::kHookRequestsStop:
    case Note::kHookReports:
    case Note::kHookStopsCoordinator:
    case Note::kHookStartsThread:
    case Note::kHookSees:
    case Note::kListenerRaises:
    case Note::kListenerRequestsStop:
      return MarkKind::kHook;
    default:
      return MarkKind::kCaller;
  }
}

MarkKind KindOfEvent(const Event& event) {
  switch (event.kind) {
    case EventKind::kHookCall:
    case EventKind::kHookReturn:
    case EventKind::kListenerCall:
    case EventKind::kHookDetail:
      return MarkKind::kHook;
    case EventKind::kRunStart:
    case EventKind::kRunEnd:
    case EventKind::kStepFnCall:
    case EventKind::kStepFnReturn:
    case EventKind::kInnerRunStart:
    case EventKind::kInnerRunEnd:
    case EventKind::kBareRunStart:
    case EventKind::kBareRunEnd:
    case EventKind::kRunPart:
      return MarkKind::kRun;
    case EventKind::kCoordinatorDetail:
    case EventKind::kHookRequestsStop:
    case EventKind::kCoordinatorRequestStop:
    case EventKind::kCoordinatorJoin:
    case EventKind::kShouldStop:
    case EventKind::kCloseStart:
    case EventKind::kCloseEnd:
      return MarkKind::kStop;
    case EventKind::kWriterCall:
    case EventKind::kSaverDetail:
      return MarkKind::kSave;
    case EventKind::kSessionCall:
      return static_cast<CallKind>(event.call) == CallKind::kSave ? MarkKind::kSave : MarkKind::kCall;
    case EventKind::kSleep:
      return MarkKind::kSleep;
    case EventKind::kRecovery:
      return MarkKind::kRecovery;
    case EventKind::kNote:
      return KindOfNote(event);
    case EventKind::kGraphFinalized:
    case EventKind::kGraphUnfinalized:
    case EventKind::kSessionCreated:
    case EventKind::kSessionCreateFailed:
    case EventKind::kInitFn:
    case EventKind::kQueueRunners:
    case EventKind::kQueueDetail:
    case EventKind::kConstructed:
      return MarkKind::kCall;
    case EventKind::kSupervisorCall:
    case EventKind::kSupervisorReturn:
      return MarkKind::kCaller;
  }
  return MarkKind::kCaller;
}

// What ends the kind of event that begins something.
std::optional<EventKind> EndOf(EventKind kind) {
  switch (kind) {
    case EventKind::kHookCall:
      return EventKind::kHookReturn;
    case EventKind::kRunStart:
      return EventKind::kRunEnd;
    case EventKind::kStepFnCall:
      return EventKind::kStepFnReturn;
    case EventKind::kInnerRunStart:
      return EventKind::kInnerRunEnd;
    case EventKind::kBareRunStart:
      return EventKind::kBareRunEnd;
    case EventKind::kCloseStart:
      return EventKind::kCloseEnd;
    default:
      return std::nullopt;
  }
}

bool IsAnEndOfSomething(EventKind kind) {
  constexpr std::array kEnds = {EventKind::kHookReturn,  EventKind::kRunEnd,     EventKind::kStepFnReturn,
                                EventKind::kInnerRunEnd, EventKind::kBareRunEnd, EventKind::kCloseEnd};
  return std::ranges::find(kEnds, kind) != kEnds.end();
}

std::string HookLaneName(const Event& event) {
  return event.subject.empty() ? fmt::format("hook number {}", event.index + 1) : fmt::format("hook {}", event.subject);
}

class TimelineBuilder {
 public:
  TimelineBuilder(const Played& played, const std::vector<std::string>& nodes) : played_(played) {
    for (const std::string& node : nodes) NodeNumber(node);
    made_.lines = StoryLines(played);
    for (const StoryLine& line : made_.lines) {
      if (!line.node.empty()) NodeNumber(line.node);
    }
    hooks_apart_ = made_.nodes.size() < 2;
    made_.marks_of_events.assign(played.trace.size(), kNoMark);
  }

  Timeline Build() {
    for (place_ = 0; place_ < made_.lines.size(); ++place_) {
      const StoryLine& line = made_.lines[place_];
      now_ = line.at;
      switch (line.source) {
        case StoryLine::Source::kEvent:
          OnEvent(line, played_.trace[line.place].event);
          break;
        case StoryLine::Source::kJob:
          OnJob(line, played_.history[line.place]);
          break;
        case StoryLine::Source::kFault:
          OnFault(line, played_.faults[line.place]);
          break;
      }
    }
    const auto everything = [](const auto&) { return true; };
    CloseTasks(everything);
    CloseLasting(everything);
    AddArrows();
    OrderLanes();
    return std::move(made_);
  }

 private:
  struct Open {
    std::size_t mark;
    EventKind end;
    std::int32_t index;  // of a hook
  };
  // What lasts without being a call: lives, sessions, faults. By lane, since they may overlap in any way.
  struct Lasting {
    std::string node;
    std::string key;  // of a fault ""
    std::size_t mark;
    std::size_t fault = 0;  // of the play's
  };

  std::size_t NodeNumber(const std::string& node) {
    const auto found = std::ranges::find(made_.nodes, node);
    if (found == made_.nodes.end()) made_.nodes.push_back(node);
    return static_cast<std::size_t>(found - made_.nodes.begin());
  }

  std::size_t LaneNumber(const std::string& node, const std::string& name) {
    const auto [it, added] = lanes_.try_emplace({node, name}, made_.lanes.size());
    if (added) made_.lanes.push_back({node, name});
    return it->second;
  }

  std::size_t Add(std::size_t lane, int depth, MarkKind kind, bool failed, const std::string& text) {
    made_.lanes[lane].depth = std::max(made_.lanes[lane].depth, depth + 1);
    TimelineMark mark;
    mark.lane = lane;
    mark.depth = depth;
    mark.kind = kind;
    mark.failed = failed;
    mark.at = now_;
    mark.place = place_;
    mark.text = text;
    made_.marks.push_back(std::move(mark));
    return made_.marks.size() - 1;
  }

  void Close(std::size_t number) {
    TimelineMark& mark = made_.marks[number];
    mark.until = now_;
    mark.until_place = place_;
  }

  int DepthIn(const std::vector<Open>& open, std::size_t lane) const {
    return static_cast<int>(
        std::ranges::count_if(open, [&](const Open& each) { return made_.marks[each.mark].lane == lane; }));
  }

  void OnEvent(const StoryLine& line, const Event& event) {
    std::vector<Open>& open = open_[{line.node, line.task}];
    std::size_t& own = made_.marks_of_events[line.place];
    const bool failed = event.code != Code::kOk;
    if (IsAnEndOfSomething(event.kind)) {
      own = CloseCall(open, event, line.text);
      if (own != kNoMark) return;
    }
    const bool of_hook = event.kind == EventKind::kHookCall || event.kind == EventKind::kHookReturn;
    const std::string task = line.task.empty() ? "main" : line.task;
    const std::size_t lane = LaneNumber(line.node, hooks_apart_ && of_hook ? HookLaneName(event) : task);
    // A close that begins after an error has none of its own.
    own = Add(lane, DepthIn(open, lane), KindOfEvent(event), failed && event.kind != EventKind::kCloseStart, line.text);
    if (const std::optional<EventKind> end = EndOf(event.kind)) open.push_back({own, *end, event.index});
    OnSession(line, event);
  }

  // The mark of what that event ends; kNoMark if nothing of the kind has begun.
  std::size_t CloseCall(std::vector<Open>& open, const Event& event, const std::string& text) {
    const bool of_hook = event.kind == EventKind::kHookReturn;
    std::size_t i = open.size();
    while (i > 0 && (open[i - 1].end != event.kind || (of_hook && open[i - 1].index != event.index))) --i;
    if (i == 0) return kNoMark;
    for (std::size_t j = open.size(); j >= i; --j) Close(open[j - 1].mark);
    TimelineMark& mark = made_.marks[open[i - 1].mark];
    mark.failed = event.code != Code::kOk;
    if (mark.failed || event.value != 0) mark.text += fmt::format(" ({})", text);
    const std::size_t number = open[i - 1].mark;
    open.resize(i - 1);
    return number;
  }

  void OnSession(const StoryLine& line, const Event& event) {
    const std::string key = fmt::format("session {}", event.session);
    if (event.kind == EventKind::kSessionCreated) {
      Begin(line.node, "sessions", key, MarkKind::kSession, key);
    } else if (event.kind == EventKind::kSessionCall && static_cast<CallKind>(event.call) == CallKind::kClose) {
      CloseLasting([&](const Lasting& each) { return each.node == line.node && each.key == key; });
    }
  }

  void OnJob(const StoryLine& line, const JobMoment& moment) {
    using Kind = JobMoment::Kind;
    if (moment.kind == Kind::kStarted) {
      EndLife(line.node);
      Begin(line.node, "life", "life", MarkKind::kLife, fmt::format("life {}", moment.life));
      return;
    }
    const MarkKind kind = moment.kind == Kind::kSaved || moment.kind == Kind::kEvaluated ? MarkKind::kSave
                          : moment.kind == Kind::kBegin                                  ? MarkKind::kFault
                                                                                         : MarkKind::kLife;
    const bool failed = moment.code != Code::kOk;
    const bool runs = moment.kind == Kind::kRunReturned;
    const std::size_t lane = LaneNumber(line.node, line.node.empty() ? "plan" : runs ? "main" : "life");
    const int depth = runs ? DepthIn(open_[{line.node, ""}], lane) : FreeDepth(lane);
    Add(lane, depth, runs ? MarkKind::kCaller : kind, failed, line.text);
    if (moment.kind == Kind::kEnded) EndLife(line.node);
  }

  void OnFault(const StoryLine& line, const FaultApplier::Entry& entry) {
    using What = FaultApplier::Entry::What;
    CloseLasting([&](const Lasting& each) { return each.node.empty() && entry.Ends(played_.faults[each.fault]); });
    if (entry.what == What::kBegins) {
      Begin("", "plan", "", MarkKind::kFault, line.text);
      lasting_.back().fault = line.place;
      return;
    }
    const std::size_t lane = LaneNumber("", "plan");
    Add(lane, FreeDepth(lane), MarkKind::kFault, entry.what == What::kCrash, line.text);
    if (entry.what != What::kCrash) return;
    const std::string machine = Machines(played_.faults).Of(entry.task, entry.at);
    const std::size_t life = LaneNumber(machine, "life");
    Add(life, FreeDepth(life), MarkKind::kFault, true, line.text);
    EndLife(machine);
  }

  void Begin(const std::string& node, const std::string& lane_name, const std::string& key, MarkKind kind,
             const std::string& text) {
    const std::size_t lane = LaneNumber(node, lane_name);
    lasting_.push_back({node, key, Add(lane, FreeDepth(lane), kind, false, text)});
  }

  // The least depth of that lane at which nothing lasts.
  int FreeDepth(std::size_t lane) const {
    int depth = 0;
    const auto taken = [&](const Lasting& each) {
      return made_.marks[each.mark].lane == lane && made_.marks[each.mark].depth == depth;
    };
    while (std::ranges::any_of(lasting_, taken)) ++depth;
    return depth;
  }

  void EndLife(const std::string& node) {
    CloseTasks([&](const std::string& each) { return each == node; });
    CloseLasting([&](const Lasting& each) { return each.node == node; });
  }

  template <typename Which>
  void CloseTasks(const Which& which) {
    for (auto& [task, open] : open_) {
      if (!which(task.first)) continue;
      for (const Open& each : open) Close(each.mark);
      open.clear();
    }
  }

  template <typename Which>
  void CloseLasting(const Which& which) {
    for (const Lasting& each : lasting_) {
      if (which(each)) Close(each.mark);
    }
    std::erase_if(lasting_, which);
  }

  void AddArrows() {
    made_.arrows_left_out = played_.message_log.left_out;
    for (const sim::LoggedMessage& message : played_.message_log.messages) {
      // The world ends: what processes would still say is no part of what happened.
      const bool at_the_end = message.kind == sim::LoggedMessage::Kind::kClosed && message.sent >= now_;
      made_.arrows_of_messages.push_back(kNoMark);
      if (at_the_end && !message.arrived.has_value()) continue;
      made_.arrows_of_messages.back() = made_.arrows.size();
      made_.arrows.push_back({.from = NodeNumber(message.from),
                              .to = NodeNumber(message.to),
                              .kind = message.kind,
                              .call = message.call,
                              .method = message.method.substr(message.method.rfind('/') + 1),
                              .sent = message.sent,
                              .arrived = message.arrived});
    }
  }

  // The plan, then each node: its life, its sessions, its tasks and hooks as they came.
  void OrderLanes() {
    std::vector<std::size_t> order(made_.lanes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto rank = [this](std::size_t i) {
      const TimelineLane& lane = made_.lanes[i];
      const int within = lane.name == "life" ? 0 : lane.name == "sessions" ? 1 : lane.name == "main" ? 2 : 3;
      return std::pair(lane.node.empty() ? 0 : NodeNumber(lane.node) + 1, within);
    };
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    std::vector<std::size_t> places(order.size());
    std::vector<TimelineLane> lanes;
    for (const std::size_t i : order) {
      places[i] = lanes.size();
      lanes.push_back(std::move(made_.lanes[i]));
    }
    made_.lanes = std::move(lanes);
    for (TimelineMark& mark : made_.marks) mark.lane = places[mark.lane];
  }

  const Played& played_;
  Timeline made_;
  bool hooks_apart_ = false;
  Duration now_{0};
  std::size_t place_ = 0;
  std::map<std::pair<std::string, std::string>, std::size_t> lanes_;
  std::map<std::pair<std::string, std::string>, std::vector<Open>> open_;  // by node and task, outermost first
  std::vector<Lasting> lasting_;
};

}  // namespace

std::string_view MarkKindName(MarkKind kind) {
  constexpr std::array<std::string_view, kMarkKinds> kNames = {"life", "session",  "run",    "hook", "call",  "save",
                                                               "stop", "recovery", "caller", "log",  "sleep", "fault"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<TimelineCause> ChainInTimeline(const CauseChain& chain, const Timeline& timeline) {
  std::vector<TimelineCause> shown;
  for (const Cause& cause : chain.causes) {
    if (cause.kind == Cause::Kind::kViolation) continue;
    const std::string where = WhereOf(cause);
    TimelineCause& added = shown.emplace_back();
    added.at = cause.at;
    added.kind = CauseKindName(cause.kind);
    added.text = where.empty() ? cause.text : fmt::format("{}: {}", where, cause.text);
    if (cause.event.has_value() && timeline.marks_of_events[*cause.event] != kNoMark)
      added.mark = timeline.marks_of_events[*cause.event];
    if (cause.message.has_value() && timeline.arrows_of_messages[*cause.message] != kNoMark)
      added.arrow = timeline.arrows_of_messages[*cause.message];
    if (cause.kind != Cause::Kind::kFault) continue;
    // What strikes a request, a disk or a call of a session has no mark of its own: only the error has.
    const auto is_it = [&cause](const TimelineMark& mark) {
      return mark.kind == MarkKind::kFault && mark.at == cause.at && mark.text == cause.text;
    };
    const auto found = std::ranges::find_if(timeline.marks, is_it);
    if (found != timeline.marks.end()) added.mark = static_cast<std::size_t>(found - timeline.marks.begin());
  }
  return shown;
}

Timeline MakeTimeline(const Played& played, const std::vector<std::string>& nodes) {
  return TimelineBuilder(played, nodes).Build();
}

std::shared_ptr<Timeline> ShowTimeline(const Scenario& scenario, const Played& played) {
  return std::make_shared<Timeline>(
      MakeTimeline(played, scenario.job.has_value() ? sim::TaskNames(*scenario.job) : std::vector<std::string>()));
}

}  // namespace vigil::replays

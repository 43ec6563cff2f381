#include "vigil/replays/show/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <queue>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/names.h"
#include "vigil/replays/show/event_text.h"

namespace vigil::replays {
namespace {

using CauseKind = Cause::Kind;
using FaultEntry = sim::FaultApplier::Entry;
using sim::LoggedMessage;

constexpr std::size_t kNothing = std::numeric_limits<std::size_t>::max();

CauseKind CauseKindOf(const Event& event) {
  switch (event.kind) {
    case EventKind::kRecovery:
    case EventKind::kCoordinatorRequestStop:
    case EventKind::kCloseStart:
      return CauseKind::kDecision;
    default:
      return event.code == Code::kOk ? CauseKind::kEvent : CauseKind::kError;
  }
}

// A fault of the plan, and until when it was in force.
struct Strike {
  std::size_t cause = 0;
  Duration begins{0};
  Duration ends = Duration::max();
  std::string task = {};
  std::string peer = {};
  bool crash = false;
};

// A message as an error may find it: `at` is when it arrived, or was sent if it never did.
struct Met {
  Duration at{0};
  std::size_t message = 0;
  bool bad = false;
};

std::string LoggedText(const LoggedMessage& message) {
  const auto of = [&](std::string_view what) {
    return fmt::format("{} of {} from {} to {}", what, message.method, message.from, message.to);
  };
  switch (message.kind) {
    case LoggedMessage::Kind::kRequest:
      return of("request") + (message.arrived.has_value() ? "" : " never arrives");
    case LoggedMessage::Kind::kReply:
      return of("reply") + (message.arrived.has_value() ? "" : " never arrives");
    case LoggedMessage::Kind::kRefusal:
      return of("refusal");
    case LoggedMessage::Kind::kCancel:
      return of("cancellation");
    case LoggedMessage::Kind::kClosed:
      return fmt::format("{} is told that {} is gone", message.to, message.from);
    case LoggedMessage::Kind::kReset:
      return fmt::format("the connection from {} to {} breaks", message.from, message.to);
  }
  return "";
}

class GraphMaker {
 public:
  GraphMaker(const Scenario& scenario, const Played& played)
      : scenario_(scenario), trace_(played.trace), played_(played) {}

  CauseGraph Make() {
    AddFaults();
    MeetMessages();
    AddStory();
    return std::move(graph_);
  }

 private:
  std::size_t Add(Cause cause) {
    graph_.causes.push_back(std::move(cause));
    return graph_.causes.size() - 1;
  }
  void Link(std::size_t from, std::size_t to) {
    if (to == kNothing) return;
    std::vector<std::size_t>& past = graph_.causes[from].past;
    if (std::ranges::find(past, to) == past.end()) past.push_back(to);
  }

  void AddFaults() {
    for (const FaultEntry& entry : played_.faults) {
      for (Strike& strike : strikes_) {
        const bool over = entry.what == FaultEntry::What::kEnds ? strike.task == entry.task && strike.peer == entry.peer
                          : entry.task.empty()                  ? true
                                               : entry.what == FaultEntry::What::kMoment && strike.task == entry.task &&
                                                     strike.peer.empty() && strike.crash;
        if (over && strike.ends == Duration::max()) strike.ends = entry.at;
      }
      const bool crash = entry.what == FaultEntry::What::kCrash;
      if (!crash && entry.what != FaultEntry::What::kBegins) continue;
      const std::size_t cause =
          Add({.kind = CauseKind::kFault, .at = entry.at, .node = entry.task, .text = Escaped(entry.text)});
      strikes_.push_back({.cause = cause, .begins = entry.at, .task = entry.task, .peer = entry.peer, .crash = crash});
    }
  }

  void MeetMessages() {
    const std::vector<LoggedMessage>& messages = played_.message_log.messages;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const LoggedMessage& message = messages[i];
      const bool lost = !message.arrived.has_value();
      switch (message.kind) {
        case LoggedMessage::Kind::kRequest:
          if (lost) met_[message.from].push_back({message.sent, i, true});
          break;
        case LoggedMessage::Kind::kReply:
          met_[message.to].push_back({lost ? message.sent : *message.arrived, i, lost});
          break;
        case LoggedMessage::Kind::kRefusal:
        case LoggedMessage::Kind::kClosed:
        case LoggedMessage::Kind::kReset:
          if (!lost) met_[message.to].push_back({*message.arrived, i, true});
          break;
        case LoggedMessage::Kind::kCancel:
          break;
      }
    }
    for (auto& [node, met] : met_) std::ranges::stable_sort(met, {}, &Met::at);
  }

  // Events and begins of lives, in order of time.
  void AddStory() {
    std::vector<const sim::JobMoment*> lives;
    for (const sim::JobMoment& moment : played_.history) {
      if (moment.kind == sim::JobMoment::Kind::kStarted) lives.push_back(&moment);
    }
    std::ranges::stable_sort(lives, {}, [](const sim::JobMoment* moment) { return moment->at; });
    auto life = lives.begin();
    for (const sim::TraceRecord& record : trace_) {
      for (; life != lives.end() && (*life)->at <= record.time; ++life) AddLife(**life);
      AddEvent(record);
    }
  }

  void AddLife(const sim::JobMoment& moment) {
    const Duration at = moment.at - played_.start;
    const std::size_t cause =
        Add({.at = at, .node = moment.task, .text = Escaped(fmt::format("life {} begins", moment.life))});
    for (auto strike = strikes_.rbegin(); strike != strikes_.rend(); ++strike) {
      if (!strike->crash || strike->task != moment.task || strike->begins > at) continue;
      Link(cause, strike->cause);
      break;
    }
    lives_[moment.task] = cause;
    done_on_[moment.task].push_back(cause);
  }

  void AddEvent(const sim::TraceRecord& record) {
    const std::string node(trace_.NodeName(record));
    std::string_view task = trace_.TaskLabel(record);
    if (task.starts_with(node) && task.size() > node.size()) task.remove_prefix(node.size() + 1);
    if (task == "main") task = "";
    const Duration at = record.time - played_.start;
    const std::size_t cause = Add({.kind = CauseKindOf(record.event),
                                   .at = at,
                                   .node = node,
                                   .task = std::string(task),
                                   .text = Escaped(EventText(record.event))});
    graph_.of_events.push_back(cause);
    std::size_t& last = last_of_.try_emplace(record.task, kNothing).first->second;
    const auto life = lives_.find(node);
    if (life != lives_.end() && (last == kNothing || last < life->second)) last = life->second;
    Link(cause, last);
    if (record.event.code != Code::kOk) LinkError(cause, last);
    const bool creation =
        record.event.kind == EventKind::kSessionCreated || record.event.kind == EventKind::kSessionCreateFailed;
    if (creation) CountCall(cause, record.event, CallKind::kCreate);
    if (record.event.kind == EventKind::kSessionCall)
      CountCall(cause, record.event, static_cast<CallKind>(record.event.call));
    last = cause;
    if (task.empty()) done_on_[node].push_back(cause);
  }

  // To what came of messages since `before`, and to the faults that began at its node meanwhile.
  void LinkError(std::size_t error, std::size_t before) {
    const std::string node = graph_.causes[error].node;
    const Duration at = graph_.causes[error].at;
    const Duration since = before == kNothing ? Duration(-1) : graph_.causes[before].at;
    for (const Strike& strike : strikes_) {
      if ((strike.task == node || strike.peer == node) && strike.begins > since && strike.begins <= at)
        Link(error, strike.cause);
    }
    const auto found = met_.find(node);
    if (found == met_.end()) return;
    const std::vector<Met>& met = found->second;
    const Met* newest = nullptr;
    for (auto i = std::ranges::upper_bound(met, at, {}, &Met::at); i != met.begin() && (--i)->at > since;) {
      if (newest == nullptr) newest = &*i;
      if (!i->bad) continue;
      newest = &*i;
      break;
    }
    if (newest != nullptr) Link(error, MessageCause(*newest));
  }

  std::size_t MessageCause(const Met& met) {
    const auto [known, added] = messages_.try_emplace(met.message, kNothing);
    if (!added) return known->second;
    const LoggedMessage& message = played_.message_log.messages[met.message];
    const std::size_t cause =
        Add({.kind = CauseKind::kMessage, .at = met.at, .node = message.to, .text = Escaped(LoggedText(message))});
    known->second = cause;
    for (const Strike& strike : strikes_) {
      const bool link = !strike.peer.empty();
      const bool ends = strike.task == message.from || strike.task == message.to;
      const bool other = !link || strike.peer == message.from || strike.peer == message.to;
      if (ends && other && strike.begins <= met.at && strike.ends >= message.sent) Link(cause, strike.cause);
    }
    const auto sender = done_on_.find(message.from);
    if (sender == done_on_.end()) return cause;
    const auto later = std::ranges::upper_bound(sender->second, message.sent, {},
                                                [this](std::size_t done) { return graph_.causes[done].at; });
    if (later != sender->second.begin()) Link(cause, *std::prev(later));
    return cause;
  }

  // A fault of the scenario that strikes this call of a session.
  void CountCall(std::size_t cause, const Event& event, CallKind kind) {
    const std::string_view name = CallKindName(kind);
    const std::int64_t call = ++calls_[name];
    const Named<FaultPoint>* point = std::ranges::find(kFaultPoints, name, &Named<FaultPoint>::name);
    if (event.code == Code::kOk || point == std::end(kFaultPoints)) return;
    for (const Fault& fault : scenario_.faults) {
      if (fault.at != point->value || fault.code != event.code ||
          std::ranges::find(fault.calls, call) == fault.calls.end())
        continue;
      Link(cause, Add({.kind = CauseKind::kFault,
                       .at = graph_.causes[cause].at,
                       .node = graph_.causes[cause].node,
                       .text = fmt::format("call {} of {} fails with {}", call, name, CodeName(event.code))}));
    }
  }

  const Scenario& scenario_;
  const sim::Trace& trace_;
  const Played& played_;
  CauseGraph graph_;
  std::vector<Strike> strikes_;
  std::map<std::string, std::vector<Met>, std::less<>> met_;              // by the node that is told
  std::map<std::string, std::size_t, std::less<>> lives_;                 // by node
  std::map<std::string, std::vector<std::size_t>, std::less<>> done_on_;  // by node: what its main task did, in order
  std::map<std::uint32_t, std::size_t> last_of_;                          // by task
  std::map<std::size_t, std::size_t> messages_;                           // that are causes
  std::map<std::string_view, std::int64_t> calls_;
};

// From `from` back, newest first, until `wanted`: the way there, oldest first; empty = there is none in its past.
template <typename Wanted>
std::vector<std::size_t> WayBack(const CauseGraph& graph, std::size_t from, const Wanted& wanted) {
  std::map<std::size_t, std::size_t> towards = {{from, kNothing}};  // each that was seen: whose past it is
  std::priority_queue<std::pair<Duration, std::size_t>> open;
  open.push({graph.causes[from].at, from});
  while (!open.empty()) {
    const std::size_t next = open.top().second;
    open.pop();
    if (next != from && wanted(graph.causes[next])) {
      std::vector<std::size_t> way;
      for (std::size_t each = next; each != kNothing; each = towards.at(each)) way.push_back(each);
      return way;
    }
    for (const std::size_t before : graph.causes[next].past) {
      if (towards.try_emplace(before, next).second) open.push({graph.causes[before].at, before});
    }
  }
  return {};
}

// The node and the time that an invariant's words begin with; the end, where they name no time.
std::pair<std::string, Duration> WitnessOf(std::string_view text) {
  const std::string node(text.substr(0, std::min(text.find(' '), text.find(": "))));
  const std::string_view head = text.substr(0, text.find(": "));
  constexpr std::string_view kAt = " at ";
  const std::size_t at = head.find(kAt);
  double seconds = 0;
  if (at == std::string_view::npos) return {node, Duration::max()};
  const std::string_view number = head.substr(at + kAt.size());
  if (std::from_chars(number.data(), number.data() + number.size(), seconds).ec != std::errc())
    return {node, Duration::max()};
  constexpr double kHalfOfTheLastDigit = 0.0005;
  return {node, Seconds(seconds + kHalfOfTheLastDigit)};
}

}  // namespace

std::string_view CauseKindName(Cause::Kind kind) {
  switch (kind) {
    case CauseKind::kFault:
      return "fault";
    case CauseKind::kMessage:
      return "message";
    case CauseKind::kError:
      return "error";
    case CauseKind::kDecision:
      return "decision";
    case CauseKind::kEvent:
      return "event";
    case CauseKind::kViolation:
      return "violation";
  }
  return "?";
}

CauseGraph CausesOf(const Scenario& scenario, const Played& played) { return GraphMaker(scenario, played).Make(); }

std::size_t AddViolation(std::string_view rule, std::size_t event, CauseGraph& graph) {
  const std::size_t witness = graph.of_events[event];
  const Cause& seen = graph.causes[witness];
  graph.causes.push_back({.kind = CauseKind::kViolation,
                          .at = seen.at,
                          .node = seen.node,
                          .task = seen.task,
                          .text = std::string(rule),
                          .past = {witness}});
  return graph.causes.size() - 1;
}

std::size_t AddViolation(std::string_view rule, std::string_view text, CauseGraph& graph) {
  const auto [node, at] = WitnessOf(text);
  const bool known = std::ranges::find(graph.causes, node, &Cause::node) != graph.causes.end();
  Cause violation{.kind = CauseKind::kViolation, .node = known ? node : "", .text = std::string(rule)};
  std::size_t witness = kNothing;
  for (std::size_t i = 0; i < graph.causes.size(); ++i) {
    const Cause& each = graph.causes[i];
    if (each.kind == CauseKind::kFault || each.kind == CauseKind::kMessage || each.kind == CauseKind::kViolation ||
        each.at > at || (known && (each.node != node || !each.task.empty())))
      continue;
    if (witness == kNothing || graph.causes[witness].at <= each.at) witness = i;
  }
  if (witness != kNothing) violation.past.push_back(witness);
  violation.at = witness == kNothing || at == Duration::max()
                     ? (witness == kNothing ? Duration(0) : graph.causes[witness].at)
                     : at;
  graph.causes.push_back(std::move(violation));
  return graph.causes.size() - 1;
}

CauseChain WalkBack(const CauseGraph& graph, std::size_t from, std::size_t most) {
  const auto is = [](CauseKind kind) { return [kind](const Cause& cause) { return cause.kind == kind; }; };
  CauseChain chain;
  std::vector<std::size_t> way = WayBack(graph, from, is(CauseKind::kError));
  if (!way.empty()) {
    std::vector<std::size_t> further = WayBack(graph, way.front(), is(CauseKind::kFault));
    if (!further.empty()) way.insert(way.begin(), further.begin(), std::prev(further.end()));
  }
  if (way.empty() || graph.causes[way.front()].kind != CauseKind::kFault) {
    if (std::vector<std::size_t> any = WayBack(graph, from, is(CauseKind::kFault)); !any.empty()) way = std::move(any);
  }
  if (way.empty()) way = {from};
  chain.from_a_fault = graph.causes[way.front()].kind == CauseKind::kFault;
  for (const std::size_t each : way) {
    const bool witness = way.size() > 1 && each == way[way.size() - 2];
    if (graph.causes[each].kind != CauseKind::kEvent || each == from || witness) chain.causes.push_back(each);
  }
  if (chain.causes.size() > most) {
    chain.kept_first = most / 2;
    chain.left_out = chain.causes.size() - most;
    const auto first = chain.causes.begin() + static_cast<std::ptrdiff_t>(chain.kept_first);
    chain.causes.erase(first, first + static_cast<std::ptrdiff_t>(chain.left_out));
  }
  return chain;
}

std::vector<std::string> ChainText(const CauseGraph& graph, const CauseChain& chain) {
  std::vector<std::string> lines;
  if (!chain.from_a_fault) lines.emplace_back("no fault that is noted with its time is in its past");
  for (std::size_t i = 0; i < chain.causes.size(); ++i) {
    if (chain.left_out > 0 && i == chain.kept_first) lines.push_back(fmt::format("... {} left out", chain.left_out));
    const Cause& cause = graph.causes[chain.causes[i]];
    const std::string where = cause.task.empty() ? cause.node : fmt::format("{}/{}", cause.node, cause.task);
    lines.push_back(fmt::format("{:>9.3f}  {:<9}  {}{}{}", ToSeconds(cause.at), CauseKindName(cause.kind), where,
                                where.empty() ? "" : ": ", cause.text));
  }
  return lines;
}

}  // namespace vigil::replays

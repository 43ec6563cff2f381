#include "vigil/replays/show/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/json_writer.h"
#include "vigil/replays/format/names.h"
#include "vigil/replays/format/print_parts.h"
#include "vigil/replays/show/event_text.h"
#include "vigil/replays/show/machines.h"

namespace vigil::replays {
namespace {

using CauseKind = Cause::Kind;
using DiskEntry = sim::FaultApplier::DiskEntry;
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
  const FaultEntry* entry = nullptr;
  Duration begins{0};
  Duration ends = Duration::max();
  // Machines.
  std::string node = {};
  std::string peer = {};
};

// A message as an error may find it.
struct Met {
  Duration at{0};
  std::size_t message = 0;
  bool bad = false;
};

// When it was known what became of it.
Duration MomentOf(const LoggedMessage& message) { return message.arrived.value_or(message.sent); }

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
      return fmt::format("{} from {} to {} is refused", message.method, message.from, message.to);
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
      : scenario_(scenario),
        plan_(scenario.job.has_value() ? &scenario.job->plan : nullptr),
        trace_(played.trace),
        played_(played),
        machines_(played.faults),
        messages_(played.message_log.messages) {}

  CauseGraph Make() {
    AddFaults();
    MeetMessages();
    AddStory();
    if (played_.message_log.left_out > 0 && !messages_.empty()) graph_.messages_until = messages_.back().sent;
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
        if (strike.ends == Duration::max() && entry.Ends(*strike.entry)) strike.ends = entry.at;
      }
      if (entry.what != FaultEntry::What::kCrash && entry.what != FaultEntry::What::kBegins) continue;
      const std::string node = machines_.Of(entry.task, entry.at);
      const std::size_t cause = Add({.kind = CauseKind::kFault,
                                     .at = entry.at,
                                     .node = node,
                                     .text = Escaped(entry.text),
                                     .takes_files = entry.takes_files});
      strikes_.push_back({.cause = cause,
                          .entry = &entry,
                          .begins = entry.at,
                          .node = node,
                          .peer = machines_.Of(entry.peer, entry.at)});
    }
  }

  void MeetMessages() {
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const LoggedMessage& message = messages_[i];
      const bool asks = message.kind == LoggedMessage::Kind::kRequest || message.kind == LoggedMessage::Kind::kRefusal;
      if (asks && message.call != 0) requests_.try_emplace(message.call, i);
      const bool lost = !message.arrived.has_value();
      const sim::RpcFault* const struck = FaultOfCall(message);
      switch (message.kind) {
        case LoggedMessage::Kind::kRequest:
          if (lost || WaitsFor(struck)) met_[message.from].push_back({message.sent, i, true});
          break;
        case LoggedMessage::Kind::kReply:
          met_[message.to].push_back({MomentOf(message), i, lost || struck != nullptr});
          break;
        case LoggedMessage::Kind::kRefusal:  // its sender is told
          if (!lost) met_[message.from].push_back({*message.arrived, i, true});
          break;
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

  const LoggedMessage* RequestOf(const LoggedMessage& message) const {
    const auto found = requests_.find(message.call);
    return found == requests_.end() ? nullptr : &messages_[found->second];
  }
  // What of the plan has struck the request of that message; null: nothing that could make it fail.
  const sim::RpcFault* FaultOfCall(const LoggedMessage& message) const {
    const LoggedMessage* const request = RequestOf(message);
    if (request == nullptr || !request->fault.has_value() || plan_ == nullptr || *request->fault >= plan_->rpcs.size())
      return nullptr;
    const sim::RpcFault& fault = plan_->rpcs[*request->fault];
    return fault.effect == sim::RpcFault::Effect::kDuplicated ? nullptr : &fault;
  }
  // Nobody else may ever tell of it.
  static bool WaitsFor(const sim::RpcFault* fault) {
    return fault != nullptr &&
           (fault->effect == sim::RpcFault::Effect::kNeverAnswered || fault->effect == sim::RpcFault::Effect::kDelayed);
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
    const std::string node = machines_.Of(moment.task, at);
    const std::size_t cause =
        Add({.at = at, .node = node, .text = Escaped(fmt::format("life {} begins", moment.life))});
    for (auto strike = strikes_.rbegin(); strike != strikes_.rend(); ++strike) {
      if (!BringsALife(*strike->entry) || strike->entry->task != moment.task || strike->begins > at) continue;
      Link(cause, strike->cause);
      break;
    }
    lives_[node] = cause;
    done_on_[node].push_back(cause);
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
                                   .text = Escaped(EventText(record.event)),
                                   .event = graph_.of_events.size()});
    graph_.of_events.push_back(cause);
    std::size_t& last = last_of_.try_emplace(record.task, kNothing).first->second;
    const auto life = lives_.find(node);
    if (life != lives_.end() && (last == kNothing || last < life->second)) last = life->second;
    Link(cause, last);
    if (record.event.code != Code::kOk) LinkError(cause, last);
    LinkCall(cause, record.event);
    last = cause;
    if (task.empty()) done_on_[node].push_back(cause);
  }

  // After it a new process of the task begins.
  static bool BringsALife(const FaultEntry& entry) {
    return entry.what == FaultEntry::What::kCrash || entry.kind == sim::TimedFault::Kind::kZombie;
  }

  // To what came of messages since `before`, and to the faults that began at its node meanwhile.
  void LinkError(std::size_t error, std::size_t before) {
    const std::string node = graph_.causes[error].node;
    const Duration at = graph_.causes[error].at;
    const Duration since = before == kNothing ? Duration(-1) : graph_.causes[before].at;
    for (const Strike& strike : strikes_) {
      if ((strike.node == node || strike.peer == node) && strike.begins > since && strike.begins <= at)
        Link(error, strike.cause);
    }
    const bool is_first = before == kNothing || !graph_.causes[before].event.has_value();
    const std::size_t first = is_first ? 0 : *graph_.causes[before].event + 1;
    LinkDisk(error, node, [&](const DiskEntry& entry) {
      return entry.events >= first && entry.events <= *graph_.causes[error].event && entry.at >= since;
    });
    const Met* const newest = NewestMet(node, since, at);
    if (newest != nullptr) Link(error, MessageCause(*newest));
  }

  // What that node heard of last, of what was bad if there was any; null: nothing.
  const Met* NewestMet(const std::string& node, Duration since, Duration until) const {
    const auto found = met_.find(node);
    if (found == met_.end()) return nullptr;
    const std::vector<Met>& met = found->second;
    const Met* newest = nullptr;
    for (auto i = std::ranges::upper_bound(met, until, {}, &Met::at); i != met.begin() && (--i)->at > since;) {
      if (i->bad) return &*i;
      if (newest == nullptr) newest = &*i;
    }
    return newest;
  }

  // To what struck operations of that node's on files; `meanwhile`: those that count.
  template <typename Meanwhile>
  void LinkDisk(std::size_t cause, const std::string& node, const Meanwhile& meanwhile) {
    if (plan_ == nullptr) return;
    for (const DiskEntry& entry : played_.disk_faults) {
      const bool slow = plan_->disks[entry.fault].effect == sim::DiskFault::Effect::kSlow;
      if (!slow && entry.task == node && meanwhile(entry))
        Link(cause, PlanCause(sim::InertFault::List::kDisks, entry.fault, entry.at, node));
    }
  }

  // An entry of the plan that strikes then.
  std::size_t PlanCause(sim::InertFault::List list, std::size_t index, Duration at, const std::string& node) {
    const auto [known, added] = entries_.try_emplace({list, index, at, node}, kNothing);
    if (added) {
      JsonWriter w;
      PrintPlanEntry(w, *plan_, list, index);
      known->second = Add({.kind = CauseKind::kFault, .at = at, .node = node, .text = Escaped(w.text())});
    }
    return known->second;
  }

  std::size_t MessageCause(const Met& met) {
    const auto [known, added] = told_.try_emplace(met.message, kNothing);
    if (!added) return known->second;
    const LoggedMessage& message = messages_[met.message];
    const bool refusal = message.kind == LoggedMessage::Kind::kRefusal;
    const std::size_t cause = Add({.kind = CauseKind::kMessage,
                                   .at = met.at,
                                   .node = refusal ? message.from : message.to,
                                   .text = Escaped(LoggedText(message)),
                                   .message = met.message});
    known->second = cause;
    bool struck = false;
    for (const Strike& strike : strikes_) {
      const bool link = !strike.peer.empty();
      const bool ends = strike.node == message.from || strike.node == message.to;
      const bool other = !link || strike.peer == message.from || strike.peer == message.to;
      if (!ends || !other || strike.begins > met.at || strike.ends < message.sent) continue;
      Link(cause, strike.cause);
      struck = true;
    }
    const LoggedMessage* const request = RequestOf(message);
    if (FaultOfCall(message) != nullptr) {
      Link(cause, PlanCause(sim::InertFault::List::kRpcs, *request->fault, request->sent, request->from));
      struck = true;
    }
    if (!struck && !message.arrived.has_value()) LinkLoss(cause, message);
    if (message.kind == LoggedMessage::Kind::kReply && request != nullptr) {
      LinkDisk(cause, message.from,
               [&](const DiskEntry& entry) { return entry.at >= request->sent && entry.at <= message.sent; });
      const Met* const handed_on = NewestMet(message.from, request->sent, message.sent);
      if (handed_on != nullptr) Link(cause, MessageCause(*handed_on));
    }
    const auto sender = done_on_.find(message.from);
    if (sender == done_on_.end()) return cause;
    const auto later = std::ranges::upper_bound(sender->second, message.sent, {},
                                                [this](std::size_t done) { return graph_.causes[done].at; });
    if (later != sender->second.begin()) Link(cause, *std::prev(later));
    return cause;
  }

  // A message that got lost on a link that loses some.
  void LinkLoss(std::size_t cause, const LoggedMessage& message) {
    if (plan_ == nullptr) return;
    const auto own = plan_->links.find(fmt::format("{}>{}", message.from, message.to));
    if ((own == plan_->links.end() ? plan_->default_link : own->second).loss <= 0) return;
    Link(cause, Add({.kind = CauseKind::kFault,
                     .at = message.sent,
                     .node = message.from,
                     .text = fmt::format("the link to {} loses messages", message.to)}));
  }

  // To a fault of session calls that strikes this one.
  void LinkCall(std::size_t cause, const Event& event) {
    if (event.kind == EventKind::kSessionCreated || event.kind == EventKind::kSessionCreateFailed) {
      CountCall(cause, event, CallKind::kCreate);
    } else if (event.kind == EventKind::kSessionCall) {
      CountCall(cause, event, static_cast<CallKind>(event.call));
    }
  }

  void CountCall(std::size_t cause, const Event& event, CallKind kind) {
    const std::string node = graph_.causes[cause].node;
    const Duration at = graph_.causes[cause].at;
    if (plan_ == nullptr) return CountCallOfSession(cause, event, kind);
    bool struck = false;
    for (std::size_t i = 0; i < plan_->session_calls.size(); ++i) {
      const sim::SessionCallFault& fault = plan_->session_calls[i];
      if ((!fault.task.empty() && fault.task != node) || fault.at != kind) continue;
      const std::int64_t call = ++calls_of_plan_[i];
      if (struck || event.code != fault.code || (fault.call != 0 && fault.call != call)) continue;
      struck = true;
      Link(cause, PlanCause(sim::InertFault::List::kSessionCalls, i, at, node));
    }
  }

  void CountCallOfSession(std::size_t cause, const Event& event, CallKind kind) {
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

  using PlanEntryAt = std::tuple<sim::InertFault::List, std::size_t, Duration, std::string>;

  const Scenario& scenario_;
  const sim::FaultPlan* const plan_;  // null: of one session
  const sim::Trace& trace_;
  const Played& played_;
  const Machines machines_;
  const std::vector<LoggedMessage>& messages_;
  CauseGraph graph_;
  std::vector<Strike> strikes_;
  std::map<std::string, std::vector<Met>, std::less<>> met_;              // by the node that is told
  std::map<std::string, std::size_t, std::less<>> lives_;                 // by node
  std::map<std::string, std::vector<std::size_t>, std::less<>> done_on_;  // by node: what its main task did, in order
  std::map<std::uint32_t, std::size_t> last_of_;                          // by task
  std::map<std::uint64_t, std::size_t> requests_;                         // by call: its first message
  std::map<std::size_t, std::size_t> told_;                               // messages that are causes
  std::map<PlanEntryAt, std::size_t> entries_;                            // entries of the plan that are
  std::map<std::string_view, std::int64_t> calls_;                        // of one session, by kind
  std::map<std::size_t, std::int64_t> calls_of_plan_;                     // by the plan's fault that they are about
};

}  // namespace

CauseGraph CausesOf(const Scenario& scenario, const Played& played) { return GraphMaker(scenario, played).Make(); }

}  // namespace vigil::replays

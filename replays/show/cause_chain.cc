#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <queue>
#include <utility>

#include "vigil/replays/format/json_writer.h"
#include "vigil/replays/show/causes.h"
#include "vigil/replays/show/machines.h"

namespace vigil::replays {
namespace {

constexpr std::size_t kNobodysPast = std::numeric_limits<std::size_t>::max();

// From `from` back, newest first, until `wanted`: the way there, oldest first; empty = there is none in its past.
template <typename Wanted>
std::vector<std::size_t> WayBack(const CauseGraph& graph, std::size_t from, const Wanted& wanted) {
  std::map<std::size_t, std::size_t> towards = {{from, kNobodysPast}};  // each that was seen: whose past it is
  std::priority_queue<std::pair<Duration, std::size_t>> open;
  open.push({graph.causes[from].at, from});
  while (!open.empty()) {
    const std::size_t next = open.top().second;
    open.pop();
    if (next != from && wanted(graph.causes[next])) {
      std::vector<std::size_t> way;
      for (std::size_t each = next; each != kNobodysPast; each = towards.at(each)) way.push_back(each);
      return way;
    }
    for (const std::size_t before : graph.causes[next].past) {
      if (towards.try_emplace(before, next).second) open.push({graph.causes[before].at, before});
    }
  }
  return {};
}

}  // namespace

std::string_view CauseKindName(Cause::Kind kind) {
  switch (kind) {
    case Cause::Kind::kFault:
      return "fault";
    case Cause::Kind::kMessage:
      return "message";
    case Cause::Kind::kError:
      return "error";
    case Cause::Kind::kDecision:
      return "decision";
    case Cause::Kind::kEvent:
      return "event";
    case Cause::Kind::kViolation:
      return "violation";
  }
  return "?";
}

namespace {

// Files are of all who share them, and so is what takes them.
std::size_t Add(Cause violation, Duration latest, CauseGraph& graph) {
  constexpr std::string_view kOfFiles[] = {"checkpoint.", "restore.", "disk."};
  const bool of_files = std::ranges::any_of(
      kOfFiles, [&violation](std::string_view begins) { return violation.text.starts_with(begins); });
  std::size_t last = graph.causes.size();
  for (std::size_t i = 0; of_files && i < graph.causes.size(); ++i) {
    const Cause& each = graph.causes[i];
    if (each.takes_files && each.at <= latest && (last == graph.causes.size() || graph.causes[last].at <= each.at))
      last = i;
  }
  if (last != graph.causes.size()) violation.past.push_back(last);
  graph.causes.push_back(std::move(violation));
  return graph.causes.size() - 1;
}

}  // namespace

std::size_t AddViolation(std::string_view rule, std::size_t event, CauseGraph& graph) {
  const std::size_t witness = graph.of_events[event];
  const Cause& seen = graph.causes[witness];
  return Add({.kind = Cause::Kind::kViolation,
              .at = seen.at,
              .node = seen.node,
              .task = seen.task,
              .text = std::string(rule),
              .past = {witness}},
             seen.at, graph);
}

std::size_t AddViolation(std::string_view rule, std::string_view node, std::optional<Duration> at, CauseGraph& graph) {
  const auto is_there = [node](const Cause& cause) { return Machines::IsOf(cause.node, node); };
  const bool known = std::ranges::any_of(graph.causes, is_there);
  const Duration latest = at.value_or(Duration::max());
  std::size_t witness = kNobodysPast;
  for (std::size_t i = 0; i < graph.causes.size(); ++i) {
    const Cause& each = graph.causes[i];
    if (each.kind == Cause::Kind::kFault || each.kind == Cause::Kind::kMessage ||
        each.kind == Cause::Kind::kViolation || each.at > latest || (known && (!is_there(each) || !each.task.empty())))
      continue;
    if (witness == kNobodysPast || graph.causes[witness].at <= each.at) witness = i;
  }
  Cause violation{.kind = Cause::Kind::kViolation, .node = std::string(known ? node : ""), .text = std::string(rule)};
  if (witness != kNobodysPast) violation.past.push_back(witness);
  violation.at = at.value_or(witness == kNobodysPast ? Duration(0) : graph.causes[witness].at);
  return Add(std::move(violation), latest, graph);
}

CauseChain WalkBack(const CauseGraph& graph, std::size_t from, std::size_t most) {
  const auto is = [](Cause::Kind kind) { return [kind](const Cause& cause) { return cause.kind == kind; }; };
  CauseChain chain;
  std::vector<std::size_t> way;
  if (!is(Cause::Kind::kError)(graph.causes[from])) way = WayBack(graph, from, is(Cause::Kind::kError));
  if (!way.empty()) {
    std::vector<std::size_t> further = WayBack(graph, way.front(), is(Cause::Kind::kFault));
    if (!further.empty()) way.insert(way.begin(), further.begin(), std::prev(further.end()));
  }
  if (way.empty() || graph.causes[way.front()].kind != Cause::Kind::kFault) {
    if (std::vector<std::size_t> any = WayBack(graph, from, is(Cause::Kind::kFault)); !any.empty())
      way = std::move(any);
  }
  for (const std::size_t before : graph.causes[from].past) {
    const Cause& each = graph.causes[before];
    if (each.takes_files && (way.empty() || graph.causes[way.front()].at < each.at)) way = {before, from};
  }
  if (way.empty()) way = {from};
  chain.from_a_fault = graph.causes[way.front()].kind == Cause::Kind::kFault;
  if (graph.messages_until < graph.causes[from].at) chain.messages_until = graph.messages_until;
  for (const std::size_t each : way) {
    const bool witness = way.size() > 1 && each == way[way.size() - 2];
    if (graph.causes[each].kind != Cause::Kind::kEvent || each == from || witness)
      chain.causes.push_back(graph.causes[each]);
  }
  if (chain.causes.size() > most) {
    chain.kept_first = most / 2;
    chain.left_out = chain.causes.size() - most;
    const auto first = chain.causes.begin() + static_cast<std::ptrdiff_t>(chain.kept_first);
    chain.causes.erase(first, first + static_cast<std::ptrdiff_t>(chain.left_out));
  }
  return chain;
}

std::string WhereOf(const Cause& cause) {
  return cause.task.empty() ? cause.node : fmt::format("{}/{}", cause.node, cause.task);
}

std::vector<std::string> ChainText(const CauseChain& chain) {
  std::vector<std::string> lines;
  if (!chain.from_a_fault) lines.emplace_back("no fault that is noted with its time is in its past");
  if (chain.messages_until.has_value()) {
    lines.push_back(fmt::format("messages after {:.3f} s were too many to be kept: what came by them is missing here",
                                ToSeconds(*chain.messages_until)));
  }
  for (std::size_t i = 0; i < chain.causes.size(); ++i) {
    if (chain.left_out > 0 && i == chain.kept_first) lines.push_back(fmt::format("... {} left out", chain.left_out));
    const Cause& cause = chain.causes[i];
    const std::string where = WhereOf(cause);
    lines.push_back(fmt::format("{:>9.3f}  {:<9}  {}{}{}", ToSeconds(cause.at), CauseKindName(cause.kind), where,
                                where.empty() ? "" : ": ", cause.text));
  }
  return lines;
}

std::string ChainJson(const CauseChain& chain) {
  JsonWriter w;
  w.Open('[');
  for (const Cause& cause : chain.causes) {
    w.Open('{').Key("at_s").Seconds(ToSeconds(cause.at)).Key("kind").String(CauseKindName(cause.kind));
    w.Key("node").String(cause.node).Key("task").String(cause.task).Key("text").String(cause.text);
    if (cause.event.has_value()) w.Key("event").Natural(*cause.event + 1);
    w.Close('}');
  }
  w.Close(']');
  return w.Take();
}

}  // namespace vigil::replays

#include "vigil/replays/job_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/replays/escape.h"
#include "vigil/replays/event_text.h"
#include "vigil/replays/json_writer.h"
#include "vigil/replays/print_parts.h"

namespace vigil::replays {
namespace {

constexpr std::size_t kWidestColumn = 40;

// What is shown at one moment: of a node, or across all.
struct Shown {
  Duration at;
  int rank;          // among what happens at the same time: nobody knows, but a life begins and ends in this order
  std::string node;  // "" = across
  std::string text;
};

// What events do not say.
std::optional<std::string> MomentText(const sim::JobMoment& moment) {
  using Kind = sim::JobMoment::Kind;
  switch (moment.kind) {
    case Kind::kStarted:
      return fmt::format("life {} begins", moment.life);
    case Kind::kServing:
      return "serves";
    case Kind::kOpened:
      return "has an open session";
    case Kind::kRunReturned:
      return fmt::format("run came back with step {}", moment.step);
    case Kind::kSaved:
      return fmt::format("checkpoint of step {} is complete", moment.step);
    case Kind::kEvaluated:
      return fmt::format("evaluated step {}", moment.step);
    case Kind::kEnded:
      return moment.code == Code::kOk ? "life ends cleanly" : fmt::format("life ends with {}", CodeName(moment.code));
    case Kind::kTaskLeft:
      return fmt::format("still runs: {}", moment.subject);
    case Kind::kBegin:
      return "the plan begins";
    case Kind::kSession:
    case Kind::kRunStarted:
    case Kind::kRunFailed:
    case Kind::kAttempt:
    case Kind::kRecovery:
    case Kind::kRestored:
    case Kind::kInitialised:
    case Kind::kSawStep:
    case Kind::kFound:
    case Kind::kLogged:
    case Kind::kStopAsked:
    case Kind::kHealed:  // the plan's own history says so
      return std::nullopt;
  }
  return std::nullopt;
}

bool IsAnEnd(const sim::JobMoment& moment) {
  return moment.kind == sim::JobMoment::Kind::kEnded || moment.kind == sim::JobMoment::Kind::kTaskLeft;
}

// Of a task that is not the main one of its node, its name in front.
std::string TracedText(const sim::Trace& trace, const sim::TraceRecord& record) {
  std::string_view label = trace.TaskLabel(record);
  const std::string_view node = trace.NodeName(record);
  if (label.starts_with(node) && label.size() > node.size()) label.remove_prefix(node.size() + 1);
  const std::string text = EventText(record.event);
  return label.empty() || label == "main" ? text : fmt::format("[{}] {}", label, text);
}

std::vector<Shown> Everything(const JobStory& story) {
  std::vector<Shown> shown;
  for (const sim::FaultApplier::Entry& entry : story.faults) shown.push_back({entry.at, 0, "", entry.text});
  for (const sim::JobMoment& moment : story.history) {
    std::optional<std::string> text = MomentText(moment);
    if (text.has_value()) shown.push_back({moment.at - story.start, IsAnEnd(moment) ? 3 : 1, moment.task, *text});
  }
  for (const sim::TraceRecord& record : story.trace) {
    const std::string_view node = story.trace.NodeName(record);
    if (node.empty()) continue;
    shown.push_back({record.time - story.start, 2, std::string(node), TracedText(story.trace, record)});
  }
  for (Shown& each : shown) each.text = Escaped(each.text);
  std::ranges::stable_sort(
      shown, [](const Shown& a, const Shown& b) { return std::pair(a.at, a.rank) < std::pair(b.at, b.rank); });
  return shown;
}

// The first so many characters of `text`, if possible up to a space.
std::string TakePart(std::string& text, std::size_t width) {
  if (text.size() <= width) return std::exchange(text, "");
  const std::size_t space = text.rfind(' ', width);
  const std::size_t end = space == std::string::npos || space == 0 ? width : space;
  std::string part = text.substr(0, end);
  text.erase(0, end == space ? end + 1 : end);
  return part;
}

std::string Trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

class Table {
 public:
  explicit Table(std::vector<std::string> nodes) : nodes_(std::move(nodes)) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      columns_[nodes_[i]] = i;
      widths_.push_back(nodes_[i].size());
    }
  }

  bool Has(const std::string& node) const { return columns_.contains(node); }
  void Widen(const Shown& shown) {
    std::size_t& width = widths_[columns_.find(shown.node)->second];
    width = std::max(width, std::min(shown.text.size(), kWidestColumn));
  }

  void AppendHead(std::vector<std::string>& lines) const {
    std::string names = fmt::format("{:>10}", "time");
    std::string rule(10, '-');
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      names += fmt::format(" | {:<{}}", nodes_[i], widths_[i]);
      rule += "-|-" + std::string(widths_[i], '-');
    }
    lines.push_back(Trimmed(std::move(names)));
    lines.push_back(std::move(rule));
  }

  void Append(std::vector<std::string>& lines, const Shown& shown) const {
    const std::string time = fmt::format("{:>10.3f}", ToSeconds(shown.at));
    if (shown.node.empty()) {
      lines.push_back(fmt::format("{} == {} ==", time, shown.text));
      return;
    }
    const std::size_t column = columns_.find(shown.node)->second;
    std::string rest = shown.text;
    for (bool first = true; first || !rest.empty(); first = false) {
      const std::string part = TakePart(rest, widths_[column]);
      std::string line = first ? time : std::string(10, ' ');
      for (std::size_t i = 0; i < nodes_.size(); ++i)
        line += fmt::format(" | {:<{}}", i == column ? part : "", widths_[i]);
      lines.push_back(Trimmed(std::move(line)));
    }
  }

 private:
  const std::vector<std::string> nodes_;  // in order of their columns
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::vector<std::size_t> widths_;
};

}  // namespace

std::vector<std::string> JobText(const JobStory& story, const JobTextOptions& options) {
  std::vector<std::string> nodes = sim::TaskNames(story.spec);
  std::vector<std::string> lines;
  const std::vector<std::string>& only = options.only_nodes;
  for (const std::string& name : only) {
    if (std::ranges::find(nodes, name) == nodes.end())
      lines.push_back(fmt::format("no node is called {}; there are {}", Quoted(name), fmt::join(nodes, ", ")));
  }
  if (!only.empty())
    std::erase_if(nodes, [&only](const std::string& name) { return std::ranges::find(only, name) == only.end(); });
  Table table(std::move(nodes));
  std::vector<Shown> shown = Everything(story);
  std::erase_if(shown, [&](const Shown& each) {
    return (options.until.has_value() && each.at > *options.until) || !(each.node.empty() || table.Has(each.node));
  });
  for (const Shown& each : shown) {
    if (!each.node.empty()) table.Widen(each);
  }
  table.AppendHead(lines);
  for (const Shown& each : shown) table.Append(lines, each);
  return lines;
}

std::vector<std::string> InertText(const sim::JobSpec& spec, const sim::JobFacts& facts) {
  std::vector<std::string> lines;
  for (const sim::InertFault& inert : facts.inert) {
    JsonWriter w;
    PrintPlanEntry(w, spec.plan, inert.list, inert.index);
    lines.push_back(
        fmt::format("inert: {}: {}", w.Take(), inert.fired ? "it happened and changed nothing" : "it never happened"));
  }
  return lines;
}

}  // namespace vigil::replays

#include "vigil/replays/show/job_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/json_writer.h"
#include "vigil/replays/format/print_parts.h"
#include "vigil/replays/show/machines.h"
#include "vigil/replays/show/story_lines.h"

namespace vigil::replays {
namespace {

constexpr std::size_t kWidestColumn = 40;

// The tasks, and the machines that they were brought to.
std::vector<std::string> NodesOf(const sim::JobSpec& spec, const Played& played) {
  std::vector<std::string> nodes = sim::TaskNames(spec);
  for (std::string& other : Machines(played.faults).Others()) nodes.push_back(std::move(other));
  return nodes;
}

// Of a task that is not the main one of its node, its name in front.
std::vector<StoryLine> Everything(const Played& played) {
  std::vector<StoryLine> lines = StoryLines(played);
  for (StoryLine& line : lines) {
    if (!line.task.empty()) line.text = fmt::format("[{}] {}", line.task, line.text);
  }
  return lines;
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
  void Widen(const StoryLine& shown) {
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

  void Append(std::vector<std::string>& lines, const StoryLine& shown) const {
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

std::vector<std::string> JobText(const sim::JobSpec& spec, const Played& played, const JobTextOptions& options) {
  std::vector<std::string> nodes = NodesOf(spec, played);
  std::vector<std::string> lines;
  const std::vector<std::string>& only = options.only_nodes;
  if (!only.empty())
    std::erase_if(nodes, [&only](const std::string& name) { return std::ranges::find(only, name) == only.end(); });
  if (nodes.empty()) return lines;
  Table table(std::move(nodes));
  std::vector<StoryLine> shown = Everything(played);
  std::erase_if(shown, [&](const StoryLine& each) {
    return (options.until.has_value() && each.at > *options.until) || !(each.node.empty() || table.Has(each.node));
  });
  for (const StoryLine& each : shown) {
    if (!each.node.empty()) table.Widen(each);
  }
  table.AppendHead(lines);
  std::vector<std::string> numbers(lines.size());
  for (const StoryLine& each : shown) {
    const std::size_t first = lines.size();
    table.Append(lines, each);
    numbers.resize(lines.size());
    if (each.source == StoryLine::Source::kEvent) numbers[first] = fmt::format("{}", each.place + 1);
  }
  if (options.numbers) {
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = fmt::format("{:>7} {}", numbers[i], lines[i]);
  }
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

void ShowJob(const sim::JobSpec& spec, const Played& played, const JobTextOptions& options, PlainOutcome& outcome) {
  outcome.events = JobText(spec, played, options);
  outcome.nodes = NodesOf(spec, played);
  for (std::string& line : InertText(spec, *outcome.job)) outcome.events.push_back(std::move(line));
}

}  // namespace vigil::replays

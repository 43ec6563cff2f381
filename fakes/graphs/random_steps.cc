#include "vigil/fakes/graphs/random_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "vigil/core/base/code.h"
#include "vigil/core/session/plan.h"

namespace vigil::fakes {

std::string AnswerText(const StepAnswer& answer) {
  if (!answer.status.ok()) return fmt::format("{}: {}", CodeName(CodeOf(answer.status)), MessageOf(answer.status));
  std::vector<std::string> values;
  for (const Tensor& value : answer.values) values.push_back(ValueText(value));
  return fmt::format("{}", fmt::join(values, ", "));
}

bool AreSameAnswers(const RandomStep& step, bool initialised, const StepAnswer& alone, const StepAnswer& cluster) {
  const Code code = CodeOf(cluster.status);
  const bool same = code == CodeOf(alone.status) && (!alone.status.ok() || AreSame(cluster.values, alone.values));
  if (initialised) return same;
  if (!alone.status.ok())
    return code == Code::kFailedPrecondition || code == Code::kNotFound || code == Code::kInvalidArgument;
  return same || (step.may_read_dead && code == Code::kFailedPrecondition);
}

void StepDrawer::DrawKinds() {
  kinds_.clear();
  for (int i = 0; i < 4; ++i) kinds_.push_back(DrawKind());
}

RandomStep StepDrawer::Next() {
  RandomStep step;
  const Kind& kind = kinds_[draws_.Below(kinds_.size())];
  step.spec = kind.spec;
  step.may_fetch_dead = kind.may_fetch_dead;
  step.may_read_dead = kind.may_read_dead;
  // One reason to fail at most, else it would not be determined which counts.
  const std::size_t wrong = draws_.Below(wrong_in_);
  const std::vector<NodeId> checks = Needed(graph_.checks, step.spec);
  if (wrong < 3 && !checks.empty()) step.fails = Pick(checks);
  for (const Output feed : step.spec.feeds) {
    const auto check = std::ranges::find(graph_.holds, feed);
    if (check != graph_.holds.end()) {
      const auto which = static_cast<std::size_t>(check - graph_.holds.begin());
      step.feeds.push_back(Tensor::Scalar(graph_.checks[which] != step.fails));
    } else if (graph_.graph.TypeOf(feed) == DType::kBool) {
      step.feeds.push_back(Tensor::Scalar(draws_.Below(2) == 0));
    } else {
      step.feeds.push_back(TwoSmallNumbers(draws_));
      if (IsOfPair(feed)) step.feeds.back() = Tensor::Scalar(step.feeds.back().flat<double>()[0]);
    }
  }
  if (wrong == 3) step.feeds[0] = Tensor::Vector<double>({1, 2, 3});
  if (wrong == 4) {
    step.spec.feeds.erase(step.spec.feeds.begin());
    step.feeds.erase(step.feeds.begin());
  }
  step.text = Text(step);
  return step;
}

bool StepDrawer::IsOfPair(Output output) const {
  return std::ranges::find(graph_.pairs, output.node, &Output::node) != graph_.pairs.end();
}

// Which of those nodes such a step needs.
std::vector<NodeId> StepDrawer::Needed(const std::vector<NodeId>& nodes, const RunSpec& spec) const {
  const absl::StatusOr<NeededNodes> found = FindNeeded(graph_.graph, spec);
  std::vector<NodeId> needed;
  std::ranges::copy_if(nodes, std::back_inserter(needed),
                       [&](NodeId id) { return found.ok() && found->needed[static_cast<std::size_t>(id)]; });
  return needed;
}

StepDrawer::Kind StepDrawer::DrawKind() {
  Kind kind;
  RunSpec& spec = kind.spec;
  for (const auto& placeholders : {graph_.numbers, graph_.choices, graph_.holds}) {
    spec.feeds.insert(spec.feeds.end(), placeholders.begin(), placeholders.end());
  }
  for (std::size_t i = draws_.Below(6); i > 0; --i) spec.fetches.push_back(Pick(graph_.values));
  if (Chance(30)) spec.fetches.push_back(Variable());
  if (!spec.fetches.empty() && Chance(40)) spec.fetches.push_back(Pick(spec.fetches));
  for (std::size_t i = draws_.Below(5); i > 0 && !graph_.effects.empty(); --i) {
    spec.targets.push_back(Pick(graph_.effects));
  }
  if (!graph_.mortal.empty() && Chance(20)) {
    kind.may_fetch_dead = true;
    spec.fetches.push_back(Pick(graph_.mortal));
  }
  if (!graph_.pairs.empty() && Chance(50)) {
    const Output first = Pick(graph_.pairs);
    AddFeed(spec, first);
    AddFeed(spec, {first.node, 1});
  }
  if (Chance(25)) AddFeed(spec, Pick(graph_.values));
  if (!graph_.mortal.empty() && Chance(10)) AddFeed(spec, Pick(graph_.mortal));
  kind.may_read_dead = !Needed(graph_.reads_in_branches, spec).empty();
  return kind;
}

// One that has a value.
Output StepDrawer::Variable() {
  const Output variable = Pick(graph_.variables);
  return graph_.graph.TypeOf(variable) == DType::kResource ? graph_.values[0] : variable;
}

void StepDrawer::AddFeed(RunSpec& spec, Output feed) const {
  if (graph_.graph.TypeOf(feed) != DType::kDouble) return;
  if (std::ranges::find(spec.feeds, feed) == spec.feeds.end()) spec.feeds.push_back(feed);
}

std::string StepDrawer::Text(const RandomStep& step) const {
  std::vector<std::string> feeds, fetches, targets;
  for (std::size_t i = 0; i < step.feeds.size(); ++i) {
    feeds.push_back(fmt::format("{}={}", graph_.graph.NameOf(step.spec.feeds[i]), ValueText(step.feeds[i])));
  }
  for (const Output fetch : step.spec.fetches) fetches.push_back(graph_.graph.NameOf(fetch));
  for (const NodeId target : step.spec.targets) targets.push_back(graph_.graph.node(target).name);
  return fmt::format("feeds {}; fetches {}; targets {}", fmt::join(feeds, ", "), fmt::join(fetches, ", "),
                     fmt::join(targets, ", "));
}

std::vector<Output> DeterminedVariables(const RandomGraph& random, const RunSpec& spec, NodeId failed) {
  const Graph& graph = random.graph;
  const absl::StatusOr<NeededNodes> found = FindNeeded(graph, spec);
  if (!found.ok()) return {};
  const auto is_needed = [&](NodeId id) { return found->needed[static_cast<std::size_t>(id)]; };
  std::vector<bool> before(found->needed.size()), after(found->needed.size());
  before[static_cast<std::size_t>(failed)] = after[static_cast<std::size_t>(failed)] = true;
  const auto for_each_input = [&](NodeId id, auto&& see) {
    for (const Output input : graph.node(id).inputs) {
      if (!std::ranges::binary_search(found->fed, input)) see(static_cast<std::size_t>(input.node));
    }
    for (const NodeId control : graph.node(id).control_inputs) see(static_cast<std::size_t>(control));
  };
  for (NodeId id = failed; id >= 0; --id) {
    const auto at = static_cast<std::size_t>(id);
    if (before[at]) for_each_input(id, [&](std::size_t input) { before[input] = true; });
  }
  for (NodeId id = failed + 1; id < graph.size(); ++id) {
    if (is_needed(id))
      for_each_input(id, [&](std::size_t input) {
        if (after[input]) after[static_cast<std::size_t>(id)] = true;
      });
  }
  std::vector<Output> out;
  for (std::size_t i = 0; i < random.variables.size(); ++i) {
    const bool is_determined = std::ranges::all_of(random.updates[i], [&](NodeId update) {
      const auto at = static_cast<std::size_t>(update);
      return !is_needed(update) || before[at] || after[at];
    });
    if (is_determined && graph.TypeOf(random.variables[i]) != DType::kResource) out.push_back(random.variables[i]);
  }
  return out;
}

bool Updates(const RandomGraph& random, const RunSpec& spec) {
  const absl::StatusOr<NeededNodes> found = FindNeeded(random.graph, spec);
  const auto is_needed = [&found](NodeId update) { return found->needed[static_cast<std::size_t>(update)]; };
  return found.ok() && std::ranges::any_of(random.updates, [&is_needed](const std::vector<NodeId>& updates) {
           return std::ranges::any_of(updates, is_needed);
         });
}

}  // namespace vigil::fakes

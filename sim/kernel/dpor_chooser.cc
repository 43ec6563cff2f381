// state_.nodes is the path of the run under way, as in DfsChooser; a choice of tasks knows which of them are wanted (by
// races), which have been tried and which sleep. After a run EndRun() finds its races and wants more; then the last
// choice that has a label left takes it.
#include "vigil/sim/kernel/dpor_chooser.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/check.h"

namespace vigil::sim {
namespace {

bool Among(const std::vector<DporState::Sleeper>& sleepers, std::string_view task) {
  return std::ranges::find(sleepers, task, &DporState::Sleeper::task) != sleepers.end();
}

// What was made after the choice has other numbers in other runs; nobody else knew of it.
Footprint OfObjects(const Footprint& footprint, ObjectId objects) {
  Footprint known = footprint;
  std::erase_if(known.touches,
                [objects](const Touch& touch) { return touch.object >= objects && touch.object < kNamedObjects; });
  return known;
}

}  // namespace

DporChooser::DporChooser(DporOptions options, DporState state) : options_(options), state_(std::move(state)) {}

std::size_t DporChooser::Choose(const ChoicePoint& point, std::span<const std::string_view> labels) {
  if (IsChoiceOfTasks(point.key)) return ChooseTask(point, labels);
  return options_.all_points ? ChooseData(point, labels.size()) : 0;
}

DporState::Node& DporChooser::Repeat(const ChoicePoint& point, std::size_t labels) {
  if (run_.depth + 1 == state_.nodes.size())
    run_.changed_from = run_.in_step ? run_.steps.size() - 1 : run_.steps.size();
  Node& node = state_.nodes[run_.depth++];
  // The same choices lead to the same point, or the world is not deterministic.
  VIGIL_CHECK(node.size == labels && node.point.starts_with(point.key));
  return node;
}

std::size_t DporChooser::ChooseData(const ChoicePoint& point, std::size_t labels) {
  if (blocked_) return 0;
  run_.draws = true;
  if (run_.depth < state_.nodes.size()) return Repeat(point, labels).taken;
  state_.nodes.push_back({.point = fmt::format("{}[{}]", point.key, point.count), .size = labels});
  ++run_.depth;
  return 0;
}

std::size_t DporChooser::ChooseTask(const ChoicePoint& point, std::span<const std::string_view> labels) {
  EndStep();
  if (blocked_) return 0;
  if (run_.blockers.size() != labels.size()) run_.blockers.assign(labels.size(), "");  // nobody observes
  run_.node_of_step = run_.depth;
  if (run_.depth < state_.nodes.size()) {
    Node& node = Repeat(point, labels.size());
    run_.sleepers = node.sleepers;
    run_.sleepers.insert(run_.sleepers.end(), node.were_tried.begin(), node.were_tried.end());
    run_.blockers.clear();
    return node.taken;
  }
  std::size_t taken = labels.size();
  for (std::size_t i = labels.size(); i-- > 0;) {
    if (run_.blockers[i].empty() && !Sleeps(labels[i])) taken = i;
  }
  if (taken == labels.size()) {
    const bool all_wait = std::ranges::none_of(run_.blockers, &std::string::empty);
    blocked_ = !all_wait;
    taken = 0;
  }
  if (blocked_) return 0;
  AddNode(point, labels, taken);
  return taken;
}

void DporChooser::AddNode(const ChoicePoint& point, std::span<const std::string_view> labels, std::size_t taken) {
  Node& node = state_.nodes.emplace_back();
  ++run_.depth;
  node.point = fmt::format("{}[{}]", point.key, point.count);
  node.of_tasks = true;
  node.labels.assign(labels.begin(), labels.end());
  node.size = labels.size();
  node.taken = taken;
  node.wanted.assign(labels.size(), 0);
  node.tried.assign(labels.size(), 0);
  node.wanted[taken] = 1;
  node.blockers = std::exchange(run_.blockers, {});
  node.sleepers = run_.sleepers;
  node.objects = run_.objects;
  node.footprint.everything = true;  // until it is known
}

void DporChooser::Follow(const ChoicePoint& point, std::span<const std::string_view> labels, std::size_t chosen) {
  const bool of_tasks = IsChoiceOfTasks(point.key);
  if (!of_tasks && !options_.all_points) return;
  if (run_.depth < state_.nodes.size()) {
    Repeat(point, labels.size());
    return;
  }
  if (!of_tasks) {
    ChooseData(point, labels.size());
    return;
  }
  run_.blockers.assign(labels.size(), "");
  AddNode(point, labels, chosen);
}

bool DporChooser::Sleeps(std::string_view task) const { return Among(run_.sleepers, task); }

// Observing ----------------------------------------------------------------------------------------------------------

void DporChooser::Offers(std::span<const std::string_view> blockers, ObjectId objects) {
  run_.blockers.assign(blockers.begin(), blockers.end());
  run_.objects = objects;
}

std::size_t DporChooser::NumberOf(std::string_view task) {
  const auto [it, added] = run_.numbers.try_emplace(std::string(task), run_.tasks.size());
  if (added) run_.tasks.emplace_back(task);
  return it->second;
}

void DporChooser::StepBegins(std::string_view task, ObjectId memory) {
  EndStep();
  // The only one that can run, and it sleeps.
  if (run_.node_of_step == Step::kNone && Sleeps(task)) blocked_ = true;
  if (blocked_) return;
  const std::size_t number = NumberOf(task);
  Step& step = run_.steps.emplace_back();
  step.task = number;
  step.node = std::exchange(run_.node_of_step, Step::kNone);
  if (const auto woken = run_.woken_by.find(number); woken != run_.woken_by.end()) {
    step.wakers = std::move(woken->second);
    run_.woken_by.erase(woken);
  }
  run_.in_step = true;
  run_.step.Begin(options_.guarded_memory ? 0 : memory);
}

void DporChooser::EndStep() {
  if (!std::exchange(run_.in_step, false)) return;
  Step& step = run_.steps.back();
  step.footprint = std::move(run_.step).End();
  const bool unsure = std::exchange(run_.draws, false);
  if (step.node != Step::kNone) {
    Node& node = state_.nodes[step.node];
    node.footprint = OfObjects(step.footprint, node.objects);
    node.footprint.everything = node.footprint.everything || unsure;
  }
  const std::string& task = run_.tasks[step.task];
  std::erase_if(run_.sleepers, [&](const Sleeper& sleeper) {
    return sleeper.task == task || Conflict(sleeper.footprint, step.footprint);
  });
}

void DporChooser::Woke(std::string_view task) {
  if (run_.in_step) run_.woken_by[NumberOf(task)].push_back(run_.steps.size() - 1 - run_.stretches.back());
}

void DporChooser::Touched(ObjectId object, Access access) {
  if (run_.in_step) run_.step.Touch(object, access);
}

void DporChooser::TouchedEverything() {
  if (run_.in_step) run_.step.TouchEverything();
}

void DporChooser::Ended(std::string_view task) {
  if (run_.in_step) run_.steps.back().ended.push_back(NumberOf(task));
}

void DporChooser::WaitsFor(ObjectId condition) {
  if (run_.in_step) run_.step.WaitsFor(condition);
}

void DporChooser::CameBackFrom(ObjectId condition) {
  if (run_.in_step) run_.step.CameBackFrom(condition);
}

void DporChooser::TimePasses() {
  EndStep();
  run_.woken_by.clear();
  if (run_.stretches.back() != run_.steps.size()) run_.stretches.push_back(run_.steps.size());
}

// Between runs -------------------------------------------------------------------------------------------------------

void DporChooser::EndRun() {
  EndStep();
  run_.stretches.push_back(run_.steps.size());
  for (std::size_t i = 0; i + 1 < run_.stretches.size(); ++i) {
    const std::size_t begin = run_.stretches[i];
    const std::size_t end = run_.stretches[i + 1];
    if (end <= run_.changed_from || begin == end) continue;
    const auto obstacle = [&](std::size_t first, std::size_t task) {
      const Step& step = run_.steps[begin + first];
      if (step.node == Step::kNone) return Obstacle::kNone;
      const Node& node = state_.nodes[step.node];
      const auto label = std::ranges::find(node.labels, run_.tasks[task]);
      if (label == node.labels.end()) return Obstacle::kNone;
      const std::string& holder = node.blockers[static_cast<std::size_t>(label - node.labels.begin())];
      if (holder.empty()) return Obstacle::kNone;
      return holder == run_.tasks[step.task] ? Obstacle::kHeldByFirst : Obstacle::kHeldByOther;
    };
    for (const Race& race : RacesOf({&run_.steps[begin], end - begin}, obstacle)) Plan(race, begin);
  }
  // Of what ends others, or the run, nobody knows what those would have done.
  for (const Step& step : run_.steps) {
    if (step.node == Step::kNone) continue;
    Node& node = state_.nodes[step.node];
    for (const std::size_t task : step.ended) {
      const auto label = std::ranges::find(node.labels, run_.tasks[task]);
      if (label != node.labels.end()) node.wanted[static_cast<std::size_t>(label - node.labels.begin())] = 1;
    }
  }
}

void DporChooser::Plan(const Race& race, std::size_t first_step) {
  const Step& first = run_.steps[first_step + race.first];
  if (first.node == Step::kNone) return;  // nobody else could run
  Node& node = state_.nodes[first.node];
  const std::string& second = run_.tasks[run_.steps[first_step + race.second].task];
  std::size_t chosen = node.size;
  for (const std::size_t task : race.initials) {
    const std::string& name = run_.tasks[task];
    if (Among(node.sleepers, name) || Among(node.were_tried, name)) return;
    const auto found = std::ranges::find(node.labels, name);
    if (found == node.labels.end()) continue;
    const auto label = static_cast<std::size_t>(found - node.labels.begin());
    if (node.wanted[label] != 0) return;
    if (node.blockers[label].empty() && (chosen == node.size || name == second)) chosen = label;
  }
  if (chosen < node.size) {
    node.wanted[chosen] = 1;
    return;
  }
  for (std::size_t i = 0; i < node.size; ++i) node.wanted[i] = node.blockers[i].empty() ? 1 : node.wanted[i];
}

// To the next label of a choice, if there is one.
bool DporChooser::Advance(Node& node) {
  if (!node.of_tasks) return ++node.taken < node.size;
  node.tried[node.taken] = 1;
  node.were_tried.push_back({node.labels[node.taken], std::move(node.footprint)});
  node.footprint = {.touches = {}, .everything = true};
  for (std::size_t i = 0; i < node.size; ++i) {
    if (node.wanted[i] == 0 || node.tried[i] != 0 || Among(node.sleepers, node.labels[i])) continue;
    node.taken = i;
    return true;
  }
  return false;
}

bool DporChooser::Next() {
  if (!std::exchange(run_.broken_off, false)) {
    VIGIL_CHECK(run_.depth == state_.nodes.size());  // a run ended before it had repeated what it was to
    EndRun();
  }
  if (blocked_) ++state_.blocked;
  while (!state_.nodes.empty() && !Advance(state_.nodes.back())) state_.nodes.pop_back();
  run_ = {};
  blocked_ = false;
  if (state_.nodes.empty()) {
    state_.exhausted = true;
    return false;
  }
  if (options_.max_runs != 0 && state_.runs >= options_.max_runs) return false;
  ++state_.runs;
  return true;
}

void DporChooser::BreakOff() {
  EndStep();
  state_.nodes.resize(run_.depth);
  for (Node& node : state_.nodes) {
    for (std::size_t i = 0; node.of_tasks && i < node.size; ++i) node.wanted[i] = 1;
  }
  run_.broken_off = true;
}

}  // namespace vigil::sim

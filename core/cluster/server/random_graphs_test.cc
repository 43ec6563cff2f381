// What a cluster gives for random graphs is what one process gives: all values, which steps fail and with what, and
// what a failed step has done to the variables where that is determined. See random_graph.h.
//
// A failure names its seed and the shortest graph of that seed that shows it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/server/random_graph.h"
#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/session/plan.h"

namespace vigil {
namespace {

constexpr int kWorkers = 2;
// A step that waits for ever fails by this, in virtual time.
constexpr std::int64_t kPatienceMs = 1000;

// A kind of step.
struct Kind {
  RunSpec spec;  // all placeholders are fed first: numbers, choices, what checks look at
  bool may_fetch_dead = false;
  bool may_read_dead = false;  // a variable for a branch that is not taken
};

struct Step {
  RunSpec spec;
  std::vector<Tensor> feeds;
  bool may_fetch_dead = false;
  bool may_read_dead = false;
  NodeId fails = kNoNode;  // the only check that does not hold
  std::string text;
};

// What of a graph is run, and with what.
class StepDrawer {
 public:
  StepDrawer(const RandomGraph& graph, std::uint64_t seed) : graph_(graph), draws_(seed) {
    for (int i = 0; i < 4; ++i) kinds_.push_back(DrawKind());
  }

  Step Next() {
    Step step;
    const Kind& kind = kinds_[draws_.Below(kinds_.size())];
    step.spec = kind.spec;
    step.may_fetch_dead = kind.may_fetch_dead;
    step.may_read_dead = kind.may_read_dead;
    // One reason to fail at most, else it would not be determined which counts.
    const std::size_t wrong = draws_.Below(10);
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

 private:
  template <typename T>
  T Pick(const std::vector<T>& from) {
    return from[draws_.Below(from.size())];
  }
  bool Chance(std::size_t percent) { return draws_.Below(100) < percent; }
  bool IsOfPair(Output output) const {
    return std::ranges::find(graph_.pairs, output.node, &Output::node) != graph_.pairs.end();
  }

  // Which of those nodes such a step needs.
  std::vector<NodeId> Needed(const std::vector<NodeId>& nodes, const RunSpec& spec) const {
    const absl::StatusOr<NeededNodes> found = FindNeeded(graph_.graph, spec);
    std::vector<NodeId> needed;
    std::ranges::copy_if(nodes, std::back_inserter(needed),
                         [&](NodeId id) { return found.ok() && found->needed[static_cast<std::size_t>(id)]; });
    return needed;
  }

  Kind DrawKind() {
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
  Output Variable() {
    const Output variable = Pick(graph_.variables);
    return graph_.graph.TypeOf(variable) == DType::kResource ? graph_.values[0] : variable;
  }

  void AddFeed(RunSpec& spec, Output feed) const {
    if (graph_.graph.TypeOf(feed) != DType::kDouble) return;
    if (std::ranges::find(spec.feeds, feed) == spec.feeds.end()) spec.feeds.push_back(feed);
  }

  std::string Text(const Step& step) const {
    std::vector<std::string> feeds, fetches, targets;
    for (std::size_t i = 0; i < step.feeds.size(); ++i) {
      feeds.push_back(fmt::format("{}={}", graph_.graph.NameOf(step.spec.feeds[i]), step.feeds[i].Describe()));
    }
    for (const Output fetch : step.spec.fetches) fetches.push_back(graph_.graph.NameOf(fetch));
    for (const NodeId target : step.spec.targets) targets.push_back(graph_.graph.node(target).name);
    return fmt::format("feeds {}; fetches {}; targets {}", fmt::join(feeds, ", "), fmt::join(fetches, ", "),
                       fmt::join(targets, ", "));
  }

  const RandomGraph& graph_;
  SplitMix64 draws_;
  std::vector<Kind> kinds_;
};

// The variables of which it is determined what a step that failed at `failed` has done to them: whatever updates them
// has to run before it, or after it.
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

std::string Show(const RunOutcome& outcome) {
  if (!outcome.status.ok()) return Text(outcome.status);
  std::vector<std::string> values;
  for (const Tensor& value : outcome.values) values.push_back(value.Describe());
  return fmt::format("{}", fmt::join(values, ", "));
}

// Sessions of both workers on one graph, and beside each the session of one process that stands for it.
class BothWays {
 public:
  explicit BothWays(std::uint64_t seed, int size)
      : seed_(seed), size_(size), cluster_(fake_.env(), {{"ps", 1}, {"worker", kWorkers}}) {
    cluster_.StartAll();
  }
  ~BothWays() {
    for (auto& pair : pairs_) pair.cluster.reset();
    fake_.tasks.EndAll();
  }

  // What differs first; nothing if all is the same.
  std::optional<std::string> Difference() {
    Open(false);
    for (int worker = 0; worker < kWorkers; ++worker) TrySteps(worker, worker == 0 ? 1 : 0, false);
    for (int worker = 0; worker < kWorkers; ++worker) Initialize(worker);
    SplitMix64 draws(seed_ * 7 + 5);
    for (int i = 0; i < 12; ++i) TrySteps(static_cast<int>(draws.Below(kWorkers)), 1, true);
    // Other sessions with another graph, in as many bytes.
    Open(true);
    for (int worker = 0; worker < kWorkers; ++worker) {
      Initialize(worker);
      TrySteps(worker, 2, true);
    }
    return difference_;
  }

 private:
  struct Pair {
    std::unique_ptr<RandomGraph> alone_graph;
    std::unique_ptr<Session> alone, cluster;
    std::unique_ptr<StepDrawer> steps;
  };

  void Open(bool other) {
    for (Pair& pair : pairs_) pair = {};
    fake_.tasks.RunReady();
    graph_ = std::make_unique<RandomGraph>(RandomGraphOptions{.seed = seed_, .size = size_, .other = other});
    const SessionConfig config{.operation_timeout_in_ms = kPatienceMs};
    for (int worker = 0; worker < kWorkers; ++worker) {
      Pair& pair = pairs_[worker];
      pair.alone_graph = std::make_unique<RandomGraph>(
          RandomGraphOptions{.seed = seed_, .size = size_, .other = other, .stands_for_worker = worker});
      pair.alone = NewDirectSession(fake_.env(), pair.alone_graph->graph, {.shared_resources = shared_});
      const bool is_remote = (seed_ + static_cast<std::uint64_t>(worker)) % 4 == 0;
      pair.cluster = is_remote ? cluster_.NewRemoteSession("worker", worker, graph_->graph, config)
                               : cluster_.NewSession("worker", worker, graph_->graph, config);
      pair.steps = std::make_unique<StepDrawer>(*graph_, seed_ * 31 + static_cast<std::uint64_t>(worker));
    }
  }

  static RunOutcome Run(Session& session, const RunSpec& spec, const std::vector<Tensor>& feeds) {
    RunOutcome out;
    out.status = session.Run({.spec = spec, .feed_values = feeds}, &out.values);
    return out;
  }

  void Initialize(int worker) { Compare(worker, {.spec = {.targets = {graph_->init}}, .text = "init"}, true); }

  void TrySteps(int worker, int count, bool initialized) {
    for (int i = 0; i < count && !difference_.has_value(); ++i) {
      const Step step = pairs_[worker].steps->Next();
      const bool failed = Compare(worker, step, initialized);
      if (!failed || difference_.has_value()) continue;
      fake_.tasks.RunReady();  // what the step still does
      if (initialized && step.fails != kNoNode && !step.may_fetch_dead) {
        Compare(worker,
                {.spec = {.fetches = DeterminedVariables(*graph_, step.spec, step.fails)},
                 .text = fmt::format("variables after: {}", step.text)},
                true);
      }
      if (initialized) Initialize(worker);
    }
  }

  static bool IsSame(const RunOutcome& alone, const RunOutcome& cluster) {
    return CodeOf(cluster.status) == CodeOf(alone.status) && (!alone.status.ok() || cluster.values == alone.values);
  }

  // Before variables have values a step may have several reasons to fail. And the task of a variable sends its value to
  // another one without knowing whether who wants it is dead, as TensorFlow's do.
  static bool IsSameBefore(const Step& step, const RunOutcome& alone, const RunOutcome& cluster) {
    const Code code = CodeOf(cluster.status);
    if (!alone.status.ok()) {
      return code == Code::kFailedPrecondition || code == Code::kNotFound || code == Code::kInvalidArgument;
    }
    return IsSame(alone, cluster) || (step.may_read_dead && code == Code::kFailedPrecondition);
  }

  // Whether the step has failed.
  bool Compare(int worker, const Step& step, bool initialized) {
    if (difference_.has_value()) return false;
    const RunOutcome alone = Run(*pairs_[worker].alone, step.spec, step.feeds);
    const RunOutcome cluster = Run(*pairs_[worker].cluster, step.spec, step.feeds);
    ++runs_;
    const bool is_same = initialized ? IsSame(alone, cluster) : IsSameBefore(step, alone, cluster);
    if (!is_same) {
      difference_ = fmt::format("run {} ({}), worker {}\n{}\nalone:   {}\ncluster: {}\n{}", runs_,
                                initialized ? "initialized" : "not initialized", worker, step.text, Show(alone),
                                Show(cluster), graph_->Describe());
    }
    return !alone.status.ok();
  }

  const std::uint64_t seed_;
  const int size_;
  fakes::FakeEnv fake_;
  const std::shared_ptr<ResourceManager> shared_ = std::make_shared<ResourceManager>(fake_.env());
  TestCluster cluster_;
  std::unique_ptr<RandomGraph> graph_;
  Pair pairs_[kWorkers];
  std::optional<std::string> difference_;
  int runs_ = 0;
};

std::optional<std::string> DifferenceOf(std::uint64_t seed, int size) { return BothWays(seed, size).Difference(); }

TEST(RandomGraphsTest, AClusterGivesWhatOneProcessGives) {
  constexpr std::uint64_t kSeeds = 40;
  constexpr int kSizes[] = {8, 14, 22, 30};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    int size = kSizes[seed % std::size(kSizes)];
    std::optional<std::string> found = DifferenceOf(seed, size);
    if (!found.has_value()) continue;
    for (int shorter = 0; shorter < size; ++shorter) {
      if (std::optional<std::string> small = DifferenceOf(seed, shorter); small.has_value()) {
        found = std::move(small);
        size = shorter;
      }
    }
    FAIL() << "seed " << seed << ", size " << size << ": " << *found;
  }
}

}  // namespace
}  // namespace vigil

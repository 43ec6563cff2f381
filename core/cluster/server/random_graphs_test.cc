// What a cluster gives for random graphs is what one process gives: all values, which steps fail and with what, and
// what a failed step has done to the variables where that is determined. See fakes/graphs.
//
// A failure names its seed and the shortest graph of that seed that shows it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/graphs/random_graph.h"
#include "vigil/fakes/graphs/random_steps.h"

namespace vigil {
namespace {

using fakes::RandomGraph;
using fakes::RandomGraphOptions;
using fakes::RandomStep;
using fakes::StepAnswer;
using fakes::StepDrawer;

constexpr int kWorkers = 2;
// A step that waits for ever fails by this, in virtual time.
constexpr std::int64_t kPatienceMs = 1000;

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
    graph_->graph.Finalize();
    const SessionConfig config{.operation_timeout_in_ms = kPatienceMs};
    for (int worker = 0; worker < kWorkers; ++worker) {
      Pair& pair = pairs_[worker];
      pair.alone_graph = std::make_unique<RandomGraph>(RandomGraphOptions{
          .seed = seed_, .size = size_, .other = other, .stands_for = fmt::format("worker{}", worker)});
      pair.alone_graph->graph.Finalize();
      pair.alone = NewDirectSession(fake_.env(), pair.alone_graph->graph, {.shared_resources = shared_});
      const bool is_remote = (seed_ + static_cast<std::uint64_t>(worker)) % 4 == 0;
      pair.cluster = is_remote ? cluster_.NewRemoteSession("worker", worker, graph_->graph, config)
                               : cluster_.NewSession("worker", worker, graph_->graph, config);
      pair.steps = std::make_unique<StepDrawer>(*graph_, seed_ * 31 + static_cast<std::uint64_t>(worker));
    }
  }

  static StepAnswer Run(Session& session, const RunSpec& spec, const std::vector<Tensor>& feeds) {
    StepAnswer out;
    out.status = session.Run({.spec = spec, .feed_values = feeds}, &out.values);
    return out;
  }

  void Initialize(int worker) { Compare(worker, {.spec = {.targets = {graph_->init}}, .text = "init"}, true); }

  void TrySteps(int worker, int count, bool initialized) {
    for (int i = 0; i < count && !difference_.has_value(); ++i) {
      const RandomStep step = pairs_[worker].steps->Next();
      const bool failed = Compare(worker, step, initialized);
      if (!failed || difference_.has_value()) continue;
      fake_.tasks.RunReady();  // what the step still does
      if (initialized && step.fails != kNoNode && !step.may_fetch_dead) {
        Compare(worker,
                {.spec = {.fetches = fakes::DeterminedVariables(*graph_, step.spec, step.fails)},
                 .text = fmt::format("variables after: {}", step.text)},
                true);
      }
      if (initialized) Initialize(worker);
    }
  }

  // Whether the step has failed.
  bool Compare(int worker, const RandomStep& step, bool initialized) {
    if (difference_.has_value()) return false;
    const StepAnswer alone = Run(*pairs_[worker].alone, step.spec, step.feeds);
    const StepAnswer cluster = Run(*pairs_[worker].cluster, step.spec, step.feeds);
    ++runs_;
    if (!AreSameAnswers(step, initialized, alone, cluster)) {
      difference_ = fmt::format("run {} ({}), worker {}\n{}\nalone:   {}\ncluster: {}\n{}", runs_,
                                initialized ? "initialized" : "not initialized", worker, step.text, AnswerText(alone),
                                AnswerText(cluster), graph_->Describe());
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

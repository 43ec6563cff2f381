// Equal seeds and choices give equal runs; anything else shows in the hash; a recorded run replays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/atomic.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/env/notification.h"
#include "vigil/sim/world.h"

namespace vigil::sim {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

struct Recorded {
  std::uint64_t hash = 0;
  ChoiceMap choices;
  std::vector<std::string> events;
};

struct Changes {
  Duration extra_sleep{0};
  bool extra_yield = false;
  double value = 0;
};

// Three tasks on two nodes that compete for a mutex, sleep, draw and emit.
Recorded Busy(Chooser* chooser, const Changes& changes = {}, StackPool* stacks = nullptr,
              Preempt preempt = Preempt::kNowhere) {
  World world({.chooser = chooser, .seed = 5, .stacks = stacks, .preempt = preempt});
  std::vector<std::unique_ptr<Mutex>> mutexes;
  for (const std::string name : {"chief", "worker"}) {
    Node& node = world.AddNode(name);
    Mutex& mutex = *mutexes.emplace_back(node.env().tasks->NewMutex("m"));
    for (int t = 0; t < 3; ++t) {
      node.Spawn("t" + std::to_string(t), [&world, &mutex, env = node.env(), changes, t] {
        for (int round = 0; round < 5; ++round) {
          MutexLock lock(mutex);
          const auto nap = milliseconds(env.random->Draw("nap") % 3);
          env.tasks->SleepUntil(DeadlineAfter(env, nap));
          env.Emit({.kind = EventKind::kNote, .index = t, .value = changes.value, .subject = "round"});
        }
        if (changes.extra_yield && t == 2) world.AdvanceBy(Duration(0));
        world.AdvanceBy(milliseconds(1) + changes.extra_sleep);
      });
    }
  }
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  Recorded recorded{world.hash(), world.ChoicesMade(), {}};
  for (const TraceRecord& record : world.trace()) recorded.events.emplace_back(world.trace().TaskLabel(record));
  return recorded;
}

TEST(Determinism, ASeedGivesOneRun) {
  std::set<std::uint64_t> hashes;
  StackPool stacks;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomChooser first(seed);
    RandomChooser second(seed);
    const Recorded a = Busy(&first, {}, &stacks);
    const Recorded b = Busy(&second);  // on stacks of its own
    EXPECT_EQ(a.hash, b.hash);
    EXPECT_EQ(a.events, b.events);
    EXPECT_EQ(a.choices, b.choices);
    hashes.insert(a.hash);
  }
  EXPECT_EQ(hashes.size(), 20u);
}

TEST(Determinism, ARecordedRunReplays) {
  for (const Preempt preempt : {Preempt::kNowhere, Preempt::kAtCalls, Preempt::kAtSpins}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      RandomChooser random(seed);
      const Recorded recorded = Busy(&random, {}, nullptr, preempt);
      ReplayChooser replay(recorded.choices);
      const Recorded again = Busy(&replay, {}, nullptr, preempt);
      EXPECT_EQ(again.hash, recorded.hash);
      EXPECT_EQ(again.events, recorded.events);
      EXPECT_EQ(again.choices, recorded.choices);
      EXPECT_THAT(replay.UnusedEntries(), IsEmpty());
      EXPECT_THAT(replay.RefusedEntries(), IsEmpty());
    }
  }
}

TEST(Determinism, NoChooserIsAnEmptyRecording) {
  ReplayChooser replay(ChoiceMap{});
  EXPECT_EQ(Busy(nullptr).hash, Busy(&replay).hash);
}

TEST(Determinism, TimeAloneChangesTheHash) {
  const auto slept = [](Duration duration) {
    World world({});
    world.AddNode("chief").Spawn("main", [&] { world.AdvanceBy(duration); });
    world.Run();
    return world.hash();
  };
  EXPECT_EQ(slept(Duration(1)), slept(Duration(1)));
  EXPECT_NE(slept(Duration(1)), slept(Duration(2)));
}

TEST(Determinism, OneDifferenceChangesTheHash) {
  const std::uint64_t hash = Busy(nullptr).hash;
  EXPECT_NE(Busy(nullptr, {.extra_sleep = Duration(1)}).hash, hash) << "a virtual time";
  EXPECT_NE(Busy(nullptr, {.extra_yield = true}).hash, hash) << "a switch";
  EXPECT_NE(Busy(nullptr, {.value = 1}).hash, hash) << "an event";

  // Each single choice, taken otherwise.
  RandomChooser random(1);
  const ChoiceMap choices = Busy(&random).choices;
  ReplayChooser same(choices);
  const std::uint64_t recorded = Busy(&same).hash;
  int changed = 0;
  for (const auto& [key, labels] : choices) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      for (const std::string label : {"chief/t0", "chief/t1", "chief/t2", "worker/t0", "worker/t1", "worker/t2"}) {
        if (labels[i] == label) continue;
        ChoiceMap other = choices;
        other[key][i] = label;
        ReplayChooser replay(other);
        const std::uint64_t replayed = Busy(&replay).hash;
        // Not on offer: calm instead, which may have been the recorded one.
        if (!replay.RefusedEntries().empty()) continue;
        EXPECT_NE(replayed, recorded) << key << " " << i << " " << label;
        ++changed;
      }
    }
  }
  EXPECT_GT(changed, 10);
}

// Walks through every schedule: depth first, by the numbers of the choices.
class Exhaustive final : public Chooser {
 public:
  std::size_t Choose(const ChoicePoint&, std::span<const std::string_view> labels) override {
    if (at_ == path_.size()) path_.push_back({0, labels.size()});
    return path_[at_++].chosen;
  }
  // False: all were tried.
  bool Next() {
    at_ = 0;
    while (!path_.empty() && path_.back().chosen + 1 == path_.back().labels) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().chosen;
    return true;
  }

 private:
  struct Step {
    std::size_t chosen;
    std::size_t labels;
  };
  std::vector<Step> path_;
  std::size_t at_ = 0;
};

// What tasks count in, each in its way.
struct Counter {
  std::unique_ptr<Mutex> mutex;
  SpinLock lock;
  int count = 0;
  Atomic<int> lockless{0};
};
using Add = void (*)(Counter&);

// Read and written under the mutex, but not under one lock.
void AddUnderMutexes(Counter& counter) {
  int read = 0;
  {
    MutexLock lock(*counter.mutex);
    read = counter.count;
  }
  MutexLock lock(*counter.mutex);
  counter.count = read + 1;
}
void AddUnderSpins(Counter& counter) {
  int read = 0;
  {
    SpinGuard lock(counter.lock);
    read = counter.count;
  }
  SpinGuard lock(counter.lock);
  counter.count = read + 1;
}
void AddLockless(Counter& counter) { counter.lockless.store(counter.lockless.load() + 1); }
void AddLocklessUnderOneSpin(Counter& counter) {
  SpinGuard lock(counter.lock);
  AddLockless(counter);
}
void AddUnderSpinsAndAMutex(Counter& counter) {
  MutexLock lock(*counter.mutex);
  AddUnderSpins(counter);
}

// What these tasks can leave.
std::set<int> Outcomes(Preempt preempt, const std::vector<Add>& tasks) {
  std::set<int> outcomes;
  Exhaustive chooser;
  do {
    World world({.chooser = &chooser, .preempt = preempt});
    Node& node = world.AddNode("n");
    Counter counter{.mutex = node.env().tasks->NewMutex("m")};
    for (const Add add : tasks) node.Spawn("t", [add, &counter] { add(counter); });
    EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
    outcomes.insert(counter.count + counter.lockless.load());
  } while (chooser.Next());
  return outcomes;
}
std::set<int> OutcomesOfTwo(Preempt preempt, Add add) { return Outcomes(preempt, {add, add}); }

TEST(Determinism, EveryScheduleCanBeTried) {
  EXPECT_THAT(OutcomesOfTwo(Preempt::kNowhere, AddUnderMutexes), ElementsAre(2));     // nobody gives way
  EXPECT_THAT(OutcomesOfTwo(Preempt::kAtCalls, AddUnderMutexes), ElementsAre(1, 2));  // the lost update is found
}

TEST(Determinism, SpinLocksAndAtomicsArePointsToo) {
  EXPECT_THAT(OutcomesOfTwo(Preempt::kAtCalls, AddUnderSpins), ElementsAre(2));
  EXPECT_THAT(OutcomesOfTwo(Preempt::kAtSpins, AddUnderSpins), ElementsAre(1, 2));
  EXPECT_THAT(OutcomesOfTwo(Preempt::kAtCalls, AddLockless), ElementsAre(2));
  EXPECT_THAT(OutcomesOfTwo(Preempt::kAtSpins, AddLockless), ElementsAre(1, 2));
}

// Who came between would wait for the lock for ever.
TEST(Determinism, NobodyComesBetweenWhoHoldsASpinLock) {
  EXPECT_THAT(OutcomesOfTwo(Preempt::kAtSpins, AddLocklessUnderOneSpin), ElementsAre(2));
}

// What comes from the network, which cannot wait, may want the mutex.
TEST(Determinism, NobodyComesBetweenAtASpinLockWhoseHolderHasAMutex) {
  const Add twice = [](Counter& counter) {
    AddUnderSpins(counter);
    AddUnderSpinsAndAMutex(counter);
  };
  // 2: who holds no mutex is come between.
  EXPECT_THAT(Outcomes(Preempt::kAtSpins, {AddUnderSpinsAndAMutex, twice}), ElementsAre(2, 3));
}

TEST(DeterminismDeathTest, WhoHoldsASpinLockMayNotWait) {
  World world({});
  Node& node = world.AddNode("n");
  SpinLock lock;
  node.Spawn("t", [&] {
    SpinGuard guard(lock);
    world.AdvanceBy(milliseconds(1));
  });
  EXPECT_DEATH(world.Run(), "spin_locks_held");
}

TEST(Determinism, TheCalmScheduleIsFirstComeFirstServed) {
  const std::vector<std::string> events = Busy(nullptr).events;
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events, Busy(nullptr).events);
}

TEST(Determinism, ChoicesOfAComponentHaveItsOwnKey) {
  const std::vector<std::string_view> labels{"1ms", "9ms"};
  ReplayChooser chooser(ChoiceMap{{"net/a>b/latency", {"9ms"}}, {"n/main/fault", {"9ms"}}});
  World world({.chooser = &chooser});
  std::vector<std::size_t> chosen;
  world.AddNode("n").Spawn("main", [&] {
    chosen.push_back(world.Choose("net", "a>b", "latency", labels));
    chosen.push_back(world.Choose("fault", labels));
    chosen.push_back(world.Choose("fault", labels));
  });
  world.Run();
  EXPECT_THAT(chosen, ElementsAre(1, 1, 0));
  EXPECT_THAT(chooser.UnusedEntries(), IsEmpty());
}

}  // namespace
}  // namespace vigil::sim

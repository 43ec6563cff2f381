// Partial-order reduction against plain depth-first search: of small programs both find the same ends and the same
// orders (step_order.h), and the reduced search plays each of these once.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "vigil/core/base/atomic.h"
#include "vigil/core/env/network.h"
#include "vigil/core/env/notification.h"
#include "vigil/sim/kernel/dfs_chooser.h"
#include "vigil/sim/kernel/dpor_chooser.h"
#include "vigil/sim/kernel/step_order.h"
#include "vigil/sim/world.h"

namespace vigil::sim {
namespace {

using std::chrono::milliseconds;

// Sets the stage; returns what there is to say at the end.
using Program = std::function<std::function<std::string()>(World&)>;

struct Found {
  std::set<std::string> ends;
  std::set<std::uint64_t> orders;
  std::uint64_t runs = 0;
  std::uint64_t blocked = 0;
  bool all = false;
};

struct SearchOptions {
  Preempt preempt = Preempt::kNowhere;
  bool all_points = false;
  bool guarded_memory = false;
  std::uint64_t most = 200'000;
};

std::string Play(const Program& program, World& world) {
  const std::function<std::string()> end = program(world);
  const WorldResult result = world.Run();
  const char* const verdict = result.verdict == WorldVerdict::kDone       ? "done"
                              : result.verdict == WorldVerdict::kStopped  ? "stopped"
                              : result.verdict == WorldVerdict::kDeadlock ? "deadlock"
                                                                          : "broken off";
  return fmt::format("{}: {}", verdict, end());
}

Found Plainly(const Program& program, const SearchOptions& how) {
  Found found;
  StackPool stacks;
  DfsChooser chooser({.max_runs = how.most,
                      .only = how.all_points
                                  ? std::vector<std::string>()
                                  : std::vector<std::string>(std::begin(kChoicesOfTasks), std::end(kChoicesOfTasks))});
  do {
    StepOrder order(how.guarded_memory);
    World world({.chooser = &chooser, .stacks = &stacks, .preempt = how.preempt, .steps = &order});
    found.ends.insert(Play(program, world));
    found.orders.insert(order.Hash());
  } while (chooser.Next());
  found.runs = chooser.runs();
  found.all = chooser.exhausted();
  return found;
}

Found Reduced(const Program& program, const SearchOptions& how) {
  Found found;
  StackPool stacks;
  DporChooser chooser({.max_runs = how.most, .all_points = how.all_points, .guarded_memory = how.guarded_memory});
  bool more = true;
  while (more) {
    {
      StepOrder order(how.guarded_memory, &chooser);
      World world({.chooser = &chooser, .stacks = &stacks, .preempt = how.preempt, .steps = &order});
      const std::string end = Play(program, world);
      if (!chooser.blocked()) {
        found.ends.insert(end);
        found.orders.insert(order.Hash());
      }
    }
    more = chooser.Next();
  }
  found.runs = chooser.runs();
  found.blocked = chooser.blocked_runs();
  found.all = chooser.exhausted();
  return found;
}

// Both ways; the reduced search finds what the plain one does. Returns what the former was like.
Found Same(const Program& program, const SearchOptions& how) {
  const Found plain = Plainly(program, how);
  Found reduced = Reduced(program, how);
  EXPECT_TRUE(plain.all);
  EXPECT_TRUE(reduced.all);
  EXPECT_EQ(reduced.ends, plain.ends);
  EXPECT_EQ(reduced.orders, plain.orders);
  EXPECT_LE(reduced.runs, plain.runs);
  return reduced;
}

// An object that tasks tell of as they use it.
struct Shared {
  explicit Shared(World& w) : world(w), object(w.scheduler().NewObject()) {}
  std::string Read() {
    world.scheduler().Touch(object, Access::kRead);
    return value;
  }
  void Add(const std::string& text) {
    world.scheduler().Touch(object, Access::kWrite);
    value += text;
  }
  World& world;
  const ObjectId object;
  std::string value;
};

// One changes what all others look at once: each does so before or after, 2^n courses, and no order among them counts.
TEST(DporChooser, OfReadersOnlyTheirOrderWithTheWriterCounts) {
  for (const int readers : {1, 2, 3, 4, 7}) {
    const Program program = [readers](World& world) {
      Node& node = world.AddNode("n");
      auto x = std::make_shared<Shared>(world);
      auto saw = std::make_shared<std::vector<std::string>>(readers);
      node.Spawn("writer", [x] { x->Add("x"); });
      for (int i = 0; i < readers; ++i) {
        node.Spawn(fmt::format("r{}", i), [x, saw, i] { (*saw)[static_cast<std::size_t>(i)] = x->Read(); });
      }
      return [saw] { return fmt::format("{}", fmt::join(*saw, ",")); };
    };
    const Found found = Reduced(program, {.guarded_memory = true});
    EXPECT_EQ(found.ends.size(), std::size_t{1} << readers);
    EXPECT_EQ(found.runs - found.blocked, std::uint64_t{1} << readers);
    EXPECT_EQ(found.blocked, 0u);
    if (readers <= 4) Same(program, {.guarded_memory = true});
  }
}

// `tasks` tasks of `steps` steps each, on nodes of their own or on one; what they did, by node.
Program Steps(int tasks, int steps, bool nodes) {
  return [=](World& world) {
    auto orders = std::make_shared<std::vector<std::string>>(nodes ? tasks : 1);
    for (int t = 0; t < tasks; ++t) {
      const std::string name(1, static_cast<char>('a' + t));
      const std::size_t place = nodes ? static_cast<std::size_t>(t) : 0;
      const std::string host = fmt::format("n{}", place);
      Node* const known = world.FindNode(host);
      Node& node = known != nullptr ? *known : world.AddNode(host);
      node.Spawn(name, [&world, orders, name, steps, place] {
        for (int i = 0; i < steps; ++i) {
          if (i > 0) world.AdvanceBy(Duration(0));
          (*orders)[place] += name;
        }
      });
    }
    return [orders] { return fmt::format("{}", fmt::join(*orders, ",")); };
  };
}

TEST(DporChooser, TasksOfOneNodeShareItsMemoryAndThoseOfOthersDoNot) {
  EXPECT_EQ(Same(Steps(2, 3, false), {}).runs, 20u);
  EXPECT_EQ(Same(Steps(3, 2, false), {}).runs, 90u);
  EXPECT_EQ(Same(Steps(3, 2, true), {}).runs, 1u);
  EXPECT_EQ(Same(Steps(2, 5, true), {.preempt = Preempt::kAtCalls}).runs, 1u);
}

TEST(DporChooser, FindsEveryOrderOfThoseThatWaitForAMutex) {
  const Program program = [](World& world) {
    Node& node = world.AddNode("n");
    std::shared_ptr<Mutex> mutex = node.env().tasks->NewMutex("m");
    auto order = std::make_shared<std::string>();
    for (const char* const name : {"a", "b", "c"}) {
      node.Spawn(name, [&world, mutex, order, name] {
        MutexLock lock(*mutex);
        *order += name;
        world.AdvanceBy(milliseconds(*name == 'a' ? 1 : 0));  // the others come meanwhile
        *order += name;
      });
    }
    return [order] { return *order; };
  };
  for (const Preempt preempt : {Preempt::kNowhere, Preempt::kAtCalls}) {
    for (const bool guarded : {false, true}) {
      const Found found = Same(program, {.preempt = preempt, .guarded_memory = guarded});
      EXPECT_EQ(found.ends.size(), 6u);
      EXPECT_LE(found.runs, guarded ? 30u : 1000u);
    }
  }
}

// Also where tasks are taken to share only what they tell of.
TEST(DporChooser, WhatIsSharedWithoutAMutexIsToldOf) {
  const Program program = [](World& world) {
    Node& node = world.AddNode("n");
    auto count = std::make_shared<Atomic<int>>(0);
    for (const char* const name : {"a", "b"}) node.Spawn(name, [count] { count->store(count->load() + 1); });
    return [count] { return std::to_string(count->load()); };
  };
  for (const bool guarded : {false, true}) {
    EXPECT_EQ(Same(program, {.preempt = Preempt::kAtSpins, .guarded_memory = guarded}).ends.size(), 2u);
  }
}

TEST(DporChooser, FindsADeadlock) {
  const Program program = [](World& world) {
    Node& node = world.AddNode("n");
    std::array<std::shared_ptr<Mutex>, 3> mutexes;
    for (auto& mutex : mutexes) mutex = node.env().tasks->NewMutex("m");
    for (std::size_t i = 0; i < 3; ++i) {
      node.Spawn(fmt::format("t{}", i), [&world, mutexes, i] {
        MutexLock left(*mutexes[i]);
        world.AdvanceBy(Duration(0));
        MutexLock right(*mutexes[(i + 1) % 3]);
      });
    }
    return [mutexes] { return std::string(); };
  };
  for (const bool guarded : {false, true}) {
    const Found found = Same(program, {.guarded_memory = guarded});
    EXPECT_THAT(found.ends, testing::ElementsAre("deadlock: ", "done: "));
  }
}

TEST(DporChooser, FindsALostWakeUp) {
  const Program program = [](World& world) {
    Node& node = world.AddNode("n");
    std::shared_ptr<Mutex> mutex = node.env().tasks->NewMutex("m");
    std::shared_ptr<Condition> condition = node.env().tasks->NewCondition("c");
    auto flag = std::make_shared<Shared>(world);
    node.Spawn("waits", [&world, mutex, condition, flag] {
      if (!flag->Read().empty()) return;
      world.AdvanceBy(Duration(0));
      MutexLock lock(*mutex);
      condition->Wait(*mutex, kNever);
    });
    node.Spawn("sets", [mutex, condition, flag] {
      flag->Add("x");
      MutexLock lock(*mutex);
      condition->NotifyAll();
    });
    return [flag] { return flag->value; };
  };
  for (const Preempt preempt : {Preempt::kNowhere, Preempt::kAtCalls}) {
    for (const bool guarded : {false, true}) {
      const Found found = Same(program, {.preempt = preempt, .guarded_memory = guarded});
      EXPECT_THAT(found.ends, testing::ElementsAre("deadlock: x", "done: x"));
    }
  }
}

// A queue of one place: who gets what depends on the schedule.
TEST(DporChooser, FindsWhatAQueueGives) {
  const Program program = [](World& world) {
    Node& node = world.AddNode("n");
    std::shared_ptr<Mutex> mutex = node.env().tasks->NewMutex("m");
    std::shared_ptr<Condition> changed = node.env().tasks->NewCondition("c");
    struct Queue {
      int place = 0;
      std::array<std::string, 2> got;
    };
    auto queue = std::make_shared<Queue>();
    node.Spawn("puts", [mutex, changed, queue] {
      for (int i = 1; i <= 2; ++i) {
        MutexLock lock(*mutex);
        while (queue->place != 0) changed->Wait(*mutex, kNever);
        queue->place = i;
        changed->NotifyAll();
      }
    });
    for (std::size_t t = 0; t < 2; ++t) {
      node.Spawn(fmt::format("takes{}", t), [mutex, changed, queue, t] {
        MutexLock lock(*mutex);
        while (queue->place == 0) changed->Wait(*mutex, kNever);
        queue->got[t] += fmt::format("{}", queue->place);
        queue->place = 0;
        changed->NotifyAll();
      });
    }
    return [queue] { return fmt::format("{}", fmt::join(queue->got, ",")); };
  };
  for (const Preempt preempt : {Preempt::kNowhere, Preempt::kAtCalls}) {
    for (const bool guarded : {false, true}) {
      EXPECT_EQ(Same(program, {.preempt = preempt, .guarded_memory = guarded}).ends.size(), 2u);
    }
  }
}

// Programs by chance: tasks that change and look at two things, with and without mutexes, wait, notify and sleep.
struct RandomProgram {
  explicit RandomProgram(std::uint64_t number) : seed(number) {}
  std::uint64_t Draw(std::uint64_t bound) { return Bounded(HashDraw(seed, "op", drawn++), bound); }

  enum class Op { kChange, kLook, kYield, kSleep, kLock, kUnlock, kWait, kNotify, kChoose };
  struct Line {
    Op op;
    std::size_t what;
  };

  std::vector<Line> DrawTask(bool chooses) {
    std::vector<Line> lines;
    std::optional<std::size_t> held;
    const std::uint64_t size = 2 + Draw(6);
    while (lines.size() < size) {
      const auto what = static_cast<std::size_t>(Draw(2));
      switch (Draw(9)) {
        case 0:
        case 1:
          lines.push_back({Op::kChange, what});
          break;
        case 2:
          lines.push_back({Op::kLook, what});
          break;
        case 3:
          lines.push_back({Op::kYield, 0});
          break;
        case 4:
          lines.push_back({Op::kSleep, what});
          break;
        case 5:
        case 6:
          if (held.has_value()) {
            lines.push_back({Op::kUnlock, *held});
            held.reset();
          } else {
            held = what;
            lines.push_back({Op::kLock, what});
          }
          break;
        case 7:
          lines.push_back(held.has_value() ? Line{Op::kWait, *held} : Line{Op::kNotify, what});
          break;
        default:
          lines.push_back(chooses ? Line{Op::kChoose, what} : Line{Op::kNotify, what});
      }
    }
    if (held.has_value()) lines.push_back({Op::kUnlock, *held});
    return lines;
  }

  std::uint64_t seed;
  std::uint64_t drawn = 0;
};

Program ByChance(std::uint64_t seed, bool chooses) {
  RandomProgram drawn(seed);
  std::vector<std::vector<RandomProgram::Line>> tasks(2 + drawn.Draw(2));
  for (auto& task : tasks) task = drawn.DrawTask(chooses);
  const bool nodes = drawn.Draw(3) == 0;  // each task on one of its own: they share nothing else then
  return [tasks, nodes](World& world) {
    using Op = RandomProgram::Op;
    struct Things {
      std::vector<std::unique_ptr<Mutex>> mutexes;
      std::vector<std::unique_ptr<Condition>> conditions;
      std::vector<Shared> shared;
      std::vector<std::string> saw;
    };
    auto things = std::make_shared<Things>();
    things->saw.resize(tasks.size());
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      const std::string host = fmt::format("n{}", nodes ? t : 0);
      Node& node = world.FindNode(host) != nullptr ? *world.FindNode(host) : world.AddNode(host);
      if (t == 0) {
        for (int i = 0; i < 2; ++i) {
          things->mutexes.push_back(node.env().tasks->NewMutex("m"));
          things->conditions.push_back(node.env().tasks->NewCondition("c"));
          things->shared.emplace_back(world);
        }
      }
      node.Spawn(fmt::format("t{}", t), [&world, things, lines = tasks[t], t] {
        for (const auto& [op, what] : lines) {
          switch (op) {
            case Op::kChange:
              things->shared[what].Add(fmt::format("{}", t));
              break;
            case Op::kLook:
              things->saw[t] += things->shared[what].Read() + ";";
              break;
            case Op::kYield:
              world.AdvanceBy(Duration(0));
              break;
            case Op::kSleep:
              world.AdvanceBy(milliseconds(1 + what));
              break;
            case Op::kLock:
              things->mutexes[what]->Lock();
              break;
            case Op::kUnlock:
              things->mutexes[what]->Unlock();
              break;
            case Op::kWait:
              things->saw[t] +=
                  things->conditions[what]->Wait(*things->mutexes[what], Time{} + milliseconds(what == 0 ? 1 : 3))
                      ? "y"
                      : "n";
              break;
            case Op::kNotify:
              things->conditions[what]->NotifyAll();
              break;
            case Op::kChoose: {
              constexpr std::array<std::string_view, 2> kLabels = {"l", "r"};
              things->saw[t] += kLabels[world.Choose("side", kLabels)];
              break;
            }
          }
        }
      });
    }
    return [things] {
      return fmt::format("{} {} {}", things->shared[0].value, things->shared[1].value, fmt::join(things->saw, ","));
    };
  };
}

void TryByChance(const SearchOptions& how, std::uint64_t seeds) {
  std::uint64_t compared = 0;
  std::uint64_t plainly = 0;
  std::uint64_t reduced = 0;
  std::uint64_t blocked = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Program program = ByChance(seed, how.all_points);
    const Found plain = Plainly(program, how);
    if (!plain.all) continue;
    const Found found = Reduced(program, how);
    ASSERT_TRUE(found.all) << "seed " << seed;
    ASSERT_EQ(found.ends, plain.ends) << "seed " << seed;
    ASSERT_EQ(found.orders, plain.orders) << "seed " << seed;
    if (!how.all_points) {
      ASSERT_EQ(found.orders.size(), found.runs - found.blocked) << "seed " << seed << ": one of them twice";
    }
    ASSERT_LE(found.runs - found.blocked, plain.runs) << "seed " << seed;
    ++compared;
    plainly += plain.runs;
    reduced += found.runs;
    blocked += found.blocked;
  }
  EXPECT_GE(compared, seeds / 2);
  EXPECT_LT(reduced * (how.guarded_memory ? 4 : 1), plainly);
  EXPECT_LT(blocked * 10, reduced);
}

TEST(DporChooser, FindsAllEndsOfProgramsByChance) {
  for (const bool guarded : {false, true}) TryByChance({.guarded_memory = guarded, .most = 3000}, 400);
}

TEST(DporChooser, FindsAllEndsOfProgramsByChanceThatArePreempted) {
  for (const bool guarded : {false, true})
    TryByChance({.preempt = Preempt::kAtCalls, .guarded_memory = guarded, .most = 3000}, 200);
}

TEST(DporChooser, FindsAllEndsOfProgramsByChanceAtAllPoints) {
  for (const bool guarded : {false, true})
    TryByChance({.all_points = true, .guarded_memory = guarded, .most = 3000}, 200);
}

}  // namespace
}  // namespace vigil::sim

// Schedulers that search: depth-first counts exactly the schedules there are, priorities find what chance hardly ever
// does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "vigil/core/env/network.h"
#include "vigil/sim/kernel/dfs_chooser.h"
#include "vigil/sim/kernel/pct_chooser.h"
#include "vigil/sim/world.h"

namespace vigil::sim {
namespace {

using std::chrono::milliseconds;

// `tasks` tasks, each of `steps` steps with a chance for others to run between any two: their order as letters.
std::string Interleave(Chooser& chooser, int tasks, int steps) {
  World world({.chooser = &chooser});
  Node& node = world.AddNode("n");
  std::string order;
  for (int t = 0; t < tasks; ++t) {
    const std::string name(1, static_cast<char>('a' + t));
    node.Spawn(name, [&world, &order, name, steps] {
      for (int i = 0; i < steps; ++i) {
        if (i > 0) world.AdvanceBy(Duration(0));
        order += name;
      }
    });
  }
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  return order;
}

struct Interleavings {
  int tasks;
  int steps;
  std::size_t count;  // (tasks * steps)! / steps!^tasks
};

TEST(DfsChooser, EnumeratesEverySchedule) {
  for (const Interleavings& row :
       {Interleavings{1, 5, 1}, {2, 1, 2}, {2, 2, 6}, {2, 3, 20}, {3, 1, 6}, {3, 2, 90}, {2, 5, 252}, {4, 2, 2520}}) {
    DfsChooser chooser;
    std::set<std::string> seen;
    do {
      seen.insert(Interleave(chooser, row.tasks, row.steps));
    } while (chooser.Next());
    EXPECT_EQ(seen.size(), row.count) << row.tasks << " tasks of " << row.steps;
    EXPECT_EQ(chooser.runs(), row.count);
    EXPECT_TRUE(chooser.exhausted());
  }
}

TEST(DfsChooser, TheFirstRunIsCalmAndLimitsHold) {
  DfsChooser chooser({.max_runs = 7});
  std::vector<std::string> seen;
  do {
    seen.push_back(Interleave(chooser, 2, 3));
  } while (chooser.Next());
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(seen.front(), "ababab");
  EXPECT_FALSE(chooser.exhausted());

  DfsChooser shallow({.max_choices = 2});
  int runs = 0;
  do {
    Interleave(shallow, 3, 2);
    ++runs;
  } while (shallow.Next());
  EXPECT_EQ(runs, 9);  // of three each time: the second still finds all three
  EXPECT_TRUE(shallow.truncated());
  EXPECT_TRUE(shallow.exhausted());
}

// After each run another chooser takes over; a run that breaks off at its very end loses nothing.
TEST(DfsChooser, GoesOnFromItsState) {
  DfsState state;
  std::set<std::string> seen;
  bool more = true;
  while (more) {
    DfsChooser chooser({}, state);
    seen.insert(Interleave(chooser, 3, 2));
    if (chooser.runs() % 3 == 0) chooser.BreakOff();
    more = chooser.Next();
    state = chooser.state();
  }
  EXPECT_EQ(seen.size(), 90u);
  EXPECT_EQ(state.runs, 90u);
  EXPECT_TRUE(state.exhausted);
}

// Of a run that broke off nothing varies but what it came to.
TEST(DfsChooser, ForgetsWhatARunThatBrokeOffHasNotComeTo) {
  DfsChooser chooser;
  const std::string_view labels[] = {"a", "b"};
  EXPECT_EQ(chooser.Choose({.key = "x"}, labels), 0u);
  EXPECT_EQ(chooser.Choose({.key = "y"}, labels), 0u);
  ASSERT_TRUE(chooser.Next());
  EXPECT_EQ(chooser.Choose({.key = "x"}, labels), 0u);
  chooser.BreakOff();  // before y
  ASSERT_TRUE(chooser.Next());
  EXPECT_EQ(chooser.Choose({.key = "x"}, labels), 1u);
  EXPECT_FALSE(chooser.Next());
  EXPECT_EQ(chooser.runs(), 3u);
}

// Counts how many choices of a run were not the calm one.
class CountingChooser final : public Chooser {
 public:
  explicit CountingChooser(Chooser& chooser) : chooser_(chooser) {}
  std::size_t Choose(const ChoicePoint& point, std::span<const std::string_view> labels) override {
    const std::size_t chosen = chooser_.Choose(point, labels);
    changes += chosen == 0 ? 0 : 1;
    return chosen;
  }
  std::size_t changes = 0;

 private:
  Chooser& chooser_;
};

TEST(DfsChooser, BoundsTheChoicesThatAreNotCalm) {
  std::vector<std::uint64_t> with(20);  // runs with so many changes, of all
  DfsChooser all;
  do {
    CountingChooser counting(all);
    Interleave(counting, 3, 2);
    ++with[counting.changes];
  } while (all.Next());
  std::uint64_t expected = with[0];
  for (std::size_t bound = 1; bound < with.size(); ++bound) {
    expected += with[bound];
    DfsChooser chooser({.max_changes = bound});
    do {
      CountingChooser counting(chooser);
      Interleave(counting, 3, 2);
      EXPECT_LE(counting.changes, bound);
    } while (chooser.Next());
    EXPECT_EQ(chooser.runs(), expected) << bound;
    EXPECT_TRUE(chooser.exhausted());
    EXPECT_EQ(chooser.truncated(), expected < all.runs()) << bound;
  }
  EXPECT_EQ(expected, 90u);
}

TEST(DfsChooser, SaysHowFarItHasGot) {
  // Of two tasks of three steps there are five choices at most; the first seven runs vary the last of them.
  DfsChooser chooser({.max_runs = 1});
  Interleave(chooser, 2, 3);
  EXPECT_FALSE(chooser.Next());
  const std::size_t choices = chooser.calm_so_far();
  EXPECT_GE(choices, 3u);
  DfsChooser further({.max_runs = 7});
  do {
    Interleave(further, 2, 3);
  } while (further.Next());
  EXPECT_LT(further.calm_so_far(), choices);
  EXPECT_GT(further.calm_so_far(), 0u);
}

// A request with two latencies and two chances of loss, and its answer: all runs, and what the caller got in each.
TEST(DfsChooser, EnumeratesTheNetworkToo) {
  for (const bool schedules_only : {false, true}) {
    DfsChooser chooser({.only = schedules_only ? std::vector<std::string>{"/schedule"} : std::vector<std::string>()});
    int answered = 0;
    int failed = 0;
    do {
      World world({.chooser = &chooser});
      LinkSpec link;
      link.least_latency = link.most_latency = milliseconds(1);
      link.loss = 0.1;
      world.network().SetLinks(link, {});
      Node& ps = world.AddNode("ps:0");
      Node& chief = world.AddNode("chief:0");
      ps.Spawn("main", [&] {
        const auto listener =
            ps.env().network->Listen("ps:1", [](IncomingCall&) -> NetworkReply { return absl::Cord(""); });
        world.AdvanceBy(std::chrono::seconds(100));
      });
      chief.Spawn("main", [&] {
        world.AdvanceBy(milliseconds(1));
        ++(CallAndWait(chief.env(), {.to = "ps:1", .method = "m"}).ok() ? answered : failed);
      });
      EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
    } while (chooser.Next());
    EXPECT_TRUE(chooser.exhausted());
    // Two orders at the start; the request is lost (noticed at three times), or the reply is (the same), or neither.
    EXPECT_EQ(chooser.runs(), schedules_only ? 2u : 14u);
    EXPECT_EQ(answered, 2);
    EXPECT_EQ(failed, schedules_only ? 0 : 12);
  }
}

// A bug of depth 2 among many steps: b's only step comes after a's last. Chance must let a win about `steps` times in a
// row.
TEST(PctChooser, FindsWhatChanceHardlyEverDoes) {
  constexpr int kSteps = 40;
  constexpr int kRuns = 200;
  const auto wins = [](const std::function<std::unique_ptr<Chooser>(std::uint64_t)>& make) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      const std::unique_ptr<Chooser> chooser = make(seed);
      World world({.chooser = chooser.get()});
      Node& node = world.AddNode("n");
      int steps = 0;
      for (const char* const name : {"a", "c", "d"}) {
        node.Spawn(name, [&world, &steps, first = *name == 'a'] {
          for (int i = 0; i < kSteps; ++i) {
            world.AdvanceBy(Duration(0));
            if (first) ++steps;
          }
        });
      }
      node.Spawn("b", [&] { found += steps == kSteps ? 1 : 0; });
      world.Run();
    }
    return found;
  };
  EXPECT_EQ(wins([](std::uint64_t seed) { return std::make_unique<RandomChooser>(seed); }), 0);
  // One in two by priorities alone.
  EXPECT_GT(wins([](std::uint64_t seed) { return std::make_unique<PctChooser>(PctOptions{.seed = seed, .depth = 1}); }),
            60);
}

// The only message of b comes after eight requests of a have been answered. Where each latency is drawn by itself, all
// sixteen of a's together must be shorter than b's one.
TEST(PctChooser, LetsOneLinkOvertakeAnotherForLong) {
  constexpr int kRequests = 8;
  const auto overtaken = [](std::uint64_t deliveries) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      PctChooser chooser({.seed = seed, .depth = 1, .steps = 100, .deliveries = deliveries});
      World world({.chooser = &chooser});
      world.network().SetLinks({.least_latency = milliseconds(1), .most_latency = milliseconds(100)}, {});
      Node& ps = world.AddNode("ps:0");
      Node& a = world.AddNode("a:0");
      Node& b = world.AddNode("b:0");
      int from_a = 0;
      ps.Spawn("main", [&] {
        const auto listener = ps.env().network->Listen("ps:1", [&](IncomingCall& call) -> NetworkReply {
          if (call.method() == "a") ++from_a;
          if (call.method() == "b") found += from_a == kRequests ? 1 : 0;
          return absl::Cord();
        });
        world.AdvanceBy(std::chrono::seconds(100));
      });
      a.Spawn("main", [&] {
        world.AdvanceBy(milliseconds(1));
        for (int i = 0; i < kRequests; ++i) EXPECT_TRUE(CallAndWait(a.env(), {.to = "ps:1", .method = "a"}).ok());
      });
      b.Spawn("main", [&] {
        world.AdvanceBy(milliseconds(1));
        EXPECT_TRUE(CallAndWait(b.env(), {.to = "ps:1", .method = "b"}).ok());
      });
      EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
    }
    return found;
  };
  EXPECT_EQ(overtaken(0), 0);
  EXPECT_GE(overtaken(20), 3);
}

// At a change the link that carries the message becomes slow, and stays so.
TEST(PctChooser, ALinkFallsAtAChange) {
  const std::array<std::string_view, 3> labels = {"1ms", "2ms", "3ms"};
  int fell = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    PctChooser chooser({.seed = seed, .depth = 2, .deliveries = 10});
    std::vector<std::size_t> latencies;
    for (std::uint64_t i = 0; i < 12; ++i) {
      latencies.push_back(chooser.Choose({.key = "net/a:0>b:0/latency", .count = i}, labels));
    }
    EXPECT_EQ(latencies.back(), 2u);
    EXPECT_TRUE(std::ranges::is_sorted(latencies));
    fell += latencies.front() < 2 ? 1 : 0;
  }
  EXPECT_GT(fell, 30);
  EXPECT_LT(fell, 90);
}

// Depth 2: a has begun, then b runs to its end, then a goes on. Priorities alone never interrupt a task.
TEST(PctChooser, ChangesOfPriorityInterruptTasks) {
  const auto interrupted = [](int depth) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      PctChooser chooser({.seed = seed, .depth = depth, .steps = 8});
      const std::string order = Interleave(chooser, 2, 4);
      EXPECT_EQ(order.size(), 8u);
      found += order == "aabbbbaa" ? 1 : 0;
    }
    return found;
  };
  EXPECT_EQ(interrupted(1), 0);
  EXPECT_GT(interrupted(2), 5);
}

TEST(PctChooser, ASeedGivesOneRunAndOtherPointsAreRandom) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    PctChooser first({.seed = seed, .steps = 12});
    PctChooser second({.seed = seed, .steps = 12});
    const std::string order = Interleave(first, 3, 4);
    EXPECT_EQ(order, Interleave(second, 3, 4));
    orders.insert(order);
    EXPECT_GT(first.steps(), 3u);
  }
  EXPECT_GT(orders.size(), 20u);
  PctChooser pct({.seed = 3});
  RandomChooser random(3);
  const std::array<std::string_view, 3> labels = {"1ms", "2ms", "3ms"};
  for (std::uint64_t i = 0; i < 20; ++i) {
    const ChoicePoint point{.key = "net/a>b/latency", .count = i};
    EXPECT_EQ(pct.Choose(point, labels), random.Choose(point, labels));
  }
}

}  // namespace
}  // namespace vigil::sim

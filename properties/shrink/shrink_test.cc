#include "vigil/properties/shrink/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/properties/generators/jobs.h"
#include "vigil/properties/generators/scenarios.h"
#include "vigil/properties/shrink/scenario_summary.h"
#include "vigil/properties/shrink/shrink_broken.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"

namespace vigil::properties {
namespace {

using replays::Scenario;

Scenario Parsed(const std::string& text) {
  const absl::StatusOr<replays::Recording> parsed = replays::ParseRecording(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  return parsed->scenario;
}

const char kBig[] =
    R"({"id":"big","session":{"kind":"monitored"},"hooks":[{"hook":"probe","name":"a","plan":[)"
    R"({"method":"before_run","call":2,"do":"request_stop"},{"method":"after_run","call":3,"do":"read_step"}]},)"
    R"({"hook":"probe","name":"b","plan":[]},{"hook":"probe","name":"c","plan":[]}],)"
    R"("faults":[{"at":"run","call":4,"code":"ABORTED"},{"at":"create","call":2,"code":"UNAVAILABLE"},)"
    R"({"at":"close","call":1,"code":"INTERNAL"}],)"
    R"("drive":[{"op":"run"},{"op":"loop","max":9,"body":[{"op":"should_stop"},{"op":"run","times":4}]},{"op":"run"}],)"
    R"("choices":{"w/main/schedule":["a","b","c"],"w/other/schedule":["d"]}})";

bool HasHook(const Scenario& s, const std::string& name) {
  return std::ranges::any_of(s.hooks, [&](const auto& hook) { return hook.name == name; });
}
bool HasCreateFault(const Scenario& s) {
  return std::ranges::any_of(s.faults, [](const auto& fault) { return fault.at == replays::FaultPoint::kCreate; });
}
std::int64_t Runs(const std::vector<replays::Statement>& statements) {
  std::int64_t runs = 0;
  for (const auto& statement : statements)
    runs += statement.op == replays::Op::kRun ? statement.times : Runs(statement.body);
  return runs;
}

TEST(Shrink, KeepsWhatTheFailureNeedsAndNothingElse) {
  const Shrunk shrunk = Shrink(Parsed(kBig), [](const Scenario& s) { return HasHook(s, "b") && HasCreateFault(s); });
  EXPECT_TRUE(shrunk.minimal);
  EXPECT_EQ(
      replays::PrintRecord(shrunk.scenario),
      R"({"id":"big","hooks":[{"hook":"probe","name":"b"}],"faults":[{"at":"create","call":1,"code":"UNAVAILABLE"}],"drive":[]})");
  EXPECT_EQ(Elements(shrunk.scenario), 2U);
}

TEST(Shrink, OpensLoopsAndBringsNumbersDown) {
  const Shrunk shrunk = Shrink(Parsed(kBig), [](const Scenario& s) { return Runs(s.drive) >= 3; });
  EXPECT_TRUE(shrunk.minimal);
  EXPECT_EQ(Runs(shrunk.scenario.drive), 3);
  EXPECT_TRUE(shrunk.scenario.hooks.empty());
  for (const auto& statement : shrunk.scenario.drive) EXPECT_TRUE(statement.body.empty());
}

TEST(Shrink, TakesAwayPairsThatNeedOneAnother) {
  // As long as there are as many hooks as faults: neither goes alone.
  const Shrunk shrunk = Shrink(Parsed(kBig), [](const Scenario& s) { return s.hooks.size() == s.faults.size(); });
  EXPECT_TRUE(shrunk.minimal);
  EXPECT_TRUE(shrunk.scenario.hooks.empty());
  EXPECT_TRUE(shrunk.scenario.faults.empty());
}

TEST(Shrink, LetsOneDoTheWorkOfTwo) {
  const char kTwo[] =
      R"({"id":"two","hooks":[{"hook":"probe","name":"a","plan":[{"method":"before_run","call":1,"do":"request_stop"}]},)"
      R"({"hook":"probe","name":"b","plan":[{"method":"after_run","call":1,"do":"read_step"}]}],)"
      R"("faults":[{"at":"run","call":2,"code":"ABORTED"},{"at":"run","call":1,"code":"UNAVAILABLE"}],)"
      R"("drive":[{"op":"run"},{"op":"step","body":[{"op":"run_with_hooks"}]}]})";
  const auto fails = [](const Scenario& s) {
    std::size_t entries = 0;
    std::set<std::int64_t> calls;
    std::int64_t runs = Runs(s.drive);
    for (const auto& hook : s.hooks) entries += hook.plan.size();
    for (const auto& fault : s.faults) calls.insert(fault.calls.begin(), fault.calls.end());
    for (const auto& statement : s.drive) {
      runs += std::ranges::count(statement.body, replays::Op::kRunWithHooks, &replays::Statement::op);
    }
    return entries >= 2 && calls.size() >= 2 && runs >= 2;
  };
  ASSERT_EQ(Elements(Parsed(kTwo)), 7U);
  const Shrunk shrunk = Shrink(Parsed(kTwo), fails);
  EXPECT_TRUE(shrunk.minimal);
  EXPECT_EQ(Elements(shrunk.scenario), 3U) << replays::PrintRecord(shrunk.scenario);
  ASSERT_EQ(shrunk.scenario.faults.size(), 1U);
  EXPECT_EQ(shrunk.scenario.faults[0].calls, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(shrunk.scenario.hooks[0].plan.size(), 2U);
}

// A field that is left out comes back with its default: 600 steps, which the job would have no time for.
TEST(Shrink, GivesAJobNoMoreToDo) {
  const char kJob[] = R"({"id":"a","format":2,"cluster":{"tasks":{"chief":1,"ps":1}},)"
                      R"("workload":{"name":"async_regression","last_step":40},"plan":[],"limit_s":300})";
  const Shrunk shrunk = Shrink(Parsed(kJob), [](const Scenario& s) {
    return s.job->workload.last_step == 40 || s.job->workload.last_step > 500;
  });
  EXPECT_EQ(shrunk.scenario.job->workload.last_step, 40);
}

// Pairs of a scenario and the least of it that is known by hand, of each kind of thing that goes together.
TEST(Shrink, ShrinkComesToTheKnownLeast) {
  struct Known {
    const char* big;
    StillFails fails;
    const char* least;
  };
  const auto last_run_fails = [](const Scenario& s) {
    return s.faults.size() == 1 && s.faults[0].calls == std::vector<std::int64_t>{Runs(s.drive)};
  };
  const auto plan_and_fault_meet = [](const Scenario& s) {
    return s.faults.size() == 1 && s.hooks.size() == 1 && s.hooks[0].plan.size() == 1 &&
           s.faults[0].calls == std::vector<std::int64_t>{Runs(s.drive)} &&
           s.hooks[0].plan[0].calls == s.faults[0].calls;
  };
  const auto something_runs = [](const Scenario& s) {
    return std::ranges::any_of(s.drive, [](const replays::Statement& statement) {
      return statement.op == replays::Op::kRun || statement.op == replays::Op::kStep;
    });
  };
  const Known known[] = {
      {R"({"id":"a","faults":[{"at":"run","call":3,"code":"ABORTED"}],"drive":[{"op":"run"},{"op":"run"},{"op":"run"}]})",
       last_run_fails, R"({"id":"a","faults":[{"at":"run","call":1,"code":"ABORTED"}],"drive":[{"op":"run"}]})"},
      {R"({"id":"a","faults":[{"at":"run","call":6,"code":"ABORTED"}],"drive":[{"op":"run","times":2},{"op":"run","feed":1},{"op":"run","times":3}]})",
       last_run_fails, R"({"id":"a","faults":[{"at":"run","call":1,"code":"ABORTED"}],"drive":[{"op":"run"}]})"},
      {R"({"id":"a","hooks":[{"hook":"probe","name":"a","plan":[{"method":"before_run","call":3,"do":"request_stop"}]}],"faults":[{"at":"run","call":3,"code":"ABORTED"}],"drive":[{"op":"run","times":3}]})",
       plan_and_fault_meet,
       R"({"id":"a","hooks":[{"hook":"probe","name":"a","plan":[{"method":"before_run","call":1,"do":"request_stop"}]}],"faults":[{"at":"run","call":1,"code":"ABORTED"}],"drive":[{"op":"run"}]})"},
      {R"({"id":"a","drive":[{"op":"step","body":[{"op":"raw_run"}]}]})", something_runs,
       R"({"id":"a","drive":[{"op":"run"}]})"},
  };
  for (const Known& each : known) {
    ASSERT_TRUE(each.fails(Parsed(each.big))) << each.big;
    const Shrunk shrunk = Shrink(Parsed(each.big), each.fails);
    EXPECT_TRUE(shrunk.minimal);
    EXPECT_EQ(replays::PrintRecord(shrunk.scenario), each.least);
  }
}

TEST(Shrink, KeepsTheChoicesThatItNeeds) {
  const Shrunk shrunk = Shrink(Parsed(kBig), [](const Scenario& s) {
    const auto found = s.choices.find("w/main/schedule");
    return found != s.choices.end() && found->second.size() >= 2;
  });
  ASSERT_EQ(shrunk.scenario.choices.size(), 1U);
  EXPECT_EQ(shrunk.scenario.choices.begin()->second.size(), 2U);
}

// Nothing that is left can be taken away alone: asked of whatever the generators make, against the plainest of
// shrinkers.
TEST(Shrink, IsMinimalOnWhatGeneratorsDraw) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Scenario drawn = RandomScenario(seed);
    const auto fails = [](const Scenario& s) { return s.hooks.size() + s.faults.size() >= 1; };
    if (!fails(drawn)) continue;
    const Shrunk shrunk = Shrink(drawn, fails);
    EXPECT_TRUE(shrunk.minimal) << seed;
    EXPECT_EQ(shrunk.scenario.hooks.size() + shrunk.scenario.faults.size(), 1U) << seed;
    EXPECT_TRUE(shrunk.scenario.drive.empty()) << seed;
    EXPECT_EQ(shrunk.scenario.seed, drawn.seed);
    EXPECT_EQ(shrunk.scenario.behaviour, drawn.behaviour);
  }
}

TEST(Shrink, TakesNodesAndFaultsFromAJobButNotItsTime) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Scenario drawn = RandomJob(seed);
    const Shrunk shrunk = Shrink(drawn, [](const Scenario& s) { return s.job.has_value(); });
    EXPECT_TRUE(shrunk.minimal) << seed;
    EXPECT_EQ(Elements(shrunk.scenario), 0U) << seed;
    EXPECT_EQ(TaskNames(*shrunk.scenario.job), (std::vector<std::string>{"chief:0", "ps:0"})) << seed;
    EXPECT_EQ(shrunk.scenario.job->limit, drawn.job->limit);
    EXPECT_EQ(shrunk.scenario.job->heal_after, drawn.job->heal_after);
  }
}

// A line of a byte a second breaks every job: that would be another failure.
TEST(Shrink, MakesNoLineNarrower) {
  Scenario drawn = RandomJob(1);
  drawn.job->plan.default_link.bytes_per_s = 5000;
  drawn.job->plan.default_link.bytes_in_flight = 300;
  const Shrunk shrunk = Shrink(drawn, [](const Scenario& s) {
    const sim::LinkSpec& link = s.job->plan.default_link;
    return link.bytes_per_s > 0 && link.bytes_in_flight > 0;
  });
  const sim::LinkSpec& link = shrunk.scenario.job->plan.default_link;
  EXPECT_EQ(Elements(shrunk.scenario), 2U);
  EXPECT_EQ(link.bytes_per_s, 5000);
  EXPECT_EQ(link.bytes_in_flight, 300);
}

TEST(Shrink, PlaysNoMoreOfAJobThanShowsIt) {
  const Scenario drawn = RandomJob(1);
  ASSERT_GT(Elements(drawn), 0U);
  constexpr std::int64_t kWhole = 100'000;
  std::int64_t plays = 0;
  std::int64_t played = 0;  // events
  const auto breaks = [&](const Scenario& s) {
    const bool whole = s.limits == replays::Limits{};
    const std::int64_t events = whole ? kWhole : s.limits.events;
    ++plays;
    played += events;
    return events >= 2'000 && !s.job->plan.timed.empty();
  };
  const Shrunk shrunk = ShrinkBroken(drawn, "recovery.bounded", kWhole, breaks);
  EXPECT_TRUE(shrunk.minimal);
  EXPECT_EQ(Elements(shrunk.scenario), 1U);
  EXPECT_EQ(shrunk.scenario.limits, drawn.limits);
  EXPECT_EQ(shrunk.plays, static_cast<std::uint64_t>(plays));
  EXPECT_LT(played, plays * kWhole / 5);
}

TEST(Shrink, PlaysAWholeJobWhereAPartMisleads) {
  const Scenario drawn = RandomJob(1);
  const auto ends = [](const Scenario& s) { return s.limits != replays::Limits{} || s.job->plan.timed.size() >= 2; };
  ASSERT_GE(drawn.job->plan.timed.size(), 2U);
  for (const char* const rule : {"recovery.bounded", "job.every_task_ends"})
    EXPECT_EQ(ShrinkBroken(drawn, rule, 1000, ends).scenario.job->plan.timed.size(), 2U) << rule;
}

TEST(Shrink, EndsWithItsBudget) {
  std::uint64_t plays = 0;
  const Shrunk shrunk = Shrink(Parsed(kBig), [&](const Scenario&) { return ++plays > 1000; }, {.max_plays = 7});
  EXPECT_EQ(plays, 7U);
  EXPECT_EQ(shrunk.plays, 7U);
  EXPECT_FALSE(shrunk.minimal);
  EXPECT_EQ(shrunk.scenario, Parsed(kBig));
  bool stop = false;
  const Shrunk stopped = Shrink(Parsed(kBig),
                                [&](const Scenario&) {
                                  stop = true;
                                  return false;
                                },
                                {.stop = [&] { return stop; }});
  EXPECT_EQ(stopped.plays, 1U);
  EXPECT_FALSE(stopped.minimal);
}

TEST(ScenarioSummary, TellsASessionInOneLine) {
  EXPECT_EQ(ScenarioSummary(Parsed(kBig)),
            "a monitored session with probe a (before_run 2: request_stop, after_run 3: read_step), probe b, probe c; "
            "run 4 fails "
            "with ABORTED; create 2 fails with UNAVAILABLE; close 1 fails with INTERNAL; the caller: run, loop up to 9 "
            "{should_stop, run x4}, run");
}

TEST(ScenarioSummary, TellsWhatTheCallerFeedsAndAsksFor) {
  EXPECT_EQ(
      ScenarioSummary(Parsed(
          R"({"id":"a","scope":"bare","hooks":[{"hook":"probe","name":"a","plan":[{"method":"before_run","call":null,"do":"feed","value":7},)"
          R"({"method":"before_run","call":2,"do":"fetch","what":["step","loss"]}]}],"drive":[{"op":"run","feed":3},)"
          R"({"op":"run","fetch":{"a":"step"},"options":{"trace_level":"full"},"metadata":true},)"
          R"({"op":"step","body":[{"op":"run_with_hooks","feed":4,"on_call":2}]}]})")),
      "a monitored session with probe a (before_run always: feed 7, before_run 2: fetch [step, loss]); without a "
      "scope; "
      "the caller: run feeding 3, run fetching {a: step} with trace_level=full asking for metadata, step "
      "{run_with_hooks feeding 4 in call 2}");
}

TEST(ScenarioSummary, TellsWhatLinksDoAndThatACallIsEachCall) {
  const Scenario job = Parsed(
      R"({"id":"a","format":2,"cluster":{"tasks":{"chief":1,"ps":1},"links":{"default":{"loss":0.01,"duplication":0.002},)"
      R"("chief:0>ps:0":{"reordering":0.05}}},"workload":{"last_step":40},"plan":[)"
      R"({"rpc":"RunGraph","from":"chief:0","call":0,"effect":"error","code":"ABORTED"},)"
      R"({"disk":"chief:0","op":"sync","call":0,"code":"IO_ERROR"},)"
      R"({"session":"chief:0","at":"run","call":0,"code":"ABORTED"}]})");
  EXPECT_EQ(ScenarioSummary(job),
            "chief, ps train async_regression to step 40; RunGraph from chief:0 to any task, each call: error ABORTED; "
            "sync of chief:0's files, each call: IO_ERROR; run of chief:0, each call: fails with ABORTED; "
            "every link loses 1 %, repeats 0.2 % of its messages; the link chief:0>ps:0 reorders 5 % of its messages");
  EXPECT_EQ(Elements(job), 6U);
}

TEST(ScenarioSummary, TellsAJobInOneLine) {
  EXPECT_EQ(
      ScenarioSummary(Parsed(
          R"({"id":"a","format":2,"cluster":{"tasks":{"chief":1,"ps":1,"worker":2}},"workload":{"name":"async_regression",)"
          R"("last_step":40},"plan":[{"at_s":12.5,"crash":"ps:0","restart_after_s":2},{"at_s":20,"cut":["worker:1","ps:0"],)"
          R"("for_s":8}]})")),
      "chief, ps, 2 worker train async_regression to step 40; at 12.5 s ps:0 crashes, back after 2 s; at 20 s worker:1 "
      "and "
      "ps:0 are cut off for 8 s");
}

}  // namespace
}  // namespace vigil::properties

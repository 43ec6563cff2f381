// What a simulated cluster costs: a job of asynchronous regression, a step a second on every task, ten virtual minutes
// under faults (a server and a worker crash, one is paused, links break, a link loses messages).
//
// Counters, of the CPU time spent: virtual_s/s, messages/s, steps/s. "MiB" is the greatest resident size of the whole
// process so far: run the sizes apart (--benchmark_filter) to compare them.
//
// And what it costs to suspect one: the jobs of the cluster suite as it draws them, without the time of disks and
// processors, with it, with what is recorded for the judges, and with them.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <string>

#include "vigil/core/base/check.h"
#include "vigil/properties/generators/jobs.h"
#include "vigil/properties/judge/node_rules.h"
#include "vigil/replays/play/runner.h"
#include "vigil/sim/cluster/job.h"
#include "vigil/sim/kernel/chooser.h"
#include "vigil/sim/world.h"

namespace vigil::bench {
namespace {

constexpr std::chrono::minutes kVirtual{10};

sim::TimedFault FaultAt(sim::TimedFault::Kind kind, std::int64_t at_s, std::string task) {
  sim::TimedFault fault;
  fault.kind = kind;
  fault.at = std::chrono::seconds(at_s);
  fault.task = std::move(task);
  return fault;
}

sim::JobSpec BusyJob(int workers, int servers) {
  using Kind = sim::TimedFault::Kind;
  sim::JobSpec job;
  job.tasks = {{"chief", 1}, {"ps", servers}, {"worker", workers}};
  job.workload.step = std::chrono::seconds(1);
  job.workload.last_step = 1'000'000;
  job.workload.save_steps = 100;
  job.limit = kVirtual;
  job.plan.default_link.loss = 0.001;
  for (std::int64_t at = 60; at < 540; at += 120) {
    job.plan.timed.push_back(FaultAt(Kind::kCrash, at, fmt::format("worker:{}", at / 120 % workers)));
    job.plan.timed.back().restart_after = std::chrono::seconds(5);
    job.plan.timed.push_back(FaultAt(Kind::kPause, at + 30, "chief:0"));
    job.plan.timed.back().lasts = std::chrono::seconds(3);
    job.plan.timed.push_back(FaultAt(Kind::kCut, at + 60, fmt::format("worker:{}", (at / 120 + 1) % workers)));
    job.plan.timed.back().peer = "ps:0";
    job.plan.timed.back().lasts = std::chrono::seconds(8);
  }
  job.plan.timed.push_back(FaultAt(Kind::kCrash, 300, fmt::format("ps:{}", servers - 1)));
  job.plan.timed.back().restart_after = std::chrono::seconds(5);
  return job;
}

// range(0) workers and range(1) parameter servers beside the chief.
void FaultyJob(benchmark::State& state) {
  const sim::JobSpec spec = BusyJob(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  double virtual_s = 0;
  double messages = 0;
  double steps = 0;
  std::uint64_t seed = 1;
  for (auto _ : state) {
    sim::RandomChooser chooser(seed);
    sim::World world({.chooser = &chooser, .seed = seed, .max_virtual = spec.limit + std::chrono::minutes(5)});
    sim::Job job(world, spec, {.seed = seed, .ledger = false});
    VIGIL_CHECK(world.Run().verdict == sim::WorldVerdict::kStopped);
    const sim::JobFacts facts = job.Facts();
    virtual_s += ToSeconds(facts.virtual_time);
    messages += static_cast<double>(facts.messages);
    steps += static_cast<double>(facts.tasks.find("chief:0")->second.last_step);
    ++seed;
  }
  rusage usage{};
  VIGIL_CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  state.counters["virtual_s/s"] = benchmark::Counter(virtual_s, benchmark::Counter::kIsRate);
  state.counters["messages/s"] = benchmark::Counter(messages, benchmark::Counter::kIsRate);
  state.counters["steps/s"] = benchmark::Counter(steps, benchmark::Counter::kIsRate);
  state.counters["MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(FaultyJob)
    ->ArgNames({"workers", "servers"})
    ->Args({1, 1})
    ->Args({8, 4})
    ->Args({29, 10})
    ->Args({69, 30})
    ->Unit(benchmark::kMillisecond);

enum Costs : std::int64_t { kBare, kTimed, kRecorded, kJudged };

sim::JobFacts PlayAlone(const replays::Scenario& scenario, bool ledger) {
  const sim::JobSpec& spec = *scenario.job;
  sim::RandomChooser chooser(scenario.seed);
  sim::World world({.chooser = &chooser, .seed = scenario.seed, .max_virtual = sim::LongestWorld(spec)});
  sim::Job job(world, spec, {.seed = scenario.seed, .ledger = ledger});
  world.Run();
  return job.Facts();
}

// range(0) of the above. An iteration is the first forty jobs of the suite.
void DrawnJobs(benchmark::State& state) {
  constexpr std::uint64_t kJobs = 40;
  const std::int64_t costs = state.range(0);
  replays::Runner runner;
  double virtual_s = 0;
  for (auto _ : state) {
    for (std::uint64_t seed = 1; seed <= kJobs; ++seed) {
      replays::Scenario scenario = properties::RandomJob(seed);
      if (costs == kBare) scenario.job->workload.disk = scenario.job->workload.cpu = Duration(0);
      if (costs != kJudged) {
        virtual_s += ToSeconds(PlayAlone(scenario, costs == kRecorded).virtual_time);
        continue;
      }
      replays::Outcome outcome = runner.Run(scenario, {.random_schedule = true});
      properties::JudgeJob(scenario, outcome);
      VIGIL_CHECK(outcome.job->violations.empty());
      virtual_s += ToSeconds(outcome.job->virtual_time);
    }
  }
  state.counters["virtual_s/s"] = benchmark::Counter(virtual_s, benchmark::Counter::kIsRate);
}
BENCHMARK(DrawnJobs)->ArgName("costs")->Arg(kBare)->Arg(kTimed)->Arg(kRecorded)->Arg(kJudged)->Unit(
    benchmark::kMillisecond);

}  // namespace
}  // namespace vigil::bench

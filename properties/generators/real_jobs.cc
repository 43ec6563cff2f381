#include "vigil/properties/generators/real_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "vigil/properties/generators/draws.h"

namespace vigil::properties {
namespace {

using sim::JobSpec;
using sim::TimedFault;
using sim::WorkloadKind;

// A recovery may wait for a minute (Behaviour::bounded_recovery), a worker for half a one.
constexpr Duration kPatience = std::chrono::minutes(5);

Duration Millis(std::int64_t milliseconds) { return std::chrono::milliseconds(milliseconds); }

void DrawQuickWorkload(Draws draws, JobSpec& job) {
  constexpr WorkloadKind kKinds[] = {WorkloadKind::kAsyncRegression, WorkloadKind::kAsyncRegression,
                                     WorkloadKind::kAsyncRegression, WorkloadKind::kSyncRegression,
                                     WorkloadKind::kInputPipeline};
  job.workload.kind = draws.Pick(kKinds);
  job.workload.step = Millis(draws.Between(3, 20));
  job.workload.last_step = draws.Between(200, 600);
  job.workload.save_steps = draws.Between(10, 50);
  job.workload.async_saves = draws.Chance(20);
  job.workload.filters = !draws.Chance(20);
  job.workload.least_boot = Duration(0);
  job.workload.most_boot = Millis(draws.Between(0, 500));
}

TimedFault Kill(Draws& draws, const std::string& task, Duration at) {
  TimedFault fault;
  fault.kind = TimedFault::Kind::kCrash;
  fault.task = task;
  fault.at = at;
  fault.restart_after = Millis(draws.Between(50, 1500));
  return fault;
}

// Of one task, or between one and a parameter server.
TimedFault DrawnFault(Draws draws, const std::vector<std::string>& tasks, Duration at) {
  const std::string& task = tasks[draws.Below(tasks.size())];
  constexpr TimedFault::Kind kKinds[] = {TimedFault::Kind::kCrash, TimedFault::Kind::kCrash, TimedFault::Kind::kPause,
                                         TimedFault::Kind::kCut, TimedFault::Kind::kSilent};
  const TimedFault::Kind kind = draws.Pick(kKinds);
  if (kind == TimedFault::Kind::kCrash) return Kill(draws, task, at);
  TimedFault fault;
  fault.kind = kind;
  fault.task = task;
  fault.at = at;
  fault.lasts = Millis(draws.Between(100, 4000));
  if (kind != TimedFault::Kind::kPause) fault.peer = task == "ps:0" ? "chief:0" : "ps:0";
  return fault;
}

// Who is killed while it is down is not; so none is, for as long.
void PlanKills(Draws draws, std::int64_t kills, const std::vector<std::string>& tasks, JobSpec& job) {
  Duration at = Millis(500);
  std::map<std::string, Duration> back;
  for (std::int64_t i = 0; i < kills; ++i) {
    const std::string& task = tasks[draws.Below(tasks.size())];
    at = std::max(at, back[task]) + Millis(draws.Between(200, 2500));
    const TimedFault& kill = job.plan.timed.emplace_back(Kill(draws, task, at));
    back[task] = at + *kill.restart_after + Millis(300);
  }
  job.heal_after = at + std::chrono::seconds(2);
}

}  // namespace

replays::Scenario RealJob(std::uint64_t seed, std::int64_t kills) {
  const Draws draws(seed);
  replays::Scenario scenario;
  scenario.id = kills > 0 ? fmt::format("real_cluster_{}_kills_{}", kills, seed) : fmt::format("real_cluster_{}", seed);
  scenario.format = 2;
  scenario.seed = seed;
  scenario.behaviour.name = "default";
  JobSpec& job = scenario.job.emplace();
  Draws sizes = draws.Split("cluster");
  job.tasks = {{"chief", 1},
               {"ps", kills > 0 ? 2 : static_cast<int>(sizes.Between(1, 2))},
               {"worker", kills > 0 ? 2 : static_cast<int>(sizes.Between(0, 2))}};
  DrawQuickWorkload(draws.Split("workload"), job);
  // Without filters each waits for all others: then these must not wait for it.
  job.no_wait = !job.workload.filters;
  const std::vector<std::string> tasks = sim::TaskNames(job);
  if (kills > 0) {
    job.workload.kind = WorkloadKind::kAsyncRegression;
    job.workload.filters = true;
    job.workload.step = Millis(10);
    PlanKills(draws.Split("kills"), kills, tasks, job);
    // More than can be done until the last one; so all of them meet a training.
    job.workload.last_step = std::max<std::int64_t>(1000, 100 * (*job.heal_after / std::chrono::seconds(1)));
  } else {
    Draws plan = draws.Split("plan");
    const std::int64_t faults = plan.Chance(5) ? 0 : plan.Between(1, 8);
    for (std::int64_t i = 0; i < faults; ++i) {
      job.plan.timed.push_back(
          DrawnFault(draws.Split("fault", static_cast<std::uint64_t>(i)), tasks, Millis(plan.Between(100, 6000))));
    }
    std::ranges::stable_sort(job.plan.timed, {}, &TimedFault::at);
    job.heal_after = std::chrono::seconds(10);
  }
  job.limit = *job.heal_after + kPatience + job.workload.step * job.workload.last_step * 3;
  return scenario;
}

}  // namespace vigil::properties

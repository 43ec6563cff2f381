#include "vigil/properties/generators/workloads.h"

#include <algorithm>

#include "vigil/properties/generators/measured.h"

namespace vigil::properties {
namespace {

using sim::JobSpec;
using sim::WorkloadKind;
using sim::WorkloadSpec;

}  // namespace

Duration LongestTraining(const JobSpec& job) {
  const bool shared = job.workload.kind == WorkloadKind::kSyncRegression;
  const std::int64_t replicas = shared ? 1 + job.tasks.find("worker")->second : 1;
  constexpr std::int64_t kOps = 300;  // of a step
  return (job.workload.step + job.workload.cpu * kOps) * job.workload.last_step * replicas;
}

void DrawCluster(Draws draws, JobSpec& job) {
  constexpr int kServers[] = {1, 1, 1, 2, 2, 3, 4};  // the fourth holds nothing of the model
  constexpr int kWorkers[] = {0, 1, 1, 1, 2, 2, 3};
  job.tasks = {{"chief", 1}, {"ps", draws.Pick(kServers)}, {"worker", draws.Pick(kWorkers)}};
  Draws large = draws.Split("large");
  if (!large.Chance(2)) return;
  job.tasks["ps"] = static_cast<int>(large.Between(4, 8));
  job.tasks["worker"] = static_cast<int>(large.Between(4, 16));
}

void DrawWorkload(Draws draws, JobSpec& job) {
  constexpr WorkloadKind kKinds[] = {
      WorkloadKind::kAsyncRegression, WorkloadKind::kAsyncRegression, WorkloadKind::kAsyncRegression,
      WorkloadKind::kSyncRegression,  WorkloadKind::kSyncRegression,  WorkloadKind::kInputPipeline,
      WorkloadKind::kEvaluation,      WorkloadKind::kShortJob,        WorkloadKind::kSupervisor};
  constexpr std::int64_t kSteps[] = {2, 3, 4, 6, 8, 11};
  WorkloadSpec& workload = job.workload;
  workload.kind = draws.Pick(kKinds);
  workload.last_step = workload.kind == WorkloadKind::kShortJob ? draws.Between(2, 12) : draws.Between(100, 150);
  workload.save_steps = draws.Between(3, 25);
  // Drawn one after the other: which operand of a sum comes first is the compiler's choice.
  const Duration part_of_a_second = Milliseconds(draws.Between(0, 999));
  workload.step = std::chrono::seconds(draws.Pick(kSteps)) + part_of_a_second;
  workload.filters = !draws.Chance(15);
  if (draws.Chance(15)) workload.timeout_ms = draws.Between(20, 90) * 1000;
  workload.max_wait_s = static_cast<double>(draws.Between(600, 1800));
  if (draws.Chance(20)) workload.validate_steps = draws.Between(2, 20);
  workload.least_boot = Milliseconds(draws.Between(0, 3000));
  workload.most_boot = workload.least_boot + Milliseconds(draws.Between(0, 8000));
  if (draws.Split("measured").Chance(20)) TakeMeasuredTimes(workload);
  workload.async_saves = workload.kind != WorkloadKind::kSupervisor && draws.Split("async saves").Chance(25);
  if (draws.Split("remote master").Chance(12)) workload.master = "ps:0";
  const bool of_its_own =
      workload.kind == WorkloadKind::kSyncRegression || workload.kind == WorkloadKind::kInputPipeline;
  workload.clients = !workload.master.empty() && !of_its_own && draws.Split("clients").Chance(40);
  // Workers come when the chief has its session, or after a minute. Where that needs them, a request for it would run
  // into the timeout without a fault.
  if (!workload.master.empty() && !workload.filters && !workload.clients) workload.timeout_ms = 0;
  // A synchronous replica waits in its run for what the others do between two of theirs, which takes this typically.
  if (workload.kind == WorkloadKind::kSyncRegression && workload.timeout_ms > 0) {
    const std::int64_t step_ms = std::chrono::ceil<std::chrono::milliseconds>(workload.step).count();
    workload.timeout_ms = std::max(workload.timeout_ms, 4 * step_ms);
  }
  const bool in_haste = workload.kind == WorkloadKind::kSupervisor || workload.timeout_ms > 0;
  if (Draws disk = draws.Split("disk"); disk.Chance(80)) {
    constexpr std::int64_t kMicroseconds[] = {50, 500, 5000, 20'000, 100'000};
    workload.disk = std::chrono::microseconds(disk.Pick(kMicroseconds));
    // Without any fault, a save of a slow disk takes longer than a timeout of half a minute, and longer than the five
    // seconds that the stop of a supervisor gives a last one.
    if (in_haste) workload.disk = std::min<Duration>(workload.disk, Milliseconds(5));
  }
  if (Draws cpu = draws.Split("cpu"); cpu.Chance(25)) {
    constexpr std::int64_t kMicroseconds[] = {5, 50, 500, 3000};
    workload.cpu = std::chrono::microseconds(cpu.Pick(kMicroseconds));
    if (in_haste) workload.cpu = std::min<Duration>(workload.cpu, std::chrono::microseconds(500));
  }
  // Seventeen in a queue for one processor take longer than who is in haste may.
  const bool long_queues = job.tasks["worker"] > 3 && in_haste;
  if (Draws shares = draws.Split("processors"); workload.cpu > Duration::zero() && !long_queues && shares.Chance(60))
    workload.processors = shares.Between(1, 3);
  if (Draws visits = draws.Split("visits"); visits.Chance(workload.master.empty() ? 12 : 40))
    workload.visits = std::chrono::seconds(visits.Between(3, 40));
  if (Draws diary = draws.Split("diary"); diary.Chance(12)) workload.diary = std::chrono::seconds(diary.Between(1, 5));
  if (workload.kind == WorkloadKind::kEvaluation) job.tasks["evaluator"] = 1;
  const bool alone = !of_its_own && workload.kind != WorkloadKind::kSupervisor;
  workload.init_fn = alone && draws.Split("init fn").Chance(10);
  // A large one has as many tasks at work as others have steps.
  if (job.tasks["worker"] > 3) workload.last_step = std::min<std::int64_t>(workload.last_step, 40);
}

}  // namespace vigil::properties

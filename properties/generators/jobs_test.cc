// What is drawn of jobs: of those whose sessions another task's master makes, of those that are large, quiet or stormy,
// and of situations in which several faults are aimed at one another.
#include "vigil/properties/generators/jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"

namespace vigil::properties {
namespace {

using sim::RpcFault;

constexpr std::array<std::string_view, 3> kOfAMaster = {"CreateSession", "RunStep", "CloseSession"};

TEST(RandomJob, OneInEightHasAMasterBehindTheNetworkWhoseRequestsAreStruck) {
  constexpr std::uint64_t kSeeds = 1000;
  int remote = 0;
  std::map<std::string, int, std::less<>> struck;
  std::map<RpcFault::Effect, int> effects;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const replays::Scenario scenario = RandomJob(seed);
    const sim::JobSpec& job = *scenario.job;
    int of_master = 0;
    for (const RpcFault& fault : job.plan.rpcs) {
      if (std::ranges::find(kOfAMaster, fault.method) == kOfAMaster.end()) continue;
      if (fault.effect != RpcFault::Effect::kDamaged) ++of_master;  // those come besides
      ++struck[fault.method];
      ++effects[fault.effect];
    }
    if (job.workload.master.empty()) {
      EXPECT_EQ(of_master, 0) << seed;
      continue;
    }
    ++remote;
    if (job.plan.rpcs.empty() && job.plan.timed.empty()) continue;  // a quiet one
    EXPECT_EQ(job.workload.master, "ps:0") << seed;
    EXPECT_GE(of_master, 1) << seed;
    EXPECT_LE(of_master, 3) << seed;
  }
  EXPECT_GE(remote, 80);
  EXPECT_LE(remote, 160);
  for (const std::string_view method : kOfAMaster) EXPECT_GE(struck[std::string(method)], 20) << method;
  EXPECT_EQ(effects.size(), 8U);
}

TEST(RandomJob, SomeTrainersAreClientsAloneAndSomeMachinesHaveFewProcessors) {
  int clients = 0;
  int processors = 0;
  int kept = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const sim::JobSpec job = *RandomJob(seed).job;
    const sim::WorkloadSpec& workload = job.workload;
    if (workload.processors > 0) {
      EXPECT_GT(workload.cpu, Duration(0)) << seed;
      ++processors;
    }
    kept += static_cast<int>(std::ranges::count(job.plan.rpcs, "KeepSession", &sim::RpcFault::method));
    if (!workload.clients) continue;
    EXPECT_NE(workload.master, "") << seed;
    EXPECT_NE(workload.kind, sim::WorkloadKind::kSyncRegression) << seed;
    EXPECT_NE(workload.kind, sim::WorkloadKind::kInputPipeline) << seed;
    ++clients;
  }
  EXPECT_THAT(clients, testing::AllOf(testing::Ge(20), testing::Le(80)));
  EXPECT_THAT(processors, testing::AllOf(testing::Ge(100), testing::Le(200)));
  EXPECT_GE(kept, 5);
}

TEST(RandomJob, OneInFiveTakesTheTimesThatWereMeasured) {
  int measured = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const replays::Scenario scenario = RandomJob(seed);
    const sim::WorkloadSpec& workload = scenario.job->workload;
    EXPECT_EQ(workload.sessions.empty(), workload.signatures.empty()) << seed;
    if (workload.sessions.empty()) {
      EXPECT_TRUE(workload.boots.empty()) << seed;
      continue;
    }
    ++measured;
    // None where processes are to start at a time of their own.
    if (workload.least_boot == workload.most_boot) {
      EXPECT_TRUE(workload.boots.empty()) << seed;
    }
    const absl::StatusOr<replays::Recording> again = replays::ParseRecording(PrintRecord(scenario));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->scenario, scenario) << seed;
  }
  EXPECT_THAT(measured, testing::AllOf(testing::Ge(150), testing::Le(250)));
}

TEST(RandomJob, SomeAreLargeSomeQuietSomeStormyAndSomeFaultsAreAimed) {
  constexpr std::uint64_t kSeeds = 2000;
  int large = 0;
  int quiet = 0;
  int many = 0;
  std::size_t most = 0;
  int windows = 0;
  int wakes = 0;
  std::map<sim::FaultPoint::Kind, int> aimed;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const replays::Scenario scenario = RandomJob(seed);
    const sim::JobSpec& job = *scenario.job;
    EXPECT_LE(job.tasks.at("ps"), 8) << seed;
    EXPECT_LE(job.tasks.at("worker"), 16) << seed;
    if (job.tasks.at("ps") > 4 || job.tasks.at("worker") > 3) ++large;
    const sim::FaultPlan& plan = job.plan;
    const std::size_t faults = plan.timed.size() + plan.rpcs.size() + plan.disks.size() + plan.session_calls.size();
    if (faults == 0) ++quiet;
    if (faults > 16) ++many;
    if (plan.default_link.bytes_in_flight > 0) ++windows;
    // A pause, a cut, and the wake that gets lost.
    if (faults == 3 && plan.rpcs.size() == 1 && plan.timed.size() == 2 && plan.rpcs[0].call == 11) ++wakes;
    most = std::max(most, faults);
    for (const sim::TimedFault& fault : plan.timed) {
      if (fault.point.has_value()) ++aimed[fault.point->kind];
    }
  }
  EXPECT_GE(large, 20);
  EXPECT_LE(large, 60);
  EXPECT_GE(quiet, 20);
  EXPECT_GE(many, 100);
  EXPECT_GE(windows, 200);
  EXPECT_GE(wakes, 20);
  EXPECT_GE(most, 40U);
  EXPECT_EQ(aimed.size(), sim::kFaultPointKinds);
  for (const auto& [kind, count] : aimed) EXPECT_GE(count, 50) << static_cast<int>(kind);
}

bool IsUnseenRestart(const sim::FaultPlan& plan) {
  if (plan.rpcs.size() != 1 || plan.timed.size() != 1 || !plan.disks.empty()) return false;
  const RpcFault& answer = plan.rpcs[0];
  const sim::TimedFault& crash = plan.timed[0];
  return answer.method == "RecvTensor" && answer.to == "worker:0" && answer.from.starts_with("ps:") &&
         crash.kind == sim::TimedFault::Kind::kCrash && crash.task.starts_with("ps:") && crash.task != answer.from &&
         crash.restart_after.has_value();
}

enum class Saves : std::uint8_t { kNo, kSyncTakesLong, kChiefStandsStill };

Saves TwoSave(const sim::FaultPlan& plan, std::size_t workers) {
  using Kind = sim::TimedFault::Kind;
  if (!plan.rpcs.empty() || plan.timed.empty()) return Saves::kNo;
  const sim::TimedFault& first = plan.timed[0];
  if (first.kind == Kind::kPause && first.task == "chief:0" && first.point.has_value() && plan.disks.empty() &&
      plan.timed.size() == 1) {
    return Saves::kChiefStandsStill;
  }
  const bool unheard =
      plan.timed.size() == workers && std::ranges::all_of(plan.timed, [](const sim::TimedFault& fault) {
        return fault.kind == Kind::kSilent && fault.task == "chief:0" && !fault.lasts.has_value();
      });
  const bool slow = plan.disks.size() == 1 && plan.disks[0].effect == sim::DiskFault::Effect::kSlow &&
                    plan.disks[0].op == "sync" && plan.disks[0].by >= std::chrono::seconds(40);
  return unheard && slow ? Saves::kSyncTakesLong : Saves::kNo;
}

TEST(RandomJob, SomeFaultsAreAimedAtOneAnother) {
  constexpr std::uint64_t kSeeds = 2000;
  int unseen = 0;
  std::map<Saves, int> saves;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const replays::Scenario scenario = RandomJob(seed);
    const sim::JobSpec& job = *scenario.job;
    if (IsUnseenRestart(job.plan)) {
      ++unseen;
      EXPECT_EQ(job.workload.kind, sim::WorkloadKind::kSyncRegression) << seed;
      EXPECT_LT(job.plan.timed[0].at, *job.heal_after) << seed;
    }
    const Saves two = TwoSave(job.plan, static_cast<std::size_t>(job.tasks.at("worker")));
    ++saves[two];
    if (two == Saves::kNo) continue;
    EXPECT_LE(job.workload.last_step, 24) << seed;  // the workers' end is near
    EXPECT_TRUE(two == Saves::kSyncTakesLong || job.workload.disk > Duration::zero()) << seed;
  }
  EXPECT_GE(unseen, 10);
  EXPECT_LE(unseen, 60);
  EXPECT_GE(saves[Saves::kSyncTakesLong], 10);
  EXPECT_LE(saves[Saves::kSyncTakesLong], 60);
  EXPECT_GE(saves[Saves::kChiefStandsStill], 3);
}

TEST(RandomJob, SomeDivergeAndNothingElseHappens) {
  int diverging = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const replays::Scenario scenario = RandomJob(seed);
    const sim::JobSpec& job = *scenario.job;
    if (job.workload.nan_batch == 0) continue;
    ++diverging;
    EXPECT_EQ(job.workload.kind, sim::WorkloadKind::kAsyncRegression) << seed;
    EXPECT_GE(job.tasks.at("worker"), 1) << seed;
    EXPECT_LT(job.workload.nan_batch, job.workload.last_step) << seed;
    EXPECT_TRUE(job.plan.timed.empty() && job.plan.rpcs.empty() && job.plan.disks.empty()) << seed;
  }
  EXPECT_GE(diverging, 10);
  EXPECT_LE(diverging, 70);
}

TEST(RandomJob, SomeChiefsHaveAnInitFnWhichIsCutOff) {
  int all = 0;
  int failing = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const replays::Scenario scenario = RandomJob(seed);
    const sim::JobSpec& job = *scenario.job;
    const bool fails = std::ranges::any_of(
        job.plan.session_calls, [](const sim::SessionCallFault& fault) { return fault.at == CallKind::kRawRun; });
    if (!job.workload.init_fn) {
      EXPECT_FALSE(fails) << seed;
      continue;
    }
    ++all;
    failing += fails ? 1 : 0;
    EXPECT_NE(job.workload.kind, sim::WorkloadKind::kSupervisor) << seed;
    EXPECT_NE(job.workload.kind, sim::WorkloadKind::kConversation) << seed;
    EXPECT_NE(job.workload.kind, sim::WorkloadKind::kSyncRegression) << seed;
  }
  EXPECT_GE(all, 60);
  EXPECT_LE(all, 160);
  EXPECT_GE(failing, 5);
}

}  // namespace
}  // namespace vigil::properties

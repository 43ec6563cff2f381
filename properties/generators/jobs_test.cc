// What is drawn of the jobs whose sessions another task's master makes.
#include "vigil/properties/generators/jobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

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

}  // namespace
}  // namespace vigil::properties

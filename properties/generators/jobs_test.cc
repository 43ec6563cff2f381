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
      ++of_master;
      ++struck[fault.method];
      ++effects[fault.effect];
    }
    if (job.workload.master.empty()) {
      EXPECT_EQ(of_master, 0) << seed;
      continue;
    }
    ++remote;
    EXPECT_EQ(job.workload.master, "ps:0") << seed;
    EXPECT_GE(of_master, 1) << seed;
    EXPECT_LE(of_master, 3) << seed;
  }
  EXPECT_GE(remote, 80);
  EXPECT_LE(remote, 160);
  for (const std::string_view method : kOfAMaster) EXPECT_GE(struck[std::string(method)], 20) << method;
  EXPECT_EQ(effects.size(), 7U);
}

}  // namespace
}  // namespace vigil::properties

// Jobs for tests: a small one, and what playing it comes to.
// Thread safety: none.
#ifndef VIGIL_SIM_CLUSTER_TESTING_H_
#define VIGIL_SIM_CLUSTER_TESTING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vigil/sim/cluster/job.h"
#include "vigil/sim/world.h"

namespace vigil::sim {

struct PlayedJob {
  JobFacts facts;
  JobHistory history;
  WorldResult result;
  std::uint64_t hash = 0;
  std::map<std::string, std::vector<std::string>, std::less<>> warnings;  // that each node logged, over all its lives
};

// Under a random schedule and network of that seed.
PlayedJob PlayJobOf(const JobSpec& spec, std::uint64_t seed = 1, JobOptions options = {});

// Chief, worker, one parameter server; 40 steps, two seconds apart.
JobSpec SmallJob(WorkloadKind kind);

// Kills a task's process; it starts again after `back`, or stays away.
TimedFault CrashOf(std::string task, Duration at, std::optional<Duration> back = std::nullopt);

// "chief:0 clean, worker:0 UNAVAILABLE, a checkpoint".
std::string EndsOf(const JobFacts& facts);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_TESTING_H_

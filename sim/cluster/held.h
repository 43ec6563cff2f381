// What a server still holds when nobody should need anything any more, in words: "2 steps, 1 of /service/Method", ""
// for nothing. What JobMoment::kAtRest and kAtRestSoon say, and job.resources_return judges.
//
// Thread safety: pure functions.
#ifndef VIGIL_SIM_CLUSTER_HELD_H_
#define VIGIL_SIM_CLUSTER_HELD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vigil/core/cluster/server/server.h"

namespace vigil::sim {

struct HeldBeside {
  std::int64_t open_files = 0;
  std::int64_t bytes_in_flight = 0;
  bool requests = true;     // also what is under way, which for a while may be that of others
  std::size_t in_line = 0;  // Server::InLine
  std::size_t tasks = 0;    // that run: each may be in a step, which nobody has forgotten then
};

// Graphs are not among it: a server may keep them for the next who has the same ones.
std::string Held(const Server::Load& load, const HeldBeside& beside);

// Whether a task of that name is one of those that the server has under way.
bool IsOfServer(const std::string& task, const Server::Load& load);
// Those tasks of a process that are its program's: neither the server's nor of those that outlive a program.
std::vector<std::string> ProgramTasks(std::vector<std::string> tasks, const Server::Load& load);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_HELD_H_

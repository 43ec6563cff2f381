// A crew of worker processes: requests go in, in order; replies come out in the same order. A worker that dies is a
// finding, and another takes its place.
//
// Everything is forked from the caller, so that workers and reader see what it captured; what they change there nobody
// else sees. The number of requests and replies in memory is bounded, whatever is read.
//
// Thread safety: none. REQUIRES: the process has one thread, or jobs is 0.
#ifndef VIGIL_REPLAYS_CREW_CREW_H_
#define VIGIL_REPLAYS_CREW_CREW_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "vigil/replays/crew/crash.h"

namespace vigil::replays {

struct CrewOptions {
  int jobs = 1;  // 0: no processes, everything is done right here; what crashes takes the caller along, for a debugger
  int ahead = 32;  // requests for each job that wait, are being worked on or wait to be handed out
  PlayLimits limits = {};
  // So many crashes, and so many that take too long, and the rest is given up: nothing plays well any more.
  std::uint64_t most_crashes = 25;
  std::uint64_t most_timeouts = 2;
  bool leaks = true;  // what leaves more on the heap each time that it is worked on has crashed, too
};

// What a worker is given.
struct CrewView {
  const std::atomic<bool>* stop = nullptr;  // set once what is being played is no longer wanted
  std::function<void(std::uint64_t)> part =
      nullptr;  // says which part of the request is under way, from 1; restarts its time
};

using CrewWorker = std::function<std::string(const std::string& request)>;

struct CrewCallbacks {
  // One of the two. `next`: on the caller's side, until it has no more. `read`: in a process of its own; hands requests
  // to a function that returns false once no more are wanted.
  std::function<std::optional<std::string>()> next = nullptr;
  std::function<void(const std::function<bool(std::string)>&)> read = nullptr;
  std::function<CrewWorker(const CrewView&)> new_worker;  // once in each worker
  // In order. False: neither this nor anything after it counts (it was interrupted).
  std::function<bool(const std::string& reply)> on_reply;
  // In order, in place of the reply. May return a request that is made instead, without the part that crashed.
  std::function<std::optional<std::string>(const std::string& request, std::uint64_t part, const Crash&)> on_crash;
  std::function<void()> on_tick = nullptr;  // a few times a second while there is something to wait for
};

// Of a crew that works once: `work` in a worker; what comes of it is heard here.
CrewCallbacks OneRequest(std::function<std::string(const CrewView&)> work,
                         std::function<void(const std::string& reply)> on_reply,
                         std::function<void(const Crash&)> on_crash);

struct CrewSummary {
  bool stopped = false;   // by `stop`
  bool given_up = false;  // after too many crashes, of workers that played nothing, too: what was played is not all
};
// A line that says so.
inline constexpr std::string_view kGivenUp =
    "given up: too many of them crash, or do not end; the rest was not played\n";

// `stop` may be set at any time by a callback: what is being worked on is finished and handed out, nothing new is
// begun.
CrewSummary RunCrew(const CrewOptions& options, const CrewCallbacks& callbacks, const std::atomic<bool>& stop);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_CREW_CREW_H_

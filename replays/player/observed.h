// What python/vigil_player/observe.py wrote down of somebody's own program: the sessions of one process.
//
// A line of JSON each. The first names the format; then come, of a job (a monitored session with all its raw ones, or
// one that a supervisor hands out), what it was given, its events as players send them (event_json.h), at last that the
// program left it in order:
//   {"observed":1}
//   {"job":1,"hooks":["StopAtStepHook"],"recovers":true,...}
//   {"of":1,"event":{"line":"session 1 created","at":70099245}}
//   {"of":1,"ends":true}
// Jobs may alternate. Times are of the machine's clock, from the job's beginning.
//
// Thread safety: belongs to one thread.
#ifndef VIGIL_REPLAYS_PLAYER_OBSERVED_H_
#define VIGIL_REPLAYS_PLAYER_OBSERVED_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/player/event_json.h"
#include "vigil/sim/kernel/trace.h"

namespace vigil::replays {

inline constexpr std::int64_t kObservedFormat = 1;
// So many jobs of one program are read.
inline constexpr std::int64_t kMostObservedJobs = 10'000;

// What is known of the supervisor of a session.
struct ObservedSupervisor {
  bool by_hand = false;     // the session was prepared by its caller, not by a scope
  bool initialises = true;  // it has an init op or an init function
  bool asks_ready = true;   // it has an op that says whether the model is ready
};

struct ObservedJob {
  std::vector<std::string> hooks;      // the names of their classes
  std::vector<std::string> listeners;  // the same, of checkpoint savers
  bool recovers = true;                // else it is a singular session
  bool worker = false;                 // it waits for a model that another makes ready
  bool remote = false;                 // its master is a server, on which a model may be left
  bool init_fn = false;
  bool queue = false;                            // its graph has queue runners
  bool may_restore = false;                      // it was given a directory or a file
  bool saves_something = true;                   // there are variables
  std::optional<ObservedSupervisor> supervisor;  // whose session it is; none: a monitored one
  bool ended = false;                            // the program did, and left it at rest
  sim::Trace trace;
};

class ObservedReader {
 public:
  // One line. INVALID_ARGUMENT: what is wrong with it, and where in it.
  absl::Status Read(std::string_view line);
  // The line that names the format has been read.
  bool begun() const { return begun_; }
  // In the order of their numbers.
  const std::vector<std::unique_ptr<ObservedJob>>& jobs() const { return jobs_; }

 private:
  void ReadFormat(Fields& fields);
  void ReadJob(Fields& fields, const Field& job);
  void ReadEvent(Fields& fields, const Field& of);

  JsonDocument document_;
  bool begun_ = false;
  std::vector<std::unique_ptr<ObservedJob>> jobs_;
  std::vector<EventReader> readers_;  // of each job
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAYER_OBSERVED_H_

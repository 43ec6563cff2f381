// Watches what happens to the ledger on a server: every operation that writes one of its variables, by its kernel.
//
// It is a registry of ops like any other, for a server to run; sessions and graphs know nothing of it.
// Thread safety: as the function that is told.
#ifndef VIGIL_SIM_CLUSTER_UPDATE_WATCH_H_
#define VIGIL_SIM_CLUSTER_UPDATE_WATCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "vigil/core/base/time.h"
#include "vigil/core/graph/op.h"

namespace vigil::sim {

struct LedgerWrite {
  enum class Kind : std::uint8_t {
    kApplied,   // an update
    kAssigned,  // the variable was restored or initialised
    kWritten,   // its value is in a checkpoint's file
    kStepMade,  // the global step was counted
    kStepSet,   // ... restored or initialised
  };
  Kind kind = Kind::kApplied;
  std::string server;            // that keeps the count: "ps:0"; of the global step: ""
  std::string replica;           // whose updates it counts: "worker:0"; of the global step: ""
  std::int64_t value = 0;        // that it has now
  std::int64_t checkpoint = -1;  // of kWritten: its step
  std::int64_t attempt = 0;      // of kApplied: by its master's number, the same on all servers
  Time began;                    // it took place between then and now
};

// Where the writes go, and by which clock they begin.
struct WriteSink {
  std::function<Time()> now;
  std::function<void(const LedgerWrite&)> told;
};

// The same ops; the sink hears of each write to the global step or a variable of the ledger (programs.h), and of
// one of the ledger to a checkpoint, that went well.
std::unique_ptr<OpRegistry> WatchUpdates(const OpRegistry& ops, const WriteSink& sink);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_UPDATE_WATCH_H_

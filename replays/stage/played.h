// What was played, and nothing that anybody says of it: playing leaves it, judging looks at it, showing makes text and
// pictures of it. These are three steps, and nobody does two of them at once.
//
//   Outcome outcome = runner.Run(scenario);           // replays/play: an Outcome is a Played, too
//   CheckInvariants(scenario, outcome, *outcome.job); // replays/judge, properties/judge
//   ShowJob(*scenario.job, outcome, {}, outcome);     // replays/show
//
// Thread safety: data.
#ifndef VIGIL_REPLAYS_STAGE_PLAYED_H_
#define VIGIL_REPLAYS_STAGE_PLAYED_H_

#include <optional>
#include <vector>

#include "vigil/core/base/event.h"
#include "vigil/core/base/time.h"
#include "vigil/sim/cluster/job_facts.h"
#include "vigil/sim/cluster/job_history.h"
#include "vigil/sim/course.h"
#include "vigil/sim/fault_applier.h"
#include "vigil/sim/kernel/trace.h"
#include "vigil/sim/message_log.h"

namespace vigil::replays {

struct Played {
  bool real = false;      // by processes of a machine: of what follows there are the history and what has become of it
  Time start = {};        // of the world
  sim::Trace trace = {};  // the typed events, all tasks
  // Kinds that are never there, whatever happens: somebody else has played who does not tell of them.
  std::vector<EventKind> unseen = {};
  // Of a cluster:
  sim::JobHistory history = {};
  std::vector<sim::FaultApplier::Entry> faults = {};           // what the timed faults of the plan did
  std::vector<sim::FaultApplier::DiskEntry> disk_faults = {};  // what those of disks struck
  sim::MessageLog message_log = {};                            // if it was asked for
  sim::CourseLog course = {};                                  // the same: its messages and operations on files
  std::optional<sim::JobFacts> quiet =
      std::nullopt;  // what the same job came to without its faults, if that was played
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_PLAYED_H_

// What happened in a job, for people: a line for each event, a column for each node, virtual time at the left.
//
//      time  | chief:0                 | ps:0      | worker:0
//   --------- | ----------------------- | --------- | -----------
//       0.000 | life 1 begins           |           |
//      12.345 == crash ps:0 ==
//      12.401 |                         |           | run begins
//
// Events have the words of recordings (event_text.h). What the timed faults of the plan do stands across all columns.
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_SHOW_JOB_TEXT_H_
#define VIGIL_REPLAYS_SHOW_JOB_TEXT_H_

#include <optional>
#include <string>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/replays/stage/outcome.h"
#include "vigil/replays/stage/played.h"
#include "vigil/sim/cluster/job_facts.h"
#include "vigil/sim/cluster/job_spec.h"

namespace vigil::replays {

struct JobTextOptions {
  std::optional<Duration> until = std::nullopt;  // nothing that is later; since the start of the world
  std::vector<std::string> only_nodes = {};      // "ps:0"; none = all. What the plan does is shown all the same.
  bool numbers = false;                          // of events, in front: their places in the trace, from 1
};

// Lines without newlines. A text too long for its column goes on below.
std::vector<std::string> JobText(const sim::JobSpec& spec, const Played& played, const JobTextOptions& options);

// A line for each fault of the plan that changed nothing: "inert: {"at_s":12.5,"crash":"ps:0"}: it never happened".
std::vector<std::string> InertText(const sim::JobSpec& spec, const sim::JobFacts& facts);

// Puts both into outcome.events, and the names of its nodes. REQUIRES: outcome.job.
void ShowJob(const sim::JobSpec& spec, const Played& played, const JobTextOptions& options, PlainOutcome& outcome);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_SHOW_JOB_TEXT_H_

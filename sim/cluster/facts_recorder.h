// Watches one life of a training task from where its caller and its hooks stand, and keeps the facts of job_facts.h.
//
// It is the environment's event sink (and hands every event on), and makes a hook that sees sessions and steps.
// Thread safety: none; tasks of one world take turns.
#ifndef VIGIL_SIM_CLUSTER_FACTS_RECORDER_H_
#define VIGIL_SIM_CLUSTER_FACTS_RECORDER_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "vigil/core/base/event.h"
#include "vigil/core/env/env.h"
#include "vigil/core/train/session_run_hook.h"
#include "vigil/sim/cluster/job_facts.h"

namespace vigil::sim {

class FactsRecorder final : public EventSink {
 public:
  // `facts` of the task, to which this life adds; `inner` gets every event. Both borrowed.
  FactsRecorder(TaskFacts& facts, EventSink* inner);

  void Emit(const Event& event) override;

  // Sees every session and the step that each run fetched before it trained.
  HookPtr NewHook(Output global_step);

  void Opened(Duration after);
  // A run came back after so long with that step.
  void RunReturned(Duration took, std::int64_t step);
  void Ended(const absl::Status& status);

 private:
  class Watch;

  void Session() { ++facts_.sessions, fresh_ = true, creating_ = false; }
  void Step(std::int64_t step);

  TaskFacts& facts_;
  EventSink* const inner_;
  bool in_run_ = false;
  bool creating_ = true;  // from a recovery (or the beginning) until a hook sees the new session
  std::optional<std::int64_t> last_;
  bool fresh_ = true;  // no step was seen of the newest session yet
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_FACTS_RECORDER_H_

// Watches one life of a training task from where its caller and its hooks stand: keeps the facts of job_facts.h and
// writes the history of job_history.h.
//
// It is the environment's event sink (and hands every event on), and makes a hook that sees sessions and steps and a
// listener that sees checkpoints.
// Thread safety: safe.
#ifndef VIGIL_SIM_CLUSTER_FACTS_RECORDER_H_
#define VIGIL_SIM_CLUSTER_FACTS_RECORDER_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/base/event.h"
#include "vigil/core/env/env.h"
#include "vigil/core/train/session_run_hook.h"
#include "vigil/sim/cluster/chronicle.h"
#include "vigil/sim/cluster/job_facts.h"
#include "vigil/sim/cluster/job_history.h"

namespace vigil::sim {

class FactsRecorder final : public EventSink {
 public:
  // `facts` of the task, to which this life adds; `inner` gets every event. All borrowed.
  FactsRecorder(std::string task, std::string_view node, TaskFacts& facts, Chronicle& chronicle, EventSink* inner);
  // A new process of the task follows: from now on this one counts for itself alone.
  void Replaced();
  const std::string& task() const { return task_; }
  int life() const { return facts_->lives; }

  void Emit(const Event& event) override;

  // Sees every session and the step that each run fetched before it trained.
  HookPtr NewHook(Output global_step);

  void Serving();
  void Opened(Duration after);
  // A run came back after so long with that step, those counts of updates and that element of its input (-1: none).
  void RunReturned(Duration took, std::int64_t step, std::vector<float> ledger, std::int64_t element = -1);
  // What the events of a monitored session tell, of a program that has another one.
  void NewSession();
  void RunStarted();
  // Whether the runs from now on train, or only look at the model: these are no attempts of an update.
  void Trains(bool trains);
  void RunFailed(Code code);
  void InitFnBegan();
  void InitFnEnded(Code code);
  void Diverged();
  void Evaluated(std::int64_t step);
  // A listener was told of it: also looks whether it is there.
  void Saved(std::int64_t step);
  // A restore of the checkpoint of that step is about to be made.
  void Restoring(std::int64_t step);
  // A session beside the training was used again, so long after the last time.
  void CameBack(Code code, Duration idle);
  // A conversation heard that (JobMoment::kAnswered).
  void Answered(Code code, Answer answer);
  // A file of the program's own, in bytes.
  void FoundDiary(std::size_t size, bool right);
  void SyncedDiary(std::size_t size);
  // What its server holds when the program is about to return (JobMoment::kAtRest), but for steps that tasks of it run.
  void AtRest(std::string holds, std::int64_t graphs);
  // The program has returned while that task of it still ran.
  void TaskLeft(std::string_view task);
  void ToldToStop();
  void HasStopped(std::string holds);
  void Ended(const absl::Status& status);

 private:
  using Kind = JobMoment::Kind;
  using Lock = std::lock_guard<std::mutex>;
  class Watch;

  void Step(std::int64_t step);
  void HookEnd();
  // With mutex_ held.
  void Judge(const Event& event);
  void SessionCall(const Event& event);
  void Restored(std::int64_t step, Code code);
  JobMoment Moment(Kind kind, Code code = Code::kOk) const;
  void Note(Kind kind, Code code = Code::kOk) { chronicle_.Add(Moment(kind, code)); }
  void NoteStep(Kind kind, std::int64_t step, Code code = Code::kOk);

  // Held while something is written: never longer, and never where a task may have to wait.
  std::mutex mutex_;
  std::string task_;
  TaskFacts* facts_;
  TaskFacts own_;  // once it was replaced
  Chronicle& chronicle_;
  EventSink* const inner_;
  bool in_run_ = false;
  bool trains_ = true;
  bool creating_ = true;  // from a recovery (or the beginning) until a hook sees the new session
  std::optional<std::int64_t> last_;
  std::int64_t restoring_ = -1;
  std::int64_t damage_met_ = 0;  // before that
  bool fresh_ = true;            // no step was seen of the newest session yet
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_FACTS_RECORDER_H_

// The memory of one run at a time of one plan in one session: slots, pointers between them, resources found so far.
//
// Laid out once, then reused: a run touches nothing but what is here.
// Thread safety: one task at a time.
#ifndef VIGIL_CORE_SESSION_EXECUTOR_STATE_H_
#define VIGIL_CORE_SESSION_EXECUTOR_STATE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/session/plan.h"
#include "vigil/core/session/session.h"

namespace vigil {

// What is passed to the constructor must outlive the state.
class ExecutorState {
 public:
  ExecutorState(const Env& env, const Graph& graph, const Plan& plan, ResourceManager& own, ResourceManager& shared,
                const Cancellation& cancellation);
  ExecutorState(const ExecutorState&) = delete;
  ExecutorState& operator=(const ExecutorState&) = delete;

  // Runs the plan; errors as Session::Run. `deadline`: of Clock::Monotonic. `generation`: of the shared resources.
  // `rendezvous`: of a partition of a graph; null if it is whole.
  absl::Status Run(const RunCall& call, Time deadline, std::uint64_t generation, std::vector<Tensor>* fetched,
                   Rendezvous* rendezvous = nullptr);

 private:
  absl::Status TakeFeeds(const RunCall& call);
  absl::Status Execute(RunMetadata* trace);
  // Of a plan in which something may be dead.
  absl::Status ExecuteWithDead(RunMetadata* trace);
  absl::Status ExecuteTraced(std::size_t i, RunMetadata* trace);
  bool IsDead(const ControlStep& control) const;
  absl::Status CheckFetchesLive() const;
  absl::Status CheckTime() const;  // DEADLINE_EXCEEDED
  absl::Status ExecuteStep(const KernelCall& step);
  void Release(const PlanStep& step);
  void Clean();

  const Env& env_;
  const Graph& graph_;
  const Plan& plan_;
  KernelContext context_;
  std::uint64_t generation_ = 0;
  std::vector<Tensor> slots_;
  std::vector<const Tensor*> inputs_;
  std::vector<std::shared_ptr<Resource>> cached_;  // one a step
  std::vector<KernelCall> calls_;                  // one a step
  std::vector<char> dead_;                         // Plan::flags: 1 = set
  bool running_ = false;                           // see Run
};

}  // namespace vigil

#endif  // VIGIL_CORE_SESSION_EXECUTOR_STATE_H_

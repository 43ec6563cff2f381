// One step, as its master sees it: requests to the tasks that work on it, and what goes wrong.
//
// The first failure cancels the step everywhere. What the step fails with is the root cause: the first error that does
// not only follow from another one (step_errors.h).
// Thread safety: Fail() from anywhere, it never waits; the rest by the task that runs the step. Used through
// shared_ptr.
#ifndef VIGIL_CORE_CLUSTER_MASTER_STEP_RUN_H_
#define VIGIL_CORE_CLUSTER_MASTER_STEP_RUN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/cluster/parallel_calls.h"
#include "vigil/core/cluster/worker/worker_service.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

class StepRun final : public ParallelCalls {
 public:
  // `worker`: of the master's own task.
  StepRun(const Env& env, WorkerService& worker, std::size_t remote);

  // For another step with as many remote partitions.
  void Begin(std::int64_t step_id);
  std::int64_t step_id() const { return step_id_; }
  // The own partition runs from now on (true), or does not any more. False: the step has failed, it must not begin.
  bool SetLocal(bool runs);
  void Fail(const absl::Status& why) override;
  // Waits for what is under way; DEADLINE_EXCEEDED if that takes too long.
  absl::Status Finish(Time deadline);

  // True for the first who asks since Begin(): it is he who tells the tasks to forget the step.
  bool TakeCleanup();

  // The room is kept from one step to the next, what is in it not: it may be large.
  void ForgetValues();
  std::vector<Tensor> feeds;
  std::vector<Tensor> fetched;

 private:
  void OnReply(std::size_t i, const NetworkReply& reply) override;

  const std::shared_ptr<WorkerService> worker_;
  const std::size_t remote_;
  std::int64_t step_id_ = 0;
  SpinLock lock_;
  // Guarded by lock_.
  absl::Status error_;  // the best so far
  bool failed_ = false;
  bool local_ = false;
  bool cleanup_taken_ = false;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_MASTER_STEP_RUN_H_

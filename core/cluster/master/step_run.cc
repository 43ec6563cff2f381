#include "vigil/core/cluster/master/step_run.h"

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/step_errors.h"

namespace vigil {

StepRun::StepRun(const Env& env, WorkerService& worker, std::size_t remote)
    : ParallelCalls(env), worker_(worker.shared_from_this()), remote_(remote) {}

void StepRun::Begin(std::int64_t step_id) {
  Reuse(remote_);
  step_id_ = step_id;
  SpinGuard lock(lock_);
  error_ = absl::OkStatus();
  failed_ = local_ = cleanup_taken_ = false;
}

void StepRun::ForgetValues() {
  feeds.clear();
  fetched.clear();
  ForgetReplies();
}

bool StepRun::TakeCleanup() {
  SpinGuard lock(lock_);
  return !std::exchange(cleanup_taken_, true);
}

bool StepRun::SetLocal(bool runs) {
  SpinGuard lock(lock_);
  if (runs && failed_) return false;
  local_ = runs;
  return true;
}

void StepRun::Fail(const absl::Status& why) {
  bool local = false;
  {
    SpinGuard lock(lock_);
    if (failed_) {
      // What is cancelled because the step has failed says nothing new.
      if (IsDerived(error_) && !IsDerived(why) && CodeOf(why) != Code::kCancelled) error_ = why;
      return;
    }
    failed_ = true;
    error_ = why;
    local = local_;
  }
  CancelAll();
  if (local) worker_->CancelStep(step_id_, Derived(why));
}

void StepRun::OnReply(std::size_t, const NetworkReply& reply) {
  if (!reply.ok()) Fail(reply.status());
}

absl::Status StepRun::Finish(Time deadline) {
  if (!Wait(deadline)) {
    Fail(MakeStatus(Code::kDeadlineExceeded, "Operation timed out."));
    Wait(kNever);
  }
  SpinGuard lock(lock_);
  return Underived(error_);
}

}  // namespace vigil

#include "vigil/core/cluster/client/heartbeat.h"

#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"

namespace vigil {

Heartbeat::Heartbeat(const Env& env, NetworkRequest beat, Duration every)
    : env_(env), beat_(std::move(beat)), every_(every), over_(*env.tasks, "the end of a heartbeat") {}

absl::StatusOr<std::shared_ptr<Heartbeat>> Heartbeat::Start(const Env& env, NetworkRequest beat, Duration every) {
  const std::shared_ptr<Heartbeat> heart(new Heartbeat(env, std::move(beat), every));
  VIGIL_ASSIGN_OR_RETURN(heart->task_, TrySpawn(*env.tasks, "heartbeat", [heart] { heart->Run(); }));
  return heart;
}

void Heartbeat::Run() {
  while (!over_.Wait(DeadlineAfter(env_, every_))) {
    NetworkRequest beat = beat_;
    beat.deadline = DeadlineAfter(env_, every_);
    beat.at_once = true;  // behind a large tensor it would come too late
    env_.network->Start(std::move(beat), [](const NetworkReply&) {});
  }
}

void Heartbeat::Join() {
  Stop();
  task_->Join(kNever);
}

}  // namespace vigil

#include "vigil/properties/model/coordinator.h"

#include <algorithm>

namespace vigil::properties::model {

void Coordinator::Store(Code error) {
  if (!stop_) stored_ = error;
  stop_ = true;
}

void Coordinator::Listen() {
  for (const std::shared_ptr<InputQueue>& queue : queues_) {
    if (queue->reports == Code::kOk) continue;
    if (!queue->ended) return world_.Refuse("faults.at enqueue whose report no run has waited for");
    Store(queue->reports);
    queue->reports = Code::kOk;
  }
}

Code Coordinator::RequestStop(Code error) {
  if (error == Code::kOk) {
    world_.Say("coordinator request_stop");
  } else {
    world_.Say("coordinator request_stop {}", CodeName(error));
  }
  Listen();
  for (const std::shared_ptr<InputQueue>& queue : queues_) {
    if (queue->ended) continue;
    // A stop may come before the thread's next call, which then is not made.
    if (world_.HasFaultFrom(FaultPoint::kEnqueue, queue->first_call + (queue->taken ? 1 : 0)))
      world_.Refuse("faults.at enqueue where the queue is stopped before it ended");
    queue->stopped_early = queue->stopped_early || !queue->taken;
  }
  if (knows_clean_end_ && error == Code::kOutOfRange) error = Code::kOk;
  if (joined_) return error;
  Store(error);
  return Code::kOk;
}

Code Coordinator::Join(bool ignore_live_threads) {
  constexpr double kShortestSecs = 0.001;
  world_.Say("coordinator join");
  Listen();
  double left = grace_secs_;
  for (double nap = kShortestSecs; left >= 0 && world_.now() < threads_end_;) {
    world_.Advance(nap);
    left -= nap;
    nap = std::max(std::min(2 * nap, left), kShortestSecs);
  }
  const bool stragglers = world_.now() < threads_end_;
  if (left < grace_secs_ && !stragglers) world_.DoubtTime();
  threads_end_ = 0;
  queues_.clear();
  joined_ = true;
  if (stored_ != Code::kOk) return stored_;
  return stragglers && !ignore_live_threads ? Code::kUsage : Code::kOk;
}

void Coordinator::ClearStop() {
  Listen();
  stop_ = false;
  joined_ = false;
  stored_ = Code::kOk;
}

void Coordinator::StartThread(double secs) { threads_end_ = std::max(threads_end_, world_.now() + secs); }

Code Coordinator::stored() {
  Listen();
  return stored_;
}

bool Coordinator::should_stop() {
  Listen();
  return stop_;
}

}  // namespace vigil::properties::model

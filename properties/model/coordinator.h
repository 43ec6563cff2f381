// The modelled coordinator of one session: a stop flag, the first error that was reported, and threads that hear of neither.
// Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_COORDINATOR_H_
#define VIGIL_PROPERTIES_MODEL_COORDINATOR_H_

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/properties/model/world.h"

namespace vigil::properties::model {

class Coordinator {
 public:
  Coordinator(World& world, double grace_secs) : world_(world), grace_secs_(grace_secs) {}

  // kOk = without an error. Sessions have no clean types: every error counts.
  Code RequestStop(Code error) {
    if (error == Code::kOk) {
      world_.Say("coordinator request_stop");
    } else {
      world_.Say("coordinator request_stop {}", CodeName(error));
    }
    if (joined_) return error;
    if (!stop_) stored_ = error;
    stop_ = true;
    return Code::kOk;
  }
  // Sleeps twice as long each time, until the threads have ended or the sleeps add up to the grace period.
  Code Join() {
    constexpr double kShortestSecs = 0.001;
    world_.Say("coordinator join");
    double left = grace_secs_;
    for (double nap = kShortestSecs; left >= 0 && world_.now() < threads_end_;) {
      world_.Advance(nap);
      left -= nap;
      nap = std::max(std::min(2 * nap, left), kShortestSecs);
    }
    threads_end_ = 0;
    joined_ = true;
    return stored_;
  }
  // A thread that ends after so many seconds, whatever it is told.
  void StartThread(double secs) { threads_end_ = std::max(threads_end_, world_.now() + secs); }
  Code stored() const { return stored_; }
  bool should_stop() const { return stop_; }

 private:
  World& world_;
  const double grace_secs_;
  double threads_end_ = 0;  // of the last one
  bool stop_ = false;
  bool joined_ = false;
  Code stored_ = Code::kOk;
};

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_COORDINATOR_H_

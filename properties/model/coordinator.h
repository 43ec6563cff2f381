// The modelled coordinator of a session or a supervisor: a stop flag, the first error that was reported, and threads
// that hear of neither.
// Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_COORDINATOR_H_
#define VIGIL_PROPERTIES_MODEL_COORDINATOR_H_

#include <memory>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/properties/model/input_queue.h"
#include "vigil/properties/model/world.h"

namespace vigil::properties::model {

class Coordinator {
 public:
  // `knows_clean_end`: OUT_OF_RANGE is no error (a supervisor's; sessions have no clean types: every error counts).
  Coordinator(World& world, double grace_secs, bool knows_clean_end = false)
      : world_(world), grace_secs_(grace_secs), knows_clean_end_(knows_clean_end) {}

  // kOk = without an error. Returns the error that nobody will hear of any more, as there has been a join.
  Code RequestStop(Code error);
  // Sleeps twice as long each time, until the threads have ended or the sleeps add up to the grace period.
  Code Join(bool ignore_live_threads = true);
  // As if nothing had been requested, reported or joined.
  void ClearStop();
  void set_grace(double secs) { grace_secs_ = secs; }
  // A loss that is not a number was seen.
  void MarkDiverged() { diverged_ = true; }
  bool diverged() const { return diverged_; }
  // A thread that ends after so many seconds, whatever it is told.
  void StartThread(double secs);
  // A thread that fills a queue.
  void HearOf(std::shared_ptr<InputQueue> queue) { queues_.push_back(std::move(queue)); }

  Code stored();
  bool should_stop();

 private:
  // What the threads have reported by now.
  void Listen();
  void Store(Code error);

  World& world_;
  double grace_secs_;
  const bool knows_clean_end_;
  double threads_end_ = 0;  // of the last one
  bool diverged_ = false;
  bool stop_ = false;
  bool joined_ = false;
  Code stored_ = Code::kOk;
  std::vector<std::shared_ptr<InputQueue>> queues_;
};

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_COORDINATOR_H_

// The modelled coordinator of one session: a stop flag and the first error that was reported. There is nothing to join.
// Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_COORDINATOR_H_
#define VIGIL_PROPERTIES_MODEL_COORDINATOR_H_

#include "vigil/core/base/code.h"
#include "vigil/properties/model/world.h"

namespace vigil::properties::model {

class Coordinator {
 public:
  explicit Coordinator(World& world) : world_(world) {}

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
  Code Join() {
    world_.Say("coordinator join");
    joined_ = true;
    return stored_;
  }
  Code stored() const { return stored_; }
  bool should_stop() const { return stop_; }

 private:
  World& world_;
  bool stop_ = false;
  bool joined_ = false;
  Code stored_ = Code::kOk;
};

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_COORDINATOR_H_

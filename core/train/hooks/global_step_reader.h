// What the hooks have in common: the tensor that reads the global step, as something to fetch and as a run of its own.
//
// The value fetched in the same run as a train op is the one from before that op; a run of its own gives the present
// one. This header is for core/train/hooks itself. Thread safety: one task at a time.
#ifndef VIGIL_CORE_TRAIN_HOOKS_GLOBAL_STEP_READER_H_
#define VIGIL_CORE_TRAIN_HOOKS_GLOBAL_STEP_READER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/session/session.h"
#include "vigil/core/tensor/tensor.h"
#include "vigil/core/train/fetches.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

class GlobalStepReader {
 public:
  // In Begin. USAGE "Global step should be created to use <user>." without a global step.
  absl::Status Init(const BeginContext& context, std::string_view user);

  // REQUIRES: Init has succeeded.
  const Fetches& fetches() const { return fetches_; }
  Output read() const { return spec_.fetches[0]; }
  // A run of its own; allocates nothing once it has been warm. USAGE for a null session.
  absl::StatusOr<std::int64_t> Read(Session* session);

 private:
  Fetches fetches_;
  RunSpec spec_;
  std::vector<Tensor> fetched_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_GLOBAL_STEP_READER_H_

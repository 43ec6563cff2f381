// The accumulator behind a ConditionalAccumulator node: gradients of several replicas, averaged once there are enough.
//
// It has a step of its own. A gradient that was computed for an earlier step is stale: it is dropped, and nobody is
// told. Who takes waits until as many gradients are there as it asks for, gets the average of all that are, and moves
// the step on by one. Those who take are served in the order in which they came, also when a later one asks for less.
// Errors: INVALID_ARGUMENT for a gradient of another shape or type; CANCELLED or DEADLINE_EXCEEDED for taking when the
// run ends meanwhile; CANCELLED after CancelTakes().
// Thread safety: safe from any task.
// Source: TensorFlow's conditional_accumulator_base.cc, as observed from outside.
#ifndef VIGIL_CORE_OPS_ACCUMULATOR_H_
#define VIGIL_CORE_OPS_ACCUMULATOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/graph/resource.h"
#include "vigil/core/tensor/partial_shape.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

struct AccumulatorOptions {
  std::string name;
  DType dtype = DType::kFloat;  // float or double
  PartialShape shape;           // what is not known: as of the first gradient since the last taking
  bool takes_mean = true;       // else the sum
};

class ConditionalAccumulator : public Resource {
 public:
  static constexpr std::string_view kKind = "accumulator";

  ConditionalAccumulator(const Env& env, AccumulatorOptions options);
  // What the node says that stands for one. REQUIRES: its signature was checked.
  static AccumulatorOptions OptionsOf(const Node& node);

  DType dtype() const { return options_.dtype; }
  // Adds a gradient that was computed for step `local_step`; OK also for one that is dropped as stale. Never waits.
  absl::Status Apply(std::int64_t local_step, const Tensor& gradient);
  // Waits as above. An error leaves the gradients and the step as they are. REQUIRES: num_required > 0.
  absl::Status Take(const KernelContext& run, std::int64_t num_required, Tensor* gradient);
  std::int64_t NumAccumulated() const;  // since the last taking, without what was dropped
  // Keeps what is accumulated. May go back. Ends the effect of CancelTakes().
  void SetGlobalStep(std::int64_t step);
  // Ends those who wait to take, and those who come, until the next SetGlobalStep(). Gradients stay.
  void CancelTakes();
  void Cancel() override;
  std::size_t in_line() const override { return in_line_.load(std::memory_order_relaxed); }

 private:
  class Turn;

  // REQUIRES: *mutex_ is held.
  absl::Status Add(const Tensor& gradient);
  absl::Status TakeSum(Tensor* sum);
  void NoteLine() { in_line_.store(taking_.size(), std::memory_order_relaxed); }

  const AccumulatorOptions options_;
  const std::unique_ptr<Mutex> mutex_;
  const std::unique_ptr<Condition> changed_;
  // Guarded by *mutex_.
  std::int64_t step_ = 0;
  std::int64_t count_ = 0;
  Tensor sum_;
  std::deque<const Turn*> taking_;
  bool takes_cancelled_ = false;
  std::atomic<std::size_t> in_line_{0};  // how long the line is; may be read without the lock
};

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_ACCUMULATOR_H_

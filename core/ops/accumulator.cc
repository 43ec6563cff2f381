#include "vigil/core/ops/accumulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/op_util.h"

namespace vigil {
namespace {

template <typename T>
Tensor Divided(const Tensor& sum, std::int64_t count) {
  Tensor out(sum.dtype(), sum.shape());
  const T divisor = static_cast<T>(count);
  T* to = out.mutable_flat<T>().data();
  for (const T value : sum.flat<T>()) *to++ = value / divisor;
  return out;
}

}  // namespace

// A place in the line of those who take; given up when destroyed, also when the task is killed. REQUIRES: the mutex is held throughout
// (but for waiting).
class ConditionalAccumulator::Turn {
 public:
  explicit Turn(ConditionalAccumulator& accumulator) : accumulator_(accumulator) {
    accumulator_.taking_.push_back(this);
  }
  ~Turn() {
    accumulator_.taking_.erase(std::ranges::find(accumulator_.taking_, this));
    accumulator_.changed_->NotifyAll();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool HasCome() const { return accumulator_.taking_.front() == this; }

 private:
  ConditionalAccumulator& accumulator_;
};

ConditionalAccumulator::ConditionalAccumulator(const Env& env, AccumulatorOptions options)
    : options_(std::move(options)),
      mutex_(env.tasks->NewMutex(options_.name)),
      changed_(env.tasks->NewCondition(options_.name)) {}

absl::Status ConditionalAccumulator::Add(const Tensor& gradient) {
  const Shape* const expected = count_ > 0 ? &sum_.shape() : options_.shape.has_value() ? &*options_.shape : nullptr;
  if (expected != nullptr && *expected != gradient.shape()) {
    return InvalidArgument("Shape mismatch: expected {}, got {}", expected->ToString(), gradient.shape().ToString());
  }
  sum_ = count_ > 0 ? AddSame(sum_, gradient) : gradient;
  ++count_;
  return absl::OkStatus();
}

absl::Status ConditionalAccumulator::Apply(std::int64_t local_step, const Tensor& gradient) {
  if (gradient.dtype() != options_.dtype) {
    return InvalidArgument("Accumulator '{}' takes gradients of type {}, not {}", options_.name,
                           DTypeName(options_.dtype), DTypeName(gradient.dtype()));
  }
  const MutexLock lock(*mutex_);
  if (local_step < step_) return absl::OkStatus();
  VIGIL_RETURN_IF_ERROR(Add(gradient));
  if (!taking_.empty()) changed_->NotifyAll();
  return absl::OkStatus();
}

Tensor ConditionalAccumulator::TakeSum() {
  const std::int64_t count = std::exchange(count_, 0);
  Tensor sum = std::exchange(sum_, Tensor());
  ++step_;
  if (!options_.takes_mean) return sum;
  return options_.dtype == DType::kFloat ? Divided<float>(sum, count) : Divided<double>(sum, count);
}

absl::Status ConditionalAccumulator::Take(const KernelContext& run, std::int64_t num_required, Tensor* gradient) {
  const MutexLock lock(*mutex_);
  const Turn turn(*this);
  while (true) {
    if (takes_cancelled_ || run.cancelled()) return MakeStatus(Code::kCancelled, "TakeGrad operation was cancelled");
    if (turn.HasCome() && count_ >= num_required && count_ > 0) break;
    if (!changed_->Wait(*mutex_, run.deadline())) {
      return MakeStatus(Code::kDeadlineExceeded, "Timed out waiting for notification");
    }
  }
  *gradient = TakeSum();
  return absl::OkStatus();
}

std::int64_t ConditionalAccumulator::NumAccumulated() const {
  const MutexLock lock(*mutex_);
  return count_;
}

void ConditionalAccumulator::SetGlobalStep(std::int64_t step) {
  const MutexLock lock(*mutex_);
  step_ = step;
  takes_cancelled_ = false;
}

void ConditionalAccumulator::CancelTakes() {
  const MutexLock lock(*mutex_);
  takes_cancelled_ = true;
  changed_->NotifyAll();
}

void ConditionalAccumulator::Cancel() {
  const MutexLock lock(*mutex_);
  changed_->NotifyAll();
}

}  // namespace vigil

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
absl::Status DivideBy(Tensor& sum, std::int64_t count) {
  return Rewrite(sum, [divisor = static_cast<T>(count)](const Tensor& old, Tensor& out) {
    T* to = out.mutable_flat<T>().data();
    for (const T value : old.flat<T>()) *to++ = value / divisor;
  });
}

}  // namespace

// A place in the line of those who take; given up when destroyed, also when the task is killed. REQUIRES: the mutex is
// held throughout (but for waiting).
class ConditionalAccumulator::Turn {
 public:
  explicit Turn(ConditionalAccumulator& accumulator) : accumulator_(accumulator) {
    accumulator_.taking_.push_back(this);
    accumulator_.NoteLine();
  }
  ~Turn() {
    accumulator_.taking_.erase(std::ranges::find(accumulator_.taking_, this));
    accumulator_.NoteLine();
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

AccumulatorOptions ConditionalAccumulator::OptionsOf(const Node& node) {
  const auto text = [&node](std::string_view name) {
    const auto it = node.attrs.find(name);
    return it == node.attrs.end() ? std::string() : std::get<std::string>(it->second);
  };
  AccumulatorOptions options;
  options.name = text("shared_name");
  if (options.name.empty()) options.name = "_0_" + node.name;
  options.dtype = std::get<DType>(node.attrs.find("dtype")->second);
  options.shape = DeclaredShape(node);
  options.takes_mean = text("reduction_type") != "SUM";
  return options;
}

absl::Status ConditionalAccumulator::Add(const Tensor& gradient) {
  const PartialShape expected = count_ > 0 ? PartialShape(sum_.shape()) : options_.shape;
  if (!expected.IsCompatibleWith(gradient.shape())) {
    return InvalidArgument("Shape mismatch: expected {}, got {}", expected.ToString(), gradient.shape().ToString());
  }
  if (count_ > 0) {
    VIGIL_RETURN_IF_ERROR(AddInto(sum_, gradient));
  } else {
    sum_ = gradient;
  }
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

absl::Status ConditionalAccumulator::TakeSum(Tensor* sum) {
  const std::int64_t count = std::exchange(count_, 0);
  *sum = std::exchange(sum_, Tensor());
  ++step_;
  if (!options_.takes_mean) return absl::OkStatus();
  return options_.dtype == DType::kFloat ? DivideBy<float>(*sum, count) : DivideBy<double>(*sum, count);
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
  return TakeSum(gradient);
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

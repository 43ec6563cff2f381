// Softmax and the losses that are made with it: rows are taken less their largest element, so nothing overflows.
#include <algorithm>
#include <cmath>

#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"

namespace vigil {
namespace {

// A row's elements less the largest, the sum of their exponentials in `sum`.
template <typename T>
struct ShiftedRow {
  ShiftedRow(const T* elements, std::int64_t n, std::int64_t apart = 1) : row(elements), step(apart) {
    for (std::int64_t i = 0; i < n; ++i) largest = i == 0 ? row[0] : std::max(largest, row[i * step]);
    for (std::int64_t i = 0; i < n; ++i) sum += std::exp(at(i));
  }
  T at(std::int64_t i) const { return row[i * step] - largest; }

  const T* row;
  std::int64_t step;
  T largest = 0;
  T sum = 0;
};

// Over the last axis.
template <bool kLog>
absl::Status SoftmaxKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.shape().rank() < 1) return InvalidArgument("logits must have >= 1 dimension, got {}", in.shape().ToString());
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), in.shape().dims()));
  const std::int64_t n = in.shape().dim(in.shape().rank() - 1);
  const bool known = ForFloating(in.dtype(), [&]<typename T>() {
    const T* row = in.flat<T>().data();
    T* to = out.mutable_flat<T>().data();
    for (std::int64_t left = in.num_elements(); left > 0; left -= n, row += n, to += n) {
      const ConstArrayView<T> logits(row, n);
      ArrayView<T> result(to, n);
      result = logits - logits.maxCoeff();
      if (kLog) {
        result -= std::log(result.exp().sum());
      } else {
        result = result.exp();
        result /= result.sum();
      }
    }
  });
  if (!known) return NoKernel(c);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Rows of logits and labels; either may be broadcast to the other.
template <typename T>
void CrossEntropy(const Tensor& logits, const Tensor& labels, const std::vector<std::int64_t>& dims, Tensor& loss,
                  Tensor& backprop) {
  const std::vector<std::int64_t> of_logits = BroadcastStrides(logits.shape(), dims);
  const std::vector<std::int64_t> of_labels = BroadcastStrides(labels.shape(), dims);
  T* lost = loss.mutable_flat<T>().data();
  T* back = backprop.mutable_flat<T>().data();
  for (std::int64_t row = 0; row < dims[0]; ++row) {
    const ShiftedRow<T> shifted(logits.flat<T>().data() + row * of_logits[0], dims[1], of_logits[1]);
    const T* const label = labels.flat<T>().data() + row * of_labels[0];
    const T log_sum = std::log(shifted.sum);
    T sum = 0;
    for (std::int64_t i = 0; i < dims[1]; ++i) {
      const T wanted = label[i * of_labels[1]];
      const T term = wanted * (log_sum - shifted.at(i));
      sum += wanted == T(0) ? T(0) : term;  // as TensorFlow: a class that is not wanted costs nothing
      *back++ = std::exp(shifted.at(i)) / shifted.sum - wanted;
    }
    *lost++ = sum;
  }
}

absl::Status CrossEntropyKernel(KernelContext& c) {
  const Tensor& logits = c.input(0);
  const Tensor& labels = c.input(1);
  std::vector<std::int64_t> dims;
  if (!BroadcastShape(logits.shape(), labels.shape(), &dims)) {
    return InvalidArgument("logits and labels must be broadcastable: logits_size={} labels_size={}",
                           logits.shape().ToString(), labels.shape().ToString());
  }
  if (dims.size() != 2) {
    return InvalidArgument("logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional");
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor loss, Tensor::Make(logits.dtype(), {dims[0]}));
  VIGIL_ASSIGN_OR_RETURN(Tensor backprop, Tensor::MakeUnwritten(logits.dtype(), dims));
  if (backprop.num_elements() > 0) {
    ForFloating(logits.dtype(), [&]<typename T>() { CrossEntropy<T>(logits, labels, dims, loss, backprop); });
  }
  c.set_output(0, std::move(loss));
  c.set_output(1, std::move(backprop));
  return absl::OkStatus();
}

template <typename T>
void SparseCrossEntropy(const Tensor& logits, const std::vector<std::int64_t>& labels, Tensor& loss, Tensor& backprop) {
  const std::int64_t n = logits.shape().dim(1);
  const T* row = logits.flat<T>().data();
  T* lost = loss.mutable_flat<T>().data();
  T* back = backprop.mutable_flat<T>().data();
  for (const std::int64_t label : labels) {
    const T largest = *std::max_element(row, row + n, [](T a, T b) { return a < b; });
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += back[i] = std::exp(row[i] - largest);
    *lost++ = std::log(sum) - (row[label] - largest);
    for (std::int64_t i = 0; i < n; ++i) back[i] = back[i] / sum - (i == label ? T(1) : T(0));
    row += n;
    back += n;
  }
}

absl::Status SparseCrossEntropyKernel(KernelContext& c) {
  const Tensor& logits = c.input(0);
  const Shape& of_labels = c.input(1).shape();
  if (logits.shape().rank() != 2) {
    return InvalidArgument("logits must be 2-D, but got shape {}", logits.shape().ToString());
  }
  if (of_labels.rank() != 1) return InvalidArgument("labels must be 1-D, but got shape {}", of_labels.ToString());
  if (logits.shape().dim(0) != of_labels.dim(0)) {
    return InvalidArgument(
        "logits and labels must have the same first dimension, got logits shape {} and labels shape {}",
        logits.shape().ToString(), of_labels.ToString());
  }
  const std::int64_t n = logits.shape().dim(1);
  if (n <= 0)
    return InvalidArgument("Must have at least one class, but got logits shape {}", logits.shape().ToString());
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> labels, Integers(c.input(1)));
  for (const std::int64_t label : labels) {
    if (label >= 0 && label < n) continue;
    return InvalidArgument(
        "Received a label value of {} which is outside the valid range of [0, {}).  Label values: {}", label, n,
        fmt::join(labels, " "));
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor loss, Tensor::MakeUnwritten(logits.dtype(), {logits.shape().dim(0)}));
  VIGIL_ASSIGN_OR_RETURN(Tensor backprop, Tensor::MakeUnwritten(logits.dtype(), logits.shape().dims()));
  ForFloating(logits.dtype(), [&]<typename T>() { SparseCrossEntropy<T>(logits, labels, loss, backprop); });
  c.set_output(0, std::move(loss));
  c.set_output(1, std::move(backprop));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DType>> CrossEntropyTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(OneTypeOf<Elements::kFloating>(node, inputs).status());
  return std::vector<DType>{inputs[0], inputs[0]};
}

absl::StatusOr<std::vector<DType>> SparseCrossEntropyTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kFloat, DType::kDouble}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32, DType::kInt64}));
  return std::vector<DType>{inputs[0], inputs[0]};
}

}  // namespace

void RegisterSoftmaxOps(OpRegistry& registry) {
  registry.Register({.name = "Softmax",
                     .inputs = 1,
                     .output_types = OneTypeOf<Elements::kFloating>,
                     .compute = SoftmaxKernel<false>});
  registry.Register({.name = "LogSoftmax",
                     .inputs = 1,
                     .output_types = OneTypeOf<Elements::kFloating>,
                     .compute = SoftmaxKernel<true>});
  registry.Register({.name = "SoftmaxCrossEntropyWithLogits",
                     .inputs = 2,
                     .output_types = CrossEntropyTypes,
                     .compute = CrossEntropyKernel});
  registry.Register({.name = "SparseSoftmaxCrossEntropyWithLogits",
                     .inputs = 2,
                     .output_types = SparseCrossEntropyTypes,
                     .compute = SparseCrossEntropyKernel});
}

}  // namespace vigil

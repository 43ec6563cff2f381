// Kernels that work element by element with a function of one or two numbers: what the sources of this folder share.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_OPS_NN_ELEMENTS_H_
#define VIGIL_CORE_OPS_NN_ELEMENTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/graph/op.h"
#include "vigil/core/ops/broadcast.h"
#include "vigil/core/ops/op_util.h"

namespace vigil {

// As ForNumeric(), for floating-point types only.
template <typename Body>
bool ForFloating(DType dtype, Body&& body) {
  if (dtype == DType::kFloat) {
    body.template operator()<float>();
    return true;
  }
  if (dtype == DType::kDouble) {
    body.template operator()<double>();
    return true;
  }
  return false;
}

// False of integers.
template <typename T>
constexpr bool IsNaN(T number) {
  return number != number;
}

// Calls work(begin, count) for stretches of [0, n): of the first of these widths as long as one fits, then of the next,
// then of what is left. A width is a constant of the type of `count`: what is kept of so many stays in registers.
template <std::int64_t... kWidths, typename Work>
void EachStretch(std::int64_t n, const Work& work) {
  std::int64_t begin = 0;
  const auto each_of = [&](auto width) {
    for (; begin + width <= n; begin += width) work(begin, width);
  };
  (each_of(std::integral_constant<std::int64_t, kWidths>()), ...);
  if (begin < n) work(begin, n - begin);
}

// Whether an op is for all numeric types, or for floating-point ones.
enum class Elements : std::uint8_t { kNumeric, kFloating };

template <Elements kWhich, typename Body>
bool ForElements(DType dtype, Body&& body) {
  if constexpr (kWhich == Elements::kNumeric) {
    return ForNumeric(dtype, std::forward<Body>(body));
  } else {
    return ForFloating(dtype, std::forward<Body>(body));
  }
}

// One output of the type of the inputs, which have one type of those.
template <Elements kWhich>
absl::StatusOr<std::vector<DType>> OneTypeOf(const Node& node, const std::vector<DType>& inputs) {
  if (inputs.empty()) return UsageError(fmt::format("'{}' Op needs at least one input.", node.op));
  if constexpr (kWhich == Elements::kNumeric) {
    VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64}));
  } else {
    VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kFloat, DType::kDouble}));
  }
  for (std::size_t i = 1; i < inputs.size(); ++i) VIGIL_RETURN_IF_ERROR(RequireSameTypes(node, inputs, 0, i));
  return std::vector<DType>{inputs[0]};
}

// One output: int32 or int64, as that attribute says, or `missing`.
inline absl::StatusOr<std::vector<DType>> IndexTypeFrom(const Node& node, std::string_view attr, DType missing) {
  const auto it = node.attrs.find(attr);
  if (it == node.attrs.end()) return std::vector<DType>{missing};
  VIGIL_RETURN_IF_ERROR(RequireAttr<DType>(node, attr));
  const DType type = std::get<DType>(it->second);
  if (type == DType::kInt32 || type == DType::kInt64) return std::vector<DType>{type};
  return UsageError(fmt::format("'{}' Op gives int32 or int64, not {}.", node.op, DTypeName(type)));
}

// out[i] = F()(in[i]).
template <Elements kWhich, typename F>
absl::Status EachElement(KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), in.shape().dims()));
  const bool known = ForElements<kWhich>(in.dtype(), [&]<typename T>() {
    const T* const from = in.flat<T>().data();
    T* const to = out.mutable_flat<T>().data();
    ParallelForElements(c, in.num_elements(), kCostOfElement, [from, to](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) to[i] = F()(from[i]);
    });
  });
  if (!known) return NoKernel(c);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// out = F()(in), for an F that works on whole arrays: Eigen's functions take several elements at once.
template <typename F>
absl::Status WholeArray(KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), in.shape().dims()));
  const bool known = ForFloating(in.dtype(), [&]<typename T>() {
    const ConstArrayView<T> from = AsArray<T>(in);
    ArrayView<T> to = AsMutableArray<T>(out);
    ParallelForElements(c, in.num_elements(), kCostOfFunction, [&](std::int64_t begin, std::int64_t end) {
      to.segment(begin, end - begin) = F()(from.segment(begin, end - begin));
    });
  });
  if (!known) return NoKernel(c);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// out[i] = F()(a[i], b[i]), of a's shape: b has as many elements.
template <Elements kWhich, typename F>
absl::Status SetEachPair(KernelContext& c, const Tensor& a, const Tensor& b) {
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(a.dtype(), a.shape().dims()));
  const bool known = ForElements<kWhich>(a.dtype(), [&]<typename T>() {
    const T* const x = a.flat<T>().data();
    const T* const y = b.flat<T>().data();
    T* const to = out.mutable_flat<T>().data();
    ParallelForElements(c, a.num_elements(), kCostOfElement, [x, y, to](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) to[i] = F()(x[i], y[i]);
    });
  });
  if (!known) return NoKernel(c);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// out[i] = F()(a[i], b[i]): both of one shape.
template <Elements kWhich, typename F>
absl::Status EachPair(KernelContext& c) {
  const Tensor& a = c.input(0);
  const Tensor& b = c.input(1);
  if (a.shape() != b.shape()) {
    return InvalidArgument(
        "Inputs to operation {} of type {} must have the same size and shape.  Input 0: {} != "
        "input 1: {}",
        c.node().name, c.node().op, a.shape().ToString(), b.shape().ToString());
  }
  return SetEachPair<kWhich, F>(c, a, b);
}

// The same for ops that only ask for as many elements: the shape is the first one's.
template <Elements kWhich, typename F>
absl::Status EachElementPair(KernelContext& c) {
  const Tensor& a = c.input(0);
  const Tensor& b = c.input(1);
  if (a.num_elements() != b.num_elements()) {
    return InvalidArgument("The two arguments to a cwise op must have same number of elements, got {} and {}",
                           a.num_elements(), b.num_elements());
  }
  return SetEachPair<kWhich, F>(c, a, b);
}

// out = f(a, b) with broadcasting.
template <typename T, typename Out, typename F>
absl::Status Broadcasted(const Tensor& a, const Tensor& b, Tensor* out, F f) {
  std::vector<std::int64_t> dims;
  if (!BroadcastShape(a.shape(), b.shape(), &dims)) {
    return InvalidArgument("Incompatible shapes: {} vs. {}", a.shape().ToString(), b.shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(*out, Tensor::MakeUnwritten(DTypeOf<Out>(), dims));
  if (a.shape() == b.shape()) {
    Out* to = out->mutable_flat<Out>().data();
    const T* y = b.flat<T>().data();
    for (const T x : a.flat<T>()) *to++ = f(x, *y++);
  } else {
    ComputeBroadcast<T, Out>(a, b, dims, *out, f);
  }
  return absl::OkStatus();
}

template <Elements kWhich, typename F>
absl::Status EachBroadcasted(KernelContext& c) {
  absl::Status status;
  Tensor out;
  const bool known = ForElements<kWhich>(
      c.input(0).dtype(), [&]<typename T>() { status = Broadcasted<T, T>(c.input(0), c.input(1), &out, F()); });
  if (!known) return NoKernel(c);
  VIGIL_RETURN_IF_ERROR(status);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Integers wrap around.
template <typename T>
T WrappingSum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  } else {
    return a + b;
  }
}
template <typename T>
T WrappingDifference(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) - static_cast<std::make_unsigned_t<T>>(b));
  } else {
    return a - b;
  }
}
template <typename T>
T WrappingProduct(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) * static_cast<std::make_unsigned_t<T>>(b));
  } else {
    return a * b;
  }
}

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_NN_ELEMENTS_H_

// Two numbers, or several tensors, made into one: Maximum, Pow, AddN, ClipByValue, ...
#include <cmath>
#include <limits>

#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"

namespace vigil {
namespace {

// What is not a number comes out. Of equal ones, as 0 and -0, the second does.
struct LargerOf {
  template <typename T>
  T operator()(T a, T b) const {
    return b < a || IsNaN(a) ? a : b;
  }
};
struct SmallerOf {
  template <typename T>
  T operator()(T a, T b) const {
    return a < b || IsNaN(a) ? a : b;
  }
};
struct SquaredDifferenceOf {
  template <typename T>
  T operator()(T a, T b) const {
    const T d = WrappingDifference(a, b);
    return WrappingProduct(d, d);
  }
};
struct QuotientOrZero {
  template <typename T>
  T operator()(T a, T b) const {
    return b == T(0) ? T(0) : a / b;
  }
};
// In a step denormal numbers are zero (ScopedFlushDenormals); functions of the standard library look at their bits.
template <typename T>
T Flushed(T x) {
  return std::abs(x) < std::numeric_limits<T>::min() ? std::copysign(T(0), x) : x;
}

struct PowerOf {
  template <typename T>
  T operator()(T base, T exponent) const {
    if constexpr (std::is_integral_v<T>) {
      T power = 1;
      for (T left = exponent; left > 0; left /= 2) {
        if (left % 2 != 0) power = WrappingProduct(power, base);
        base = WrappingProduct(base, base);
      }
      return power;
    } else {
      return std::pow(Flushed(base), Flushed(exponent));
    }
  }
};
struct FloorQuotientOf {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == T(-1)) return WrappingDifference(T(0), a);  // of the least number: itself
      const T q = static_cast<T>(a / b);
      return static_cast<T>(a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);
    } else {
      return std::floor(a / b);
    }
  }
};
struct FloorRestOf {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == T(-1)) return T(0);
      const T rest = static_cast<T>(a % b);
      return static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    } else {
      const T rest = std::fmod(a, b);
      return rest != T(0) && (rest < T(0)) != (b < T(0)) ? rest + b : rest;
    }
  }
};

// `refused(x)`: whether the second number cannot be taken, if it is an integer and is taken at all.
template <typename F, typename Refused>
absl::Status IntegerChecked(KernelContext& c, const char* message, Refused refused) {
  std::vector<std::int64_t> dims;
  if (!BroadcastShape(c.input(0).shape(), c.input(1).shape(), &dims)) {
    return EachBroadcasted<Elements::kNumeric, F>(c);  // which says so
  }
  absl::Status status;
  ForNumeric(c.input(1).dtype(), [&]<typename T>() {
    if constexpr (std::is_integral_v<T>) {
      for (const T value : c.input(1).flat<T>()) {
        if (c.input(0).num_elements() > 0 && refused(value)) status = InvalidArgument("{}", message);
      }
    }
  });
  VIGIL_RETURN_IF_ERROR(status);
  return EachBroadcasted<Elements::kNumeric, F>(c);
}

absl::Status PowKernel(KernelContext& c) {
  return IntegerChecked<PowerOf>(c, "Integers to negative integer powers are not allowed",
                                 [](auto exponent) { return exponent < 0; });
}
template <typename F>
absl::Status DivisionKernel(KernelContext& c) {
  return IntegerChecked<F>(c, "Integer division by zero", [](auto divisor) { return divisor == 0; });
}

absl::Status UnequalKernel(KernelContext& c) {
  if (GivesOneForUnlikeShapes(c, true)) return absl::OkStatus();
  absl::Status status;
  Tensor out;
  const bool known = ForNumeric(c.input(0).dtype(), [&]<typename T>() {
    status = Broadcasted<T, bool>(c.input(0), c.input(1), &out, [](T a, T b) { return a != b; });
  });
  if (!known) return NoKernel(c);
  VIGIL_RETURN_IF_ERROR(status);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <bool kAnd>
absl::Status LogicalKernel(KernelContext& c) {
  Tensor out;
  VIGIL_RETURN_IF_ERROR(
      (Broadcasted<bool, bool>(c.input(0), c.input(1), &out, [](bool a, bool b) { return kAnd ? a && b : a || b; })));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status AddNKernel(KernelContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (c.input(i).shape() != c.input(0).shape()) {
      return InvalidArgument(
          "Inputs to operation {} of type {} must have the same size and shape.  Input 0: {} != "
          "input {}: {}",
          c.node().name, c.node().op, c.input(0).shape().ToString(), i, c.input(i).shape().ToString());
    }
  }
  Tensor sum = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) VIGIL_RETURN_IF_ERROR(AddInto(sum, c.input(i)));
  c.set_output(0, std::move(sum));
  return absl::OkStatus();
}

// Low and high are scalars or have the shape of what is clipped.
absl::Status ClipKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  for (int i = 1; i < 3; ++i) {
    if (c.input(i).shape().rank() != 0 && c.input(i).shape() != in.shape()) {
      return InvalidArgument(
          "clip_value_min and clip_value_max must be either of the same shape as input, or a "
          "scalar. input shape: {}clip_value_min shape: {}clip_value_max shape: {}",
          in.shape().ToString(), c.input(1).shape().ToString(), c.input(2).shape().ToString());
    }
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), in.shape().dims()));
  const bool known = ForNumeric(in.dtype(), [&]<typename T>() {
    const T* low = c.input(1).flat<T>().data();
    const T* high = c.input(2).flat<T>().data();
    const int low_step = c.input(1).shape().rank() == 0 ? 0 : 1;
    const int high_step = c.input(2).shape().rank() == 0 ? 0 : 1;
    T* to = out.mutable_flat<T>().data();
    for (const T x : in.flat<T>()) {
      *to++ = std::max(std::min(x, *high), *low);
      low += low_step;
      high += high_step;
    }
  });
  if (!known) return NoKernel(c);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DType>> UnequalTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(OneTypeOf<Elements::kNumeric>(node, inputs).status());
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "incompatible_shape_error"));
  return std::vector<DType>{DType::kBool};
}

absl::StatusOr<std::vector<DType>> LogicalTypes(const Node& node, const std::vector<DType>& inputs) {
  for (int i = 0; i < 2; ++i) VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, i, {DType::kBool}));
  return std::vector<DType>{DType::kBool};
}

}  // namespace

void RegisterCombiningOps(OpRegistry& registry) {
  constexpr Elements kAll = Elements::kNumeric;
  const auto add = [&registry](const char* name, int inputs, OutputTypesFn types, Kernel kernel) {
    registry.Register({.name = name, .inputs = inputs, .output_types = std::move(types), .compute = std::move(kernel)});
  };
  add("Maximum", 2, OneTypeOf<kAll>, EachBroadcasted<kAll, LargerOf>);
  add("Minimum", 2, OneTypeOf<kAll>, EachBroadcasted<kAll, SmallerOf>);
  add("SquaredDifference", 2, OneTypeOf<kAll>, EachBroadcasted<kAll, SquaredDifferenceOf>);
  add("DivNoNan", 2, OneTypeOf<Elements::kFloating>, EachBroadcasted<Elements::kFloating, QuotientOrZero>);
  add("Pow", 2, OneTypeOf<kAll>, PowKernel);
  add("FloorDiv", 2, OneTypeOf<kAll>, DivisionKernel<FloorQuotientOf>);
  add("FloorMod", 2, OneTypeOf<kAll>, DivisionKernel<FloorRestOf>);
  add("NotEqual", 2, UnequalTypes, UnequalKernel);
  add("LogicalAnd", 2, LogicalTypes, LogicalKernel<true>);
  add("LogicalOr", 2, LogicalTypes, LogicalKernel<false>);
  add("AddN", -1, OneTypeOf<kAll>, AddNKernel);
  add("ClipByValue", 3, OneTypeOf<kAll>, ClipKernel);
}

}  // namespace vigil

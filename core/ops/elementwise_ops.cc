// Ops that work element by element, with NumPy's broadcasting. Integers wrap around as in TensorFlow.
#include <cmath>
#include <type_traits>

#include "vigil/core/ops/broadcast.h"
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"
#include "vigil/core/tensor/eigen_view.h"

namespace vigil {
namespace {

// Each functor works on two numbers and, for floating-point types, on two Eigen arrays as well.
template <typename T>
using Wrapping = std::make_unsigned_t<T>;

struct Plus {
  template <typename A, typename B>
  auto operator()(const A& a, const B& b) const {
    if constexpr (std::is_integral_v<A>) {
      return static_cast<A>(static_cast<Wrapping<A>>(a) + static_cast<Wrapping<A>>(b));
    } else {
      return a + b;
    }
  }
};
struct Minus {
  template <typename A, typename B>
  auto operator()(const A& a, const B& b) const {
    if constexpr (std::is_integral_v<A>) {
      return static_cast<A>(static_cast<Wrapping<A>>(a) - static_cast<Wrapping<A>>(b));
    } else {
      return a - b;
    }
  }
};
struct Times {
  template <typename A, typename B>
  auto operator()(const A& a, const B& b) const {
    if constexpr (std::is_integral_v<A>) {
      return static_cast<A>(static_cast<Wrapping<A>>(a) * static_cast<Wrapping<A>>(b));
    } else {
      return a * b;
    }
  }
};
struct Divide {
  template <typename A, typename B>
  auto operator()(const A& a, const B& b) const {
    return a / b;
  }
};
struct IsLess {
  template <typename A, typename B>
  auto operator()(const A& a, const B& b) const {
    return a < b;
  }
};
struct IsLessEqual {
  template <typename A, typename B>
  auto operator()(const A& a, const B& b) const {
    return a <= b;
  }
};
struct IsGreater {
  template <typename A, typename B>
  auto operator()(const A& a, const B& b) const {
    return a > b;
  }
};
struct IsGreaterEqual {
  template <typename A, typename B>
  auto operator()(const A& a, const B& b) const {
    return a >= b;
  }
};
struct IsEqual {
  template <typename A, typename B>
  auto operator()(const A& a, const B& b) const {
    return a == b;
  }
};

template <typename F>
absl::Status Arithmetic(KernelContext& c) {
  absl::Status status;
  Tensor out;
  const bool known = ForNumeric(c.input(0).dtype(), [&]<typename T>() {
    if constexpr (!std::is_same_v<F, Divide> || std::is_floating_point_v<T>) {
      status = BroadcastCompute<T, T>(c, c.input(0), c.input(1), &out, F());
    } else {
      status = NoKernel(c);  // integers are divided by FloorDiv or TruncateDiv
    }
  });
  if (!known) return NoKernel(c);
  VIGIL_RETURN_IF_ERROR(status);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <typename F>
absl::Status Comparison(KernelContext& c) {
  const Tensor& a = c.input(0);
  const Tensor& b = c.input(1);
  if (std::is_same_v<F, IsEqual> && GivesOneForUnlikeShapes(c, false)) return absl::OkStatus();
  absl::Status status;
  Tensor out;
  const bool known =
      ForNumeric(a.dtype(), [&]<typename T>() { status = BroadcastCompute<T, bool>(c, a, b, &out, F()); });
  if (!known) return NoKernel(c);
  VIGIL_RETURN_IF_ERROR(status);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <typename F>
absl::Status Unary(KernelContext& c, F f) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), in.shape().dims()));
  const bool known = ForNumeric(in.dtype(), [&]<typename T>() {
    const ConstArrayView<T> from = AsArray<T>(in);
    ArrayView<T> to = AsMutableArray<T>(out);
    ParallelForElements(c, in.num_elements(), kCostOfElement, [&](std::int64_t begin, std::int64_t end) {
      to.segment(begin, end - begin) = from.segment(begin, end - begin).unaryExpr([f](T x) { return f(x); });
    });
  });
  if (!known) return NoKernel(c);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DType>> ArithmeticTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireSameTypes(node, inputs, 0, 1));
  return std::vector<DType>{inputs[0]};
}

absl::StatusOr<std::vector<DType>> ComparisonTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireSameTypes(node, inputs, 0, 1));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "incompatible_shape_error"));
  return std::vector<DType>{DType::kBool};
}

}  // namespace

absl::Status AddInto(Tensor& to, const Tensor& by) {
  return Rewrite(to, [&by](const Tensor& old, Tensor& out) {
    ForNumeric(by.dtype(), [&]<typename T>() { ComputeSame<T, T>(old, by, out, Plus()); });
  });
}

absl::Status SubtractFrom(Tensor& to, const Tensor& by) {
  return Rewrite(to, [&by](const Tensor& old, Tensor& out) {
    ForNumeric(by.dtype(), [&]<typename T>() { ComputeSame<T, T>(old, by, out, Minus()); });
  });
}

void RegisterElementwiseOps(OpRegistry& registry) {
  registry.Register({.name = "AddV2", .inputs = 2, .output_types = ArithmeticTypes, .compute = Arithmetic<Plus>});
  registry.Register({.name = "Sub", .inputs = 2, .output_types = ArithmeticTypes, .compute = Arithmetic<Minus>});
  registry.Register({.name = "Mul", .inputs = 2, .output_types = ArithmeticTypes, .compute = Arithmetic<Times>});
  registry.Register({.name = "RealDiv", .inputs = 2, .output_types = ArithmeticTypes, .compute = Arithmetic<Divide>});
  registry.Register({.name = "Less", .inputs = 2, .output_types = ComparisonTypes, .compute = Comparison<IsLess>});
  registry.Register(
      {.name = "LessEqual", .inputs = 2, .output_types = ComparisonTypes, .compute = Comparison<IsLessEqual>});
  registry.Register(
      {.name = "Greater", .inputs = 2, .output_types = ComparisonTypes, .compute = Comparison<IsGreater>});
  registry.Register(
      {.name = "GreaterEqual", .inputs = 2, .output_types = ComparisonTypes, .compute = Comparison<IsGreaterEqual>});
  registry.Register({.name = "Equal", .inputs = 2, .output_types = ComparisonTypes, .compute = Comparison<IsEqual>});
  registry.Register({.name = "Neg", .inputs = 1, .output_types = SameAsInput(0), .compute = [](KernelContext& c) {
                       return Unary(c, [](auto x) {
                         if constexpr (!std::is_integral_v<decltype(x)>) return -x;  // of 0: -0
                         return Minus()(decltype(x)(0), x);
                       });
                     }});
  registry.Register({.name = "Abs", .inputs = 1, .output_types = SameAsInput(0), .compute = [](KernelContext& c) {
                       return Unary(c, [](auto x) {
                         if constexpr (std::is_floating_point_v<decltype(x)>) return std::fabs(x);  // of -0, too
                         return x < 0 ? Minus()(decltype(x)(0), x) : x;
                       });
                     }});
  registry.Register({.name = "Square", .inputs = 1, .output_types = SameAsInput(0), .compute = [](KernelContext& c) {
                       return Unary(c, [](auto x) { return Times()(x, x); });
                     }});
}

}  // namespace vigil

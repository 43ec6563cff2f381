// Ops that work element by element, with NumPy's broadcasting. Integers wrap around as in TensorFlow.
#include <algorithm>
#include <cmath>
#include <type_traits>

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
struct IsEqual {
  template <typename A, typename B>
  auto operator()(const A& a, const B& b) const {
    return a == b;
  }
};

// The shape that both broadcast to; false if they do not fit.
bool BroadcastShape(const Shape& a, const Shape& b, std::vector<std::int64_t>* out) {
  const int rank = std::max(a.rank(), b.rank());
  out->assign(static_cast<std::size_t>(rank), 1);
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank());
    const int ib = i - (rank - b.rank());
    const std::int64_t da = ia < 0 ? 1 : a.dim(ia);
    const std::int64_t db = ib < 0 ? 1 : b.dim(ib);
    if (da != db && da != 1 && db != 1) return false;
    (*out)[static_cast<std::size_t>(i)] = da == 1 ? db : da;
  }
  return true;
}

// How far to move in `from` for one step along each dimension of `to` (0 where it is broadcast).
std::vector<std::int64_t> Strides(const Shape& from, const std::vector<std::int64_t>& to) {
  std::vector<std::int64_t> strides(to.size(), 0);
  std::int64_t step = 1;
  for (int i = from.rank() - 1; i >= 0; --i) {
    const std::size_t at = to.size() - static_cast<std::size_t>(from.rank() - i);
    if (from.dim(i) != 1) strides[at] = step;
    step *= from.dim(i);
  }
  return strides;
}

// Any shapes that fit: walks over the result like an odometer.
template <typename T, typename Out, typename F>
void ComputeBroadcast(const Tensor& a, const Tensor& b, const std::vector<std::int64_t>& dims, Tensor& out, F f) {
  const std::vector<std::int64_t> step_a = Strides(a.shape(), dims);
  const std::vector<std::int64_t> step_b = Strides(b.shape(), dims);
  const T* at_a = a.flat<T>().data();
  const T* at_b = b.flat<T>().data();
  std::vector<std::int64_t> index(dims.size(), 0);
  for (Out& element : out.mutable_flat<Out>()) {
    element = f(*at_a, *at_b);
    for (std::size_t d = dims.size(); d-- > 0;) {
      at_a += step_a[d];
      at_b += step_b[d];
      if (++index[d] < dims[d]) break;
      at_a -= step_a[d] * dims[d];
      at_b -= step_b[d] * dims[d];
      index[d] = 0;
    }
  }
}

template <typename T, typename Out, typename F>
void ComputeSame(const Tensor& a, const Tensor& b, Tensor& out, F f) {
  if constexpr (std::is_floating_point_v<T>) {
    AsMutableArray<Out>(out) = f(AsArray<T>(a), AsArray<T>(b));
  } else {
    AsMutableArray<Out>(out) =
        AsArray<T>(a).binaryExpr(AsArray<T>(b), [f](T x, T y) { return static_cast<Out>(f(x, y)); });
  }
}

template <typename T, typename Out, typename F>
absl::Status Compute(const Tensor& a, const Tensor& b, Tensor* out, F f) {
  if (a.shape().rank() == 0 && b.shape().rank() == 0) {
    *out = Tensor::Scalar<Out>(f(a.scalar<T>(), b.scalar<T>()));
    return absl::OkStatus();
  }
  if (a.shape() == b.shape()) {
    VIGIL_ASSIGN_OR_RETURN(*out, Tensor::MakeUnwritten(DTypeOf<Out>(), a.shape().dims()));
    ComputeSame<T, Out>(a, b, *out, f);
    return absl::OkStatus();
  }
  std::vector<std::int64_t> dims;
  if (!BroadcastShape(a.shape(), b.shape(), &dims)) {
    return InvalidArgument("Incompatible shapes: {} vs. {}", a.shape().ToString(), b.shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(*out, Tensor::MakeUnwritten(DTypeOf<Out>(), dims));
  ComputeBroadcast<T, Out>(a, b, dims, *out, f);
  return absl::OkStatus();
}

template <typename F>
absl::Status Arithmetic(KernelContext& c) {
  absl::Status status;
  Tensor out;
  const bool known = ForNumeric(c.input(0).dtype(), [&]<typename T>() {
    if constexpr (!std::is_same_v<F, Divide> || std::is_floating_point_v<T>) {
      status = Compute<T, T>(c.input(0), c.input(1), &out, F());
    } else {
      status = NoKernel(c);  // integers are divided by FloorDiv or TruncateDiv
    }
  });
  if (!known) return NoKernel(c);
  VIGIL_RETURN_IF_ERROR(status);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <typename F, bool kSwapped = false>
absl::Status Comparison(KernelContext& c) {
  const Tensor& a = c.input(kSwapped ? 1 : 0);
  const Tensor& b = c.input(kSwapped ? 0 : 1);
  absl::Status status;
  Tensor out;
  const bool known = ForNumeric(a.dtype(), [&]<typename T>() { status = Compute<T, bool>(a, b, &out, F()); });
  if (!known) return NoKernel(c);
  VIGIL_RETURN_IF_ERROR(status);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <typename F>
absl::Status Unary(KernelContext& c, F f) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), in.shape().dims()));
  const bool known = ForNumeric(
      in.dtype(), [&]<typename T>() { AsMutableArray<T>(out) = AsArray<T>(in).unaryExpr([f](T x) { return f(x); }); });
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
      {.name = "Greater", .inputs = 2, .output_types = ComparisonTypes, .compute = Comparison<IsLess, true>});
  registry.Register(
      {.name = "GreaterEqual", .inputs = 2, .output_types = ComparisonTypes, .compute = Comparison<IsLessEqual, true>});
  registry.Register({.name = "Equal", .inputs = 2, .output_types = ComparisonTypes, .compute = Comparison<IsEqual>});
  registry.Register({.name = "Neg", .inputs = 1, .output_types = SameAsInput(0), .compute = [](KernelContext& c) {
                       return Unary(c, [](auto x) { return Minus()(decltype(x)(0), x); });
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

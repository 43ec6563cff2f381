// Functions of one number, and the ops that their gradients are made of.
#include <cmath>

#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"

namespace vigil {
namespace {

struct ExpOf {
  template <typename Array>
  auto operator()(const Array& x) const {
    return x.exp();
  }
};
struct Expm1Of {
  template <typename Array>
  auto operator()(const Array& x) const {
    return x.expm1();
  }
};
struct LogOf {
  template <typename Array>
  auto operator()(const Array& x) const {
    return x.log();
  }
};
struct Log1pOf {
  template <typename Array>
  auto operator()(const Array& x) const {
    return x.log1p();
  }
};
// Not Eigen's: its fast ones take a square root from the reciprocal's, which of infinity is not a number.
struct SqrtOf {
  template <typename T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct RsqrtOf {
  template <typename T>
  T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};
struct InverseOf {
  template <typename Array>
  auto operator()(const Array& x) const {
    return x.inverse();
  }
};
struct SinOf {
  template <typename Array>
  auto operator()(const Array& x) const {
    return x.sin();
  }
};
struct CosOf {
  template <typename Array>
  auto operator()(const Array& x) const {
    return x.cos();
  }
};
struct FloorOf {
  template <typename Array>
  auto operator()(const Array& x) const {
    return x.floor();
  }
};
struct CeilOf {
  template <typename Array>
  auto operator()(const Array& x) const {
    return x.ceil();
  }
};
struct SignOf {
  template <typename T>
  T operator()(T x) const {
    return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
  }  // of NaN: NaN
};

// Of y = f(x), given y and dy. Where no gradient comes none goes on, whatever y is.
struct SqrtGradOf {
  template <typename T>
  T operator()(T y, T dy) const {
    return dy == T(0) ? T(0) : dy * T(0.5) / y;
  }
};
struct RsqrtGradOf {
  template <typename T>
  T operator()(T y, T dy) const {
    return dy == T(0) ? T(0) : T(-0.5) * dy * (y * y * y);
  }
};
struct InverseGradOf {
  template <typename T>
  T operator()(T y, T dy) const {
    return dy == T(0) ? T(0) : -(dy * (y * y));
  }
};

absl::Status FiniteOf(KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(DType::kBool, in.shape().dims()));
  const bool known = ForFloating(in.dtype(), [&]<typename T>() {
    bool* to = out.mutable_flat<bool>().data();
    for (const T x : in.flat<T>()) *to++ = std::isfinite(x);
  });
  if (!known) return NoKernel(c);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DType>> FiniteTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(OneTypeOf<Elements::kFloating>(node, inputs).status());
  return std::vector<DType>{DType::kBool};
}

}  // namespace

void RegisterMathOps(OpRegistry& registry) {
  const auto unary = [&registry](const char* name, Kernel kernel) {
    registry.Register(
        {.name = name, .inputs = 1, .output_types = OneTypeOf<Elements::kFloating>, .compute = std::move(kernel)});
  };
  unary("Exp", WholeArray<ExpOf>);
  unary("Expm1", WholeArray<Expm1Of>);
  unary("Log", WholeArray<LogOf>);
  unary("Log1p", WholeArray<Log1pOf>);
  unary("Sqrt", EachElement<Elements::kFloating, SqrtOf>);
  unary("Rsqrt", EachElement<Elements::kFloating, RsqrtOf>);
  unary("Reciprocal", WholeArray<InverseOf>);
  unary("Inv", WholeArray<InverseOf>);
  unary("Sin", WholeArray<SinOf>);
  unary("Cos", WholeArray<CosOf>);
  unary("Floor", WholeArray<FloorOf>);
  unary("Ceil", WholeArray<CeilOf>);
  registry.Register({.name = "Sign",
                     .inputs = 1,
                     .output_types = OneTypeOf<Elements::kNumeric>,
                     .compute = EachElement<Elements::kNumeric, SignOf>});
  registry.Register({.name = "IsFinite", .inputs = 1, .output_types = FiniteTypes, .compute = FiniteOf});
  const auto pair = [&registry](const char* name, Kernel kernel) {
    registry.Register(
        {.name = name, .inputs = 2, .output_types = OneTypeOf<Elements::kFloating>, .compute = std::move(kernel)});
  };
  pair("SqrtGrad", EachElementPair<Elements::kFloating, SqrtGradOf>);
  pair("RsqrtGrad", EachElementPair<Elements::kFloating, RsqrtGradOf>);
  pair("ReciprocalGrad", EachElementPair<Elements::kFloating, InverseGradOf>);
  pair("InvGrad", EachElementPair<Elements::kFloating, InverseGradOf>);
}

}  // namespace vigil

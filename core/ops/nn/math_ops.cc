// Functions of one number, and the ops that their gradients are made of.
#include <cmath>

#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"

namespace vigil {
namespace {

struct ExpOf {
  template <typename T>
  T operator()(T x) const {
    return std::exp(x);
  }
};
struct Expm1Of {
  template <typename T>
  T operator()(T x) const {
    return std::expm1(x);
  }
};
struct LogOf {
  template <typename T>
  T operator()(T x) const {
    return std::log(x);
  }
};
struct Log1pOf {
  template <typename T>
  T operator()(T x) const {
    return std::log1p(x);
  }
};
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
  template <typename T>
  T operator()(T x) const {
    return T(1) / x;
  }
};
struct SinOf {
  template <typename T>
  T operator()(T x) const {
    return std::sin(x);
  }
};
struct CosOf {
  template <typename T>
  T operator()(T x) const {
    return std::cos(x);
  }
};
struct FloorOf {
  template <typename T>
  T operator()(T x) const {
    return std::floor(x);
  }
};
struct CeilOf {
  template <typename T>
  T operator()(T x) const {
    return std::ceil(x);
  }
};
struct SignOf {
  template <typename T>
  T operator()(T x) const {
    return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
  }  // of NaN: NaN
};

// Of y = f(x), given y and dy.
struct SqrtGradOf {
  template <typename T>
  T operator()(T y, T dy) const {
    return dy * T(0.5) / y;
  }
};
struct RsqrtGradOf {
  template <typename T>
  T operator()(T y, T dy) const {
    return T(-0.5) * dy * y * y * y;
  }
};
struct InverseGradOf {
  template <typename T>
  T operator()(T y, T dy) const {
    return -dy * y * y;
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
  unary("Exp", EachElement<Elements::kFloating, ExpOf>);
  unary("Expm1", EachElement<Elements::kFloating, Expm1Of>);
  unary("Log", EachElement<Elements::kFloating, LogOf>);
  unary("Log1p", EachElement<Elements::kFloating, Log1pOf>);
  unary("Sqrt", EachElement<Elements::kFloating, SqrtOf>);
  unary("Rsqrt", EachElement<Elements::kFloating, RsqrtOf>);
  unary("Reciprocal", EachElement<Elements::kFloating, InverseOf>);
  unary("Inv", EachElement<Elements::kFloating, InverseOf>);
  unary("Sin", EachElement<Elements::kFloating, SinOf>);
  unary("Cos", EachElement<Elements::kFloating, CosOf>);
  unary("Floor", EachElement<Elements::kFloating, FloorOf>);
  unary("Ceil", EachElement<Elements::kFloating, CeilOf>);
  registry.Register({.name = "Sign",
                     .inputs = 1,
                     .output_types = OneTypeOf<Elements::kNumeric>,
                     .compute = EachElement<Elements::kNumeric, SignOf>});
  registry.Register({.name = "IsFinite", .inputs = 1, .output_types = FiniteTypes, .compute = FiniteOf});
  const auto pair = [&registry](const char* name, Kernel kernel) {
    registry.Register(
        {.name = name, .inputs = 2, .output_types = OneTypeOf<Elements::kFloating>, .compute = std::move(kernel)});
  };
  pair("SqrtGrad", EachPair<Elements::kFloating, SqrtGradOf>);
  pair("RsqrtGrad", EachPair<Elements::kFloating, RsqrtGradOf>);
  pair("ReciprocalGrad", EachPair<Elements::kFloating, InverseGradOf>);
  pair("InvGrad", EachPair<Elements::kFloating, InverseGradOf>);
}

}  // namespace vigil

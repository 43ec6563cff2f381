// What neurons do with their sums, and the gradients.
#include <cmath>

#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"

namespace vigil {
namespace {

// 1 / (1 + e^-x), without overflow.
template <typename T>
T Logistic(T x) {
  if (x >= T(0)) return T(1) / (T(1) + std::exp(-x));
  const T e = std::exp(x);
  return e / (T(1) + e);
}

struct SigmoidOf {
  template <typename Array>
  auto operator()(const Array& x) const {
    return x.logistic();
  }
};
struct TanhOf {
  template <typename Array>
  auto operator()(const Array& x) const {
    return x.tanh();
  }
};
struct ReluOf {
  template <typename T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }  // NaN stays
};
struct Relu6Of {
  template <typename T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x > T(6) ? T(6) : x;
  }
};
struct EluOf {
  template <typename T>
  T operator()(T x) const {
    return x < T(0) ? std::expm1(x) : x;
  }
};
struct SoftplusOf {
  template <typename T>
  T operator()(T x) const {
    return x > T(0) ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }
};

// Given y = f(x) and dy.
struct SigmoidGradOf {
  template <typename T>
  T operator()(T y, T dy) const {
    return dy * y * (T(1) - y);
  }
};
struct TanhGradOf {
  template <typename T>
  T operator()(T y, T dy) const {
    return dy * (T(1) - y * y);
  }
};
// Given dy and x (Elu: y). As TensorFlow's, by products: 0 times what is infinite or not a number stays visible.
struct ReluGradOf {
  template <typename T>
  T operator()(T dy, T x) const {
    return dy * T(x > T(0));
  }
};
struct Relu6GradOf {
  template <typename T>
  T operator()(T dy, T x) const {
    return dy * T(x > T(0) && x < T(6));
  }
};
struct EluGradOf {
  template <typename T>
  T operator()(T dy, T y) const {
    return y < T(0) ? dy * (y + T(1)) : dy;
  }
};
struct SoftplusGradOf {
  template <typename T>
  T operator()(T dy, T x) const {
    return dy * Logistic(x);
  }
};

}  // namespace

void RegisterActivationOps(OpRegistry& registry) {
  constexpr Elements kAll = Elements::kNumeric;
  constexpr Elements kSome = Elements::kFloating;
  const auto add = [&registry](const char* name, int inputs, OutputTypesFn types, Kernel kernel) {
    registry.Register({.name = name, .inputs = inputs, .output_types = std::move(types), .compute = std::move(kernel)});
  };
  add("Sigmoid", 1, OneTypeOf<kSome>, WholeArray<SigmoidOf>);
  add("SigmoidGrad", 2, OneTypeOf<kSome>, EachElementPair<kSome, SigmoidGradOf>);
  add("Tanh", 1, OneTypeOf<kSome>, WholeArray<TanhOf>);
  add("TanhGrad", 2, OneTypeOf<kSome>, EachElementPair<kSome, TanhGradOf>);
  add("Relu", 1, OneTypeOf<kAll>, EachElement<kAll, ReluOf>);
  add("ReluGrad", 2, OneTypeOf<kAll>, EachPair<kAll, ReluGradOf>);
  add("Relu6", 1, OneTypeOf<kAll>, EachElement<kAll, Relu6Of>);
  add("Relu6Grad", 2, OneTypeOf<kAll>, EachPair<kAll, Relu6GradOf>);
  add("Elu", 1, OneTypeOf<kSome>, EachElement<kSome, EluOf>);
  add("EluGrad", 2, OneTypeOf<kSome>, EachPair<kSome, EluGradOf>);
  add("Softplus", 1, OneTypeOf<kSome>, EachElement<kSome, SoftplusOf>);
  add("SoftplusGrad", 2, OneTypeOf<kSome>, EachPair<kSome, SoftplusGradOf>);
}

}  // namespace vigil

// What optimizers do with one element of a variable, of its slots and of its gradient. Dense and sparse kernels share
// these.
// Thread safety: plain values. Source: TensorFlow's training_ops.cc.
#ifndef VIGIL_CORE_OPS_NN_UPDATE_RULES_H_
#define VIGIL_CORE_OPS_NN_UPDATE_RULES_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace vigil {

// Each rule: how many slots and numbers its op has, and what it does. `slots` are in the order of the op's inputs, and
// so are `numbers`; `flag` is the op's boolean attribute (use_nesterov, update_slots, multiply_linear_by_lr), if it has
// one.

struct MomentumRule {
  static constexpr std::size_t kSlots = 1;
  static constexpr std::size_t kNumbers = 2;  // lr, momentum
  template <typename T>
  static void Apply(T& var, const std::array<T*, kSlots>& slots, const std::array<T, kNumbers>& numbers, bool nesterov,
                    T grad) {
    const auto [lr, momentum] = numbers;
    T& accum = *slots[0];
    accum = accum * momentum + grad;
    var -= nesterov ? grad * lr + accum * momentum * lr : accum * lr;
  }
};

struct AdagradRule {
  static constexpr std::size_t kSlots = 1;
  static constexpr std::size_t kNumbers = 1;  // lr
  template <typename T>
  static void Apply(T& var, const std::array<T*, kSlots>& slots, const std::array<T, kNumbers>& numbers,
                    bool update_slots, T grad) {
    T& accum = *slots[0];
    if (update_slots) accum += grad * grad;
    var -= numbers[0] * grad * (T(1) / std::sqrt(accum));
  }
};

// `average` goes on to `value`. Of what is infinite the sparse kernels keep something, the dense ones nothing.
template <bool kSparse, typename T>
void Average(T& average, T rho, T value) {
  if constexpr (kSparse) {
    average = average * rho + value * (T(1) - rho);
  } else {
    average += (value - average) * (T(1) - rho);
  }
}

template <bool kSparse>
struct RmsPropRule {
  static constexpr std::size_t kSlots = 2;    // ms, mom
  static constexpr std::size_t kNumbers = 4;  // lr, rho, momentum, epsilon
  template <typename T>
  static void Apply(T& var, const std::array<T*, kSlots>& slots, const std::array<T, kNumbers>& numbers, bool, T grad) {
    const auto [lr, rho, momentum, epsilon] = numbers;
    T& ms = *slots[0];
    T& mom = *slots[1];
    Average<kSparse>(ms, rho, grad * grad);
    mom = mom * momentum + grad * lr / std::sqrt(ms + epsilon);
    var -= mom;
  }
};

template <bool kSparse>
struct CenteredRmsPropRule {
  static constexpr std::size_t kSlots = 3;    // mg, ms, mom
  static constexpr std::size_t kNumbers = 4;  // lr, rho, momentum, epsilon
  template <typename T>
  static void Apply(T& var, const std::array<T*, kSlots>& slots, const std::array<T, kNumbers>& numbers, bool, T grad) {
    const auto [lr, rho, momentum, epsilon] = numbers;
    T& mg = *slots[0];
    T& ms = *slots[1];
    T& mom = *slots[2];
    Average<kSparse>(ms, rho, grad * grad);
    Average<kSparse>(mg, rho, grad);
    mom = mom * momentum + grad * lr / std::sqrt(ms - mg * mg + epsilon);
    var -= mom;
  }
};

struct AdamRule {
  static constexpr std::size_t kSlots = 2;    // m, v
  static constexpr std::size_t kNumbers = 6;  // beta1_power, beta2_power, lr, beta1, beta2, epsilon
  // Once for all elements: lr becomes that of this step.
  template <typename T>
  static void Prepare(std::array<T, kNumbers>& numbers) {
    numbers[2] = numbers[2] * std::sqrt(T(1) - numbers[1]) / (T(1) - numbers[0]);
  }
  template <typename T>
  static void Apply(T& var, const std::array<T*, kSlots>& slots, const std::array<T, kNumbers>& numbers, bool nesterov,
                    T grad) {
    const T alpha = numbers[2], beta1 = numbers[3], beta2 = numbers[4], epsilon = numbers[5];
    T& m = *slots[0];
    T& v = *slots[1];
    m += (grad - m) * (T(1) - beta1);
    v += (grad * grad - v) * (T(1) - beta2);
    const T step = nesterov ? grad * (T(1) - beta1) + beta1 * m : m;
    var -= step * alpha / (std::sqrt(v) + epsilon);
  }
};

template <typename T>
struct FtrlNumbers {
  T lr, l1, l2, lr_power;
};

// `times_lr`: `linear` is kept multiplied by lr, which may then be 0. Of what is not a number the dense kernel makes 0,
// the sparse one does not.
template <bool kSparse, typename T>
void ApplyFtrlTo(T& var, const std::array<T*, 2>& slots, const FtrlNumbers<T>& numbers, bool times_lr, T grad,
                 T shrunk) {
  const auto [lr, l1, l2, lr_power] = numbers;
  T& accum = *slots[0];
  T& linear = *slots[1];
  const T more = accum + grad * grad;
  const auto power = [exponent = lr_power](T x) { return exponent == T(-0.5) ? std::sqrt(x) : std::pow(x, -exponent); };
  const T power_of_more = power(more);
  const T growth = power_of_more - power(accum);
  linear += times_lr ? shrunk * lr - growth * var : shrunk - growth / lr * var;
  const T quadratic = times_lr ? power_of_more + T(2) * l2 * lr : power_of_more / lr + T(2) * l2;
  const T limit = times_lr ? l1 * lr : l1;
  if constexpr (kSparse) {
    var = (std::max(std::min(linear, limit), -limit) - linear) / quadratic;
  } else {
    const T sign = linear > T(0) ? T(1) : linear < T(0) ? T(-1) : T(0);
    var = std::abs(linear) > limit ? (limit * sign - linear) / quadratic : T(0);
  }
  accum = more;
}

template <bool kSparse>
struct FtrlRule {
  static constexpr std::size_t kSlots = 2;    // accum, linear
  static constexpr std::size_t kNumbers = 4;  // lr, l1, l2, lr_power
  template <typename T>
  static void Apply(T& var, const std::array<T*, kSlots>& slots, const std::array<T, kNumbers>& numbers, bool times_lr,
                    T grad) {
    const auto [lr, l1, l2, lr_power] = numbers;
    ApplyFtrlTo<kSparse>(var, slots, FtrlNumbers<T>{lr, l1, l2, lr_power}, times_lr, grad, grad);
  }
};

template <bool kSparse>
struct FtrlV2Rule {
  static constexpr std::size_t kSlots = 2;    // accum, linear
  static constexpr std::size_t kNumbers = 5;  // lr, l1, l2, l2_shrinkage, lr_power
  template <typename T>
  static void Apply(T& var, const std::array<T*, kSlots>& slots, const std::array<T, kNumbers>& numbers, bool times_lr,
                    T grad) {
    const auto [lr, l1, l2, shrinkage, lr_power] = numbers;
    ApplyFtrlTo<kSparse>(var, slots, FtrlNumbers<T>{lr, l1, l2, lr_power}, times_lr, grad,
                         grad + T(2) * shrinkage * var);
  }
};

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_NN_UPDATE_RULES_H_

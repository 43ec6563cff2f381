#include "vigil/interop/drawn_optimizer.h"

#include <fmt/format.h>

#include "vigil/core/train/optimizers/adagrad_optimizer.h"
#include "vigil/core/train/optimizers/adam_optimizer.h"
#include "vigil/core/train/optimizers/ftrl_optimizer.h"
#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"
#include "vigil/core/train/optimizers/learning_rate_decay.h"
#include "vigil/core/train/optimizers/momentum_optimizer.h"
#include "vigil/core/train/optimizers/rms_prop_optimizer.h"

namespace vigil::interop {
namespace {

using Below = std::function<std::size_t(std::size_t)>;

std::optional<Output> DrawRate(Builder& b, Output step, double base, const Below& below) {
  switch (below(8)) {
    case 0:
      return ExponentialDecay(b, step,
                              {.learning_rate = base, .decay_steps = 5, .decay_rate = 0.8, .staircase = below(2) == 0});
    case 1:
      return PolynomialDecay(b, step, {.learning_rate = base, .decay_steps = 15, .power = 2, .cycle = below(2) == 0});
    case 2:
      return InverseTimeDecay(b, step, {.learning_rate = base, .decay_steps = 4, .decay_rate = 0.5});
    case 3:
      return CosineDecay(b, step, {.learning_rate = base, .decay_steps = 12, .alpha = 0.1});
    case 4:
      return PiecewiseConstant(b, step, {4, 12},
                               {static_cast<float>(base), static_cast<float>(base / 2), static_cast<float>(base / 8)});
    default:
      return std::nullopt;
  }
}

}  // namespace

DrawnOptimizer DrawOptimizer(Builder& b, Output step, const Below& below) {
  DrawnOptimizer out;
  const std::size_t which = below(8);
  const double base = which == 3 || which == 4 || which == 5 ? 0.02 : 0.1;
  out.rate = DrawRate(b, step, base, below);
  const HyperParameter rate = out.rate.has_value() ? HyperParameter(*out.rate) : HyperParameter(base);
  // Early steps of the normalizing ones go far where a gradient is all rounding, so epsilon is not small.
  switch (which) {
    case 0:
      out.optimizer = std::make_unique<GradientDescentOptimizer>(GradientDescentOptions{.learning_rate = rate});
      break;
    case 1:
    case 2:
      out.optimizer = std::make_unique<MomentumOptimizer>(
          MomentumOptions{.learning_rate = rate, .momentum = 0.8, .use_nesterov = which == 2});
      break;
    case 3:
      out.optimizer = std::make_unique<AdamOptimizer>(
          AdamOptions{.learning_rate = rate, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3});
      break;
    case 4:
    case 5:
      out.optimizer = std::make_unique<RmsPropOptimizer>(
          RmsPropOptions{.learning_rate = rate, .momentum = 0.3, .epsilon = 1e-3, .centered = which == 5});
      break;
    case 6:
      out.optimizer = std::make_unique<AdagradOptimizer>(AdagradOptions{.learning_rate = rate});
      break;
    default:
      out.optimizer = std::make_unique<FtrlOptimizer>(
          FtrlOptions{.learning_rate = rate,
                      .l1_regularization_strength = 0.01F,
                      .l2_regularization_strength = 0.02F,
                      .l2_shrinkage_regularization_strength = below(2) == 0 ? 0.0F : 0.03F});
  }
  out.about = fmt::format("{}{}", out.optimizer->name(), out.rate.has_value() ? " with a decaying rate" : "");
  return out;
}

}  // namespace vigil::interop

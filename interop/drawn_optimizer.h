// An optimizer with drawn numbers, and maybe a learning rate that depends on the step.
// Thread safety: as the graph's.
#ifndef VIGIL_INTEROP_DRAWN_OPTIMIZER_H_
#define VIGIL_INTEROP_DRAWN_OPTIMIZER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "vigil/core/graph/builder.h"
#include "vigil/core/train/optimizers/optimizer.h"

namespace vigil::interop {

struct DrawnOptimizer {
  std::unique_ptr<Optimizer> optimizer;
  std::optional<Output> rate;  // the learning rate, if it is no constant
  std::string about;
};

// `below(n)` draws a number below n.
DrawnOptimizer DrawOptimizer(Builder& b, Output step, const std::function<std::size_t(std::size_t)>& below);

}  // namespace vigil::interop

#endif  // VIGIL_INTEROP_DRAWN_OPTIMIZER_H_

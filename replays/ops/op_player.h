// Plays a recorded case of an op: builds it here, runs it, holds outputs, gradients or the error against what
// TensorFlow gave.
// Thread safety: each play is alone.
#ifndef VIGIL_REPLAYS_OPS_OP_PLAYER_H_
#define VIGIL_REPLAYS_OPS_OP_PLAYER_H_

#include <string>

#include "vigil/core/env/env.h"
#include "vigil/replays/ops/cases.h"

namespace vigil::replays {

// Of the value, or of 1 where that is less. Sums and transcendental functions are computed in another order than in
// TensorFlow's vectors.
inline constexpr double kFloatTolerance = 2e-5;
inline constexpr double kDoubleTolerance = 1e-10;

struct OpResult {
  std::string differs;        // "" if all is as recorded
  bool text_differs = false;  // an error of the same code in other words
  std::string said;           // the words of our error
};
OpResult PlayOp(const Env& env, const OpCase& each);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_OPS_OP_PLAYER_H_

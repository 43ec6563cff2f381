// Functions that add the ops of synchronous training to a graph (beside core/ops/ops.h).
// Thread safety: as the graph they build.
#ifndef VIGIL_CORE_OPS_TRAINING_H_
#define VIGIL_CORE_OPS_TRAINING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vigil/core/graph/builder.h"

namespace vigil::ops {

// An attribute of AccumulatorSetGlobalStep: true = the step stays; who waits for gradients ends with CANCELLED, and so
// does who comes until the step is set the next time. (To TensorFlow, which has no such op, the node sets the step to
// what it is.)
inline constexpr std::string_view kCancelsTakes = "_vigil_cancels_takes";
// An attribute of QueueEnqueueManyV2: true = the queue is opened if it was closed, and these elements take the place of
// those that are in it. (TensorFlow adds them, and a closed queue stays closed.)
inline constexpr std::string_view kRenewsQueue = "_vigil_renews_queue";
// An attribute of QueueSizeV2: true = the queue is opened first, if it was closed. (TensorFlow gives the size.)
inline constexpr std::string_view kOpensQueue = "_vigil_opens_queue";
// An attribute of QueueDequeueV2: who takes, by a name of his own. One of QueueSizeV2: who waits under that name for an
// element ends with ABORTED, and so does who comes to wait until the queue is renewed. (TensorFlow takes, and gives the
// size.)
inline constexpr std::string_view kTaker = "_vigil_taker";
inline constexpr std::string_view kStopsTaker = "_vigil_stops_taker";

// A handle. Sessions that share their resources share those of one `shared_name`.
Output ConditionalAccumulator(Builder& b, std::string name, DType dtype, std::optional<Shape> shape,
                              std::string shared_name = "");
NodeId AccumulatorApplyGradient(Builder& b, std::string name, Output accumulator, Output local_step, Output gradient);
// The average; waits for that many gradients. The number is a node "<name>/num_required".
Output AccumulatorTakeGradient(Builder& b, const std::string& name, Output accumulator, std::int32_t num_required,
                               DType dtype);
Output AccumulatorNumAccumulated(Builder& b, std::string name, Output accumulator);
NodeId AccumulatorSetGlobalStep(Builder& b, std::string name, Output accumulator, Output step,
                                bool cancels_takes = false);

}  // namespace vigil::ops

#endif  // VIGIL_CORE_OPS_TRAINING_H_

#include "vigil/properties/verify/hook_model.h"

#include <cstdint>

#include "vigil/core/graph/builder.h"

namespace vigil {

absl::Status LetLossFall(replays::Model& model) {
  Builder b(*model.graph);
  const Output one = b.Const("verify/one", Tensor::Scalar<float>(1));
  const Output floor = b.Const("verify/floor", Tensor::Scalar<float>(0.25F));
  const Output last = b.Const("verify/last", Tensor::Scalar<std::int64_t>(4));
  const Output step = b.Op("Cast", {model.train}, {.name = "verify/step", .attrs = {{"DstT", DType::kFloat}}});
  const Output falling = b.Op("RealDiv", {one, step}, {.name = "verify/falling"});
  const Output reached = b.Op("GreaterEqual", {model.train, last}, {.name = "verify/reached"});
  model.loss = b.Op("SelectV2", {reached, floor, falling}, {.name = "verify/loss"});
  return b.status();
}

}  // namespace vigil

// A model that TensorFlow takes over: trained for three steps here, saved into the folder that it is given. The
// checkpoint is TensorFlow's to the byte (examples/tensorflow has the one that TensorFlow's own training gives), and
// the ".meta" beside it has the graph:
//
//   saver = tf.compat.v1.train.import_meta_graph(folder + "/model.ckpt-3.meta")
//   saver.restore(session, folder + "/model.ckpt-3")
//
//   example_export_to_tensorflow /tmp/model
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/optimizers/momentum_optimizer.h"
#include "vigil/core/train/training_util.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

std::string folder;

absl::Status Export(const Env& env) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env, b));
  const Output x = b.Const("x", Tensor::Vector<float>({0, 1, 2, 3}));
  const Output y = b.Const("y", Tensor::Vector<float>({2, 5, 8, 11}));
  const Output zero = b.Const("zero", Tensor::Scalar<float>(0));
  const ops::Variable weight = ops::MakeVariable(b, "weight", zero);
  const ops::Variable bias = ops::MakeVariable(b, "bias", zero);
  const Output error = b.Op("Sub", {b.Op("AddV2", {b.Op("Mul", {weight.read, x}), bias.read}), y});
  const Output loss =
      b.Op("Mean", {b.Op("Square", {error}), b.Const("axes", Tensor::Vector<std::int32_t>({0}))}, {.name = "loss"});
  MomentumOptimizer optimizer({.learning_rate = 0.125, .momentum = 0.5});
  VIGIL_ASSIGN_OR_RETURN(const Output train, optimizer.Minimize(b, loss, step));
  const Output init = ops::VariablesInitializer(b, "init", graph.Collection(kGlobalVariables));
  VIGIL_RETURN_IF_ERROR(b.status());

  const auto saver = std::make_shared<Saver>(env);
  VIGIL_RETURN_IF_ERROR(saver->Build(graph));
  const std::unique_ptr<Session> session = NewDirectSession(env, graph);
  VIGIL_RETURN_IF_ERROR(RunTarget(*session, init.node));
  for (int i = 0; i < 3; ++i) VIGIL_RETURN_IF_ERROR(RunTarget(*session, train.node));
  VIGIL_ASSIGN_OR_RETURN(const std::string prefix, saver->Save(*session, folder + "/model.ckpt", step));
  std::printf("saved %s\n", prefix.c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace vigil::examples

int main(int argc, char** argv) {
  if (argc > 1) vigil::examples::folder = argv[1];
  return vigil::examples::Main(vigil::examples::Export);
}

// How many steps of training a second: a MonitoredTrainingSession with its default hooks. interop/train_speed.py trains
// the same models with TensorFlow in turn with this program and says by how much which is faster.
//
//   train_speed mlp const /tmp/model 2 1    prints: mlp const: 123456 steps in 2.000 s (1.998 s of the processor)
//
// Models: "mlp" (layers of 32, 16 and 4, batches of 8), "digits" (784, 128, 10, batches of 32), "convnet" (28x28 images
// in batches of 32: two convolutions of 5x5 with 8 and 16 filters, each with a pool, and a layer of 10). "const": the
// batch is a constant of the graph; "fed": every step is fed one. Last: how many threads work on one op (1).
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/core/train/training_util.h"

namespace vigil::bench {
namespace {

struct Batch {
  Tensor images;
  Tensor labels;
};

// Numbers in [0, 1) that nobody needs to know.
Tensor Numbers(const Shape& shape, float scale, float offset) {
  Tensor out(DType::kFloat, shape);
  std::uint32_t state = 1;
  for (float& value : out.mutable_flat<float>()) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8) / 16777216.0F * scale + offset;
  }
  return out;
}

Batch BatchOf(const Shape& images, std::int32_t classes) {
  Batch batch{Numbers(images, 1, 0), Tensor(DType::kInt32, Shape({images.dim(0)}))};
  std::int32_t i = 0;
  for (std::int32_t& label : batch.labels.mutable_flat<std::int32_t>()) label = i++ % classes;
  return batch;
}

Output Weights(Builder& b, const std::string& name, const Shape& shape) {
  return ops::MakeVariable(b, name, b.Const(name + "/initial", Numbers(shape, 0.2F, -0.1F))).read;
}

Output Biases(Builder& b, const std::string& name, std::int64_t n) {
  return ops::MakeVariable(b, name, b.Const(name + "/initial", Tensor(DType::kFloat, Shape({n})))).read;
}

Output Layer(Builder& b, const std::string& name, Output x, std::int64_t in, std::int64_t out) {
  const Output sums = b.Op("MatMul", {x, Weights(b, name + "/w", Shape({in, out}))});
  return b.Op("BiasAdd", {sums, Biases(b, name + "/b", out)});
}

Output ConvLayer(Builder& b, const std::string& name, Output x, std::int64_t in, std::int64_t out) {
  using Numbers4 = std::vector<std::int64_t>;
  const Output filter = Weights(b, name + "/w", Shape({5, 5, in, out}));
  const Output conv =
      b.Op("Conv2D", {x, filter}, {.attrs = {{"strides", Numbers4{1, 1, 1, 1}}, {"padding", std::string("SAME")}}});
  const Output relu = b.Op("Relu", {b.Op("BiasAdd", {conv, Biases(b, name + "/b", out)})});
  return b.Op(
      "MaxPool", {relu},
      {.attrs = {
           {"ksize", Numbers4{1, 2, 2, 1}}, {"strides", Numbers4{1, 2, 2, 1}}, {"padding", std::string("SAME")}}});
}

struct Model {
  Batch batch;
  Output images;  // to be fed, if anything is
  Output labels;
  Output train;
};

Output Logits(Builder& b, const std::string& name, Output x) {
  if (name == "mlp") return Layer(b, "out", b.Op("Relu", {Layer(b, "hidden", x, 32, 16)}), 16, 4);
  if (name == "digits") return Layer(b, "out", b.Op("Relu", {Layer(b, "hidden", x, 784, 128)}), 128, 10);
  const Output pooled = ConvLayer(b, "conv2", ConvLayer(b, "conv1", x, 1, 8), 8, 16);
  const Output flat = b.Op("Reshape", {pooled, b.Const("flat", Tensor::Vector<std::int32_t>({-1, 7 * 7 * 16}))});
  return Layer(b, "out", flat, 7 * 7 * 16, 10);
}

absl::StatusOr<Model> MakeModel(const Env& env, Graph& graph, const std::string& name, bool fed) {
  Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env, b));
  Model model;
  if (name == "mlp") model.batch = BatchOf(Shape({8, 32}), 4);
  if (name == "digits") model.batch = BatchOf(Shape({32, 784}), 10);
  if (name == "convnet") model.batch = BatchOf(Shape({32, 28, 28, 1}), 10);
  model.images = fed ? ops::Placeholder(b, "images", DType::kFloat) : b.Const("images", model.batch.images);
  model.labels = fed ? ops::Placeholder(b, "labels", DType::kInt32) : b.Const("labels", model.batch.labels);
  const Output logits = Logits(b, name, model.images);
  const Output losses = b.Op("SparseSoftmaxCrossEntropyWithLogits", {logits, model.labels});
  const Output loss = b.Op("Mean", {losses, b.Const("axis", Tensor::Vector<std::int32_t>({0}))}, {.name = "loss"});
  ops::ScalarSummary(b, "loss_summary", "loss", loss);
  GradientDescentOptimizer optimizer({.learning_rate = 0.01});
  VIGIL_ASSIGN_OR_RETURN(model.train, optimizer.Minimize(b, loss, step));
  VIGIL_RETURN_IF_ERROR(b.status());
  return model;
}

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

absl::Status Measure(const Env& env, const std::string& name, const std::string& how, const std::string& folder,
                     double seconds) {
  Graph graph(BuiltinOps());
  const bool fed = how == "fed";
  VIGIL_ASSIGN_OR_RETURN(const Model model, MakeModel(env, graph, name, fed));
  VIGIL_ASSIGN_OR_RETURN(auto session, MonitoredTrainingSession(env, graph, {.checkpoint_dir = folder}));
  const Fetches train = model.train;
  RunResult result;
  const auto run = [&](MonitoredSession& s) {
    const Feeds feeds = fed ? Feeds{{model.images, model.batch.images}, {model.labels, model.batch.labels}} : Feeds{};
    return s.RunInto(&result, train, feeds);
  };
  return WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    for (int i = 0; i < 20; ++i) VIGIL_RETURN_IF_ERROR(run(s));
    std::int64_t steps = 0;
    const std::clock_t processor = std::clock();
    const auto begin = std::chrono::steady_clock::now();
    double took = 0;
    while ((took = Seconds(begin)) < seconds) {
      for (int i = 0; i < 10; ++i, ++steps) {
        VIGIL_ASSIGN_OR_RETURN(const bool stop, s.ShouldStop());
        VIGIL_CHECK(!stop);
        VIGIL_RETURN_IF_ERROR(run(s));
      }
    }
    const double used = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC;
    std::printf("%s %s: %lld steps in %.3f s (%.3f s of the processor)\n", name.c_str(), how.c_str(),
                static_cast<long long>(steps), took, used);
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace vigil::bench

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) {
    std::fprintf(stderr, "usage: train_speed mlp|digits|convnet const|fed FOLDER SECONDS [THREADS]\n");
    return 2;
  }
  const int threads = argc == 6 ? std::atoi(argv[5]) : 1;
  vigil::RealEnv real(vigil::RealEnvOptions{.log_to_stderr = false, .intra_op_threads = threads});
  const absl::Status status = vigil::bench::Measure(real.env(), argv[1], argv[2], argv[3], std::atof(argv[4]));
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

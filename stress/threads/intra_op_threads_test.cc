// Sessions that train at once, each in a task of its own, with the threads of one pool working on their ops: what they
// come to is what one task without them comes to, to the bit.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/base/splitmix64.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"

namespace vigil::stress {
namespace {

Tensor Drawn(const std::vector<std::int64_t>& dims, std::uint64_t seed) {
  Tensor out(DType::kFloat, Shape(dims));
  SplitMix64 random(seed);
  for (float& value : out.mutable_flat<float>()) value = static_cast<float>(random.Below(2001)) / 1e4F - 0.1F;
  return out;
}

// A convolution, a pool and a layer, large enough for parts.
std::string TrainedFor(const Env& env, int steps) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const auto ints = [](std::vector<std::int64_t> values) { return values; };
  const auto weights = [&b](const std::string& name, const std::vector<std::int64_t>& dims) {
    return ops::MakeVariable(b, name, b.Const(name + "/initial", Drawn(dims, dims.size())));
  };
  const ops::Variable filter = weights("filter", {5, 5, 1, 8});
  const ops::Variable layer = weights("layer", {14 * 14 * 8, 64});
  const Output images = b.Const("images", Drawn({16, 28, 28, 1}, 7));
  const Output conv = b.Op("Conv2D", {images, filter.read},
                           {.attrs = {{"strides", ints({1, 1, 1, 1})}, {"padding", std::string("SAME")}}});
  const Output pool = b.Op(
      "MaxPool", {b.Op("Relu", {conv})},
      {.attrs = {{"ksize", ints({1, 2, 2, 1})}, {"strides", ints({1, 2, 2, 1})}, {"padding", std::string("SAME")}}});
  const Output flat = b.Op("Reshape", {pool, b.Const("flat", Tensor::Vector<std::int32_t>({16, 14 * 14 * 8}))});
  const Output squares = b.Op("Square", {b.Op("MatMul", {flat, layer.read})});
  const Output loss = b.Op("Sum", {squares, b.Const("axes", Tensor::Vector<std::int32_t>({0, 1}))});
  GradientDescentOptimizer optimizer({.learning_rate = 1e-4});
  const absl::StatusOr<Output> train = optimizer.Minimize(b, loss);
  EXPECT_TRUE(b.status().ok() && train.ok()) << b.status() << train.status();
  const std::unique_ptr<Session> session = NewDirectSession(env, graph);
  EXPECT_TRUE(session->Run({.spec = {.targets = {filter.initializer, layer.initializer}}}, nullptr).ok());
  for (int i = 0; i < steps; ++i) EXPECT_TRUE(RunTarget(*session, train->node).ok());
  std::vector<Tensor> values;
  EXPECT_TRUE(session->Run({.spec = {.fetches = {filter.read, layer.read}}}, &values).ok());
  std::string bytes;
  for (const Tensor& value : values) {
    bytes.append(reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size());
  }
  return bytes;
}

TEST(IntraOpThreadsTest, SessionsThatShareThemTrainAsAlone) {
  constexpr int kSteps = 5;
  RealEnv alone({.log_to_stderr = false});
  const std::string wanted = TrainedFor(alone.env(), kSteps);
  RealEnv shared({.log_to_stderr = false, .intra_op_threads = 3});
  std::vector<std::string> got(3);
  std::vector<std::unique_ptr<Task>> tasks;
  for (std::string& each : got) {
    tasks.push_back(shared.env().tasks->Spawn("trains", [&] { each = TrainedFor(shared.env(), kSteps); }));
  }
  for (const auto& task : tasks) task->Join(kNever);
  for (const std::string& each : got) EXPECT_TRUE(each == wanted);
}

}  // namespace
}  // namespace vigil::stress

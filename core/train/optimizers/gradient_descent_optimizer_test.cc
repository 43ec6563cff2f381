// Names, places, order and words below are those of TensorFlow 2.21's graphs.
#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/cluster/device_setter.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/optimizers/adagrad_optimizer.h"
#include "vigil/core/train/optimizers/adam_optimizer.h"
#include "vigil/core/train/optimizers/ftrl_optimizer.h"
#include "vigil/core/train/optimizers/momentum_optimizer.h"
#include "vigil/core/train/optimizers/rms_prop_optimizer.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;

class GradientDescentOptimizerTest : public testing::Test {
 protected:
  Tensor Two(float a, float b) { return Tensor::Vector<float>({a, b}); }
  // "name (op) device inputs ^controls" of each node whose name begins so.
  std::vector<std::string> Nodes(std::string_view beginning) {
    std::vector<std::string> lines;
    for (NodeId id = 0; id < graph_.size(); ++id) {
      const Node& node = graph_.node(id);
      if (!node.name.starts_with(beginning)) continue;
      std::string line = fmt::format("{} ({}) {}", node.name, node.op, node.device);
      for (const Output input : node.inputs) line += " " + graph_.NameOf(input);
      for (const NodeId control : node.control_inputs) line += " ^" + graph_.node(control).name;
      lines.push_back(line);
    }
    return lines;
  }
  std::string Text(const absl::StatusOr<Output>& made) {
    if (!made.ok()) return fmt::format("{}: {}", CodeName(CodeOf(made.status())), MessageOf(made.status()));
    return graph_.node(made->node).name;
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  GradientDescentOptimizer optimizer_{{.learning_rate = 0.5F}};
};

TEST_F(GradientDescentOptimizerTest, UpdatesAreWithTheVariablesAndTheStepComesAfterThem) {
  const auto cluster =
      ClusterSpec::Create({{"chief", std::vector<std::string>{"a:1"}}, {"ps", std::vector<std::string>{"p:1", "p:2"}}});
  auto setter = ReplicaDeviceSetter(fake_.env(), {.worker_device = "/job:chief/task:0", .cluster = *cluster});
  DeviceScope scope(b_, *std::move(setter));
  const Output step = *GetOrCreateGlobalStep(fake_.env(), b_);
  const ops::Variable w = ops::MakeVariable(b_, "w", b_.Const("zeros", Two(0, 0)));
  const ops::Variable b = ops::MakeVariable(b_, "b", b_.Const("zero", Two(0, 0)));
  const Output g = b_.Const("g", Two(1, 1));
  const auto train_op = optimizer_.ApplyGradients(b_, {{g, w.ref}, {g, b.ref}}, step);
  EXPECT_EQ(Text(train_op), "GradientDescent");
  EXPECT_THAT(
      Nodes("GradientDescent"),
      ElementsAre("GradientDescent/learning_rate (Const) /job:chief/task:0",
                  "GradientDescent/update_w/ApplyGradientDescent (ApplyGradientDescent) /job:ps/task:1 w:0 "
                  "GradientDescent/learning_rate:0 g:0",
                  "GradientDescent/update_b/ApplyGradientDescent (ApplyGradientDescent) /job:ps/task:0 b:0 "
                  "GradientDescent/learning_rate:0 g:0",
                  "GradientDescent/update/NoOp (NoOp) /job:ps/task:0 ^GradientDescent/update_b/ApplyGradientDescent",
                  "GradientDescent/update/NoOp_1 (NoOp) /job:ps/task:1 ^GradientDescent/update_w/ApplyGradientDescent",
                  "GradientDescent/update (NoOp) /job:chief/task:0 ^GradientDescent/update/NoOp "
                  "^GradientDescent/update/NoOp_1",
                  "GradientDescent/value (Const) /job:ps/task:0 ^GradientDescent/update",
                  "GradientDescent (AssignAdd) /job:ps/task:0 global_step:0 GradientDescent/value:0 "
                  "^GradientDescent/update"));
  EXPECT_THAT(graph_.Collection(kTrainOp), ElementsAre(*train_op));
}

TEST_F(GradientDescentOptimizerTest, WithoutAStepTheUpdatesAreTheTrainOp) {
  const ops::Variable w = ops::MakeVariable(b_, "w", b_.Const("zeros", Two(1, 2)));
  const Output g = b_.Const("g", Two(1, 3));
  EXPECT_EQ(Text(optimizer_.ApplyGradients(b_, {{g, w.ref}, {{}, w.ref}})), "GradientDescent");
  EXPECT_THAT(Nodes("GradientDescent"),
              ElementsAre("GradientDescent/learning_rate (Const) ",
                          "GradientDescent/update_w/ApplyGradientDescent (ApplyGradientDescent)  w:0 "
                          "GradientDescent/learning_rate:0 g:0",
                          "GradientDescent (NoOp)  ^GradientDescent/update_w/ApplyGradientDescent"));
  EXPECT_EQ(Text(optimizer_.ApplyGradients(b_, {{g, w.ref}})), "GradientDescent_1");
  EXPECT_EQ(Text(optimizer_.ApplyGradients(b_, {{g, w.ref}}, std::nullopt, "mine")), "mine");
}

TEST_F(GradientDescentOptimizerTest, DescendsAndCounts) {
  const Output step = *GetOrCreateGlobalStep(fake_.env(), b_);
  const ops::Variable w = ops::MakeVariable(b_, "w", b_.Const("zeros", Two(1, 2)));
  const ops::Variable d = ops::MakeVariable(b_, "d", b_.Const("zero", Tensor::Scalar<double>(3)));
  const auto train_op = optimizer_.ApplyGradients(
      b_, {{b_.Const("g", Two(1, 3)), w.ref}, {b_.Const("h", Tensor::Scalar<double>(2)), d.ref}}, step);
  const Output init = ops::VariablesInitializer(b_, "init", graph_.Collection(kGlobalVariables));
  ASSERT_EQ(Text(train_op), "GradientDescent");
  const auto session = NewDirectSession(fake_.env(), graph_);
  ASSERT_TRUE(RunTarget(*session, init.node).ok());
  EXPECT_EQ(RunFetch(*session, *train_op)->scalar<std::int64_t>(), 1);
  EXPECT_EQ(*RunFetch(*session, w.read), Two(0.5F, 0.5F));
  EXPECT_EQ(*RunFetch(*session, d.read), Tensor::Scalar<double>(2));
}

TEST_F(GradientDescentOptimizerTest, RefusesInTensorFlowsWords) {
  const ops::Variable w = ops::MakeVariable(b_, "w", b_.Const("zeros", Two(1, 2)));
  EXPECT_EQ(Text(optimizer_.ApplyGradients(b_, {})), "USAGE: No variables provided.");
  EXPECT_EQ(Text(optimizer_.ApplyGradients(b_, {{{}, w.ref}})),
            "USAGE: No gradients provided for any variable: ['w:0'].");
  Builder other(graph_);
  EXPECT_EQ(Text(optimizer_.ApplyGradients(other, {{other.Const("i", Tensor::Vector<std::int32_t>({1, 2})), w.ref}})),
            "USAGE: Input 'delta' of 'ApplyGradientDescent' Op has type int32 that does not match type float of "
            "argument 'var'.");
  Builder one(graph_), two(graph_), three(graph_);
  const Output g = b_.Const("g", Two(1, 1));
  const Output foreign{9999};
  const std::string no_variable = "USAGE: A variable is not an output of a node of this graph.";
  EXPECT_EQ(Text(optimizer_.ApplyGradients(one, {{g, foreign}})), no_variable);
  EXPECT_EQ(Text(optimizer_.ApplyGradients(two, {{g, w.ref}, {g, foreign}})), no_variable);
  EXPECT_EQ(Text(optimizer_.ApplyGradients(three, {{g, w.ref}}, foreign)),
            "USAGE: The global step is not an output of a node of this graph.");
}

TEST_F(GradientDescentOptimizerTest, OptimizersWithSlotsTrainFractionsOnly) {
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  optimizers.push_back(std::make_unique<MomentumOptimizer>(MomentumOptions{.learning_rate = 1, .momentum = 1}));
  optimizers.push_back(std::make_unique<AdamOptimizer>(AdamOptions{}));
  optimizers.push_back(std::make_unique<RmsPropOptimizer>(RmsPropOptions{.learning_rate = 1}));
  optimizers.push_back(std::make_unique<AdagradOptimizer>(AdagradOptions{.learning_rate = 1}));
  optimizers.push_back(std::make_unique<FtrlOptimizer>(FtrlOptions{.learning_rate = 1}));
  const Output number = b_.Const("number", Tensor::Scalar<std::int32_t>(1));
  const ops::Variable whole = ops::MakeVariable(b_, "whole", number);
  const ops::Variable half =
      ops::MakeVariable(b_, "half", b_.Op("Cast", {number}, {.attrs = {{"DstT", DType::kHalf}}}));
  for (const auto& optimizer : optimizers) {
    const std::string only =
        fmt::format("USAGE: The optimizer {} trains variables of the types float and double only: ", optimizer->name());
    EXPECT_EQ(Text(optimizer->ApplyGradients(b_, {{whole.read, whole.ref}})), only + "'whole:0' has int32.");
    EXPECT_EQ(Text(optimizer->ApplyGradients(b_, {{half.read, half.ref}})), only + "'half:0' has half.");
  }
  EXPECT_EQ(graph_.Collection(kGlobalVariables).size(), 2U);  // nothing is made before
}

}  // namespace
}  // namespace vigil

// Models trained by Minimize(): the whole way from a loss to a variable.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>

#include "vigil/core/base/code.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/optimizers/adagrad_optimizer.h"
#include "vigil/core/train/optimizers/adam_optimizer.h"
#include "vigil/core/train/optimizers/exponential_moving_average.h"
#include "vigil/core/train/optimizers/ftrl_optimizer.h"
#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"
#include "vigil/core/train/optimizers/momentum_optimizer.h"
#include "vigil/core/train/optimizers/rms_prop_optimizer.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

Tensor Matrix(std::int64_t rows, const std::vector<float>& values) {
  const auto columns = static_cast<std::int64_t>(values.size()) / rows;
  return Tensor::Vector<float>(values).Reshaped(Shape({rows, columns}));
}

class MinimizeTest : public testing::Test {
 protected:
  Output MeanOf(Output value) {
    const Output axes = b_.Op("Range", {b_.Const("zero", Tensor::Scalar<std::int32_t>(0)), b_.Op("Rank", {value}),
                                        b_.Const("one", Tensor::Scalar<std::int32_t>(1))});
    return b_.Op("Mean", {value, axes}, {.name = "loss"});
  }
  // y = x [2, -1] + 0.5.
  Output LinearRegression() {
    const Output x = b_.Const("x", Matrix(4, {0, 1, 1, 0, 2, 1, -1, 1}));
    const Output y = b_.Const("y", Matrix(4, {-0.5F, 2.5F, 3.5F, -2.5F}));
    w_ = ops::MakeVariable(b_, "w", b_.Const("w_zero", Matrix(2, {0, 0})));
    bias_ = ops::MakeVariable(b_, "bias", b_.Const("bias_zero", Tensor::Vector<float>({0})));
    const Output prediction = b_.Op("AddV2", {b_.Op("MatMul", {x, w_.read}), bias_.read});
    return MeanOf(b_.Op("Square", {b_.Op("Sub", {prediction, y})}));
  }
  void Initialize() {
    session_ = NewDirectSession(fake_.env(), graph_);
    std::vector<NodeId> all;
    for (const ops::Variable& each : graph_.Collection(ops::kVariables)) all.push_back(each.initializer);
    Do(all);
  }
  void Do(const std::vector<NodeId>& targets) {
    const RunSpec spec{.targets = targets};
    std::vector<Tensor> fetched;
    EXPECT_EQ(fakes::Text(session_->Run({.spec = spec}, &fetched)), "OK");
  }
  std::vector<float> Values(Output output) {
    const RunSpec spec{.fetches = {output}};
    std::vector<Tensor> fetched;
    EXPECT_EQ(fakes::Text(session_->Run({.spec = spec}, &fetched)), "OK");
    const auto flat = fetched.at(0).flat<float>();
    return {flat.begin(), flat.end()};
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  ops::Variable w_, bias_;
  std::unique_ptr<Session> session_;
};

TEST_F(MinimizeTest, ALinearRegressionFindsItsLine) {
  const Output loss = LinearRegression();
  GradientDescentOptimizer optimizer({.learning_rate = 0.2F});
  const auto train = optimizer.Minimize(b_, loss);
  ASSERT_EQ(fakes::Text(train.status()), "OK");
  Initialize();
  for (int i = 0; i < 400; ++i) Do({train->node});
  EXPECT_THAT(Values(w_.ref), ElementsAre(FloatNear(2, 1e-4F), FloatNear(-1, 1e-4F)));
  EXPECT_THAT(Values(bias_.ref), ElementsAre(FloatNear(0.5F, 1e-4F)));
}

// with tf.control_dependencies([train]): doubled = w * 2
TEST_F(MinimizeTest, WhatWaitsForAStepSeesWhatTheStepHasMade) {
  const Output loss = LinearRegression();
  GradientDescentOptimizer optimizer({.learning_rate = 0.2F});
  const auto train = optimizer.Minimize(b_, loss);
  ASSERT_EQ(fakes::Text(train.status()), "OK");
  const Output two = b_.Const("two", Tensor::Scalar<float>(2));
  const Output after = b_.Op("Mul", {bias_.read, two}, {.control_inputs = {train->node}});
  const Output beside = b_.Op("Mul", {bias_.read, two});
  Initialize();
  const RunSpec spec{.fetches = {after, beside}};
  std::vector<Tensor> fetched;
  EXPECT_EQ(fakes::Text(session_->Run({.spec = spec}, &fetched)), "OK");
  EXPECT_EQ(fetched[0].flat<float>()[0], 2 * Values(bias_.ref)[0]);
  EXPECT_NE(fetched[0].flat<float>()[0], 0);
  EXPECT_EQ(fetched[1].flat<float>()[0], 0);
}

// In a graph that TensorFlow runs, an update works in the memory that a gradient may still be read from.
TEST_F(MinimizeTest, NoGradientIsUsedBeforeTheOthersOfItsOpAreThere) {
  const Output loss = LinearRegression();
  GradientDescentOptimizer optimizer({.learning_rate = 0.2F});
  ASSERT_EQ(fakes::Text(optimizer.Minimize(b_, loss).status()), "OK");
  int gated = 0;
  for (NodeId id = 0; id < graph_.size(); ++id) {
    const Node& node = graph_.node(id);
    if (node.op != "ApplyGradientDescent") continue;
    const Node& gate = graph_.node(node.inputs[2].node);
    EXPECT_EQ(gate.name.substr(gate.name.find("_grad/")).substr(0, 30), "_grad/tuple/control_dependency");
    ASSERT_EQ(gate.control_inputs.size(), 1u);
    EXPECT_EQ(graph_.node(gate.control_inputs[0]).control_inputs.size(), 2u);
    ++gated;
  }
  EXPECT_EQ(gated, 2);
}

// A dense part, and a table of which a row is picked twice.
std::vector<float> TrainedBy(Optimizer& optimizer, decltype(ops::MakeVariable)* make, const Env& env) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Output x = b.Const("x", Matrix(3, {1, 2, -1, 0.5F, 0.3F, -2}));
  const Output y = b.Const("y", Matrix(3, {1, -1, 0.5F}));
  const ops::Variable w = make(b, "w", b.Const("w0", Matrix(2, {0.1F, -0.2F})), kGlobalVariables);
  const ops::Variable table = make(b, "table", b.Const("t0", Matrix(4, {0.5F, 0.25F, -0.5F, 1})), kGlobalVariables);
  const Output ids = b.Const("ids", Tensor::Vector<std::int32_t>({2, 0, 2}));
  const Output rows = ops::IsResourceVariable(graph, table.ref)
                          ? b.Op("ResourceGather", {table.ref, ids}, {.attrs = {{"dtype", DType::kFloat}}})
                          : b.Op("GatherV2", {table.read, ids, b.Const("axis", Tensor::Scalar<std::int32_t>(0))});
  const Output off = b.Op("Sub", {b.Op("AddV2", {b.Op("MatMul", {x, w.read}), rows}), y});
  const Output loss = b.Op("Mean", {b.Op("Square", {off}), b.Const("axes", Tensor::Vector<std::int32_t>({0, 1}))});
  const auto train = optimizer.Minimize(b, loss);
  EXPECT_EQ(fakes::Text(train.status()), "OK");
  const std::unique_ptr<Session> session = NewDirectSession(env, graph);
  for (const ops::Variable& each : graph.Collection(ops::kVariables)) {
    const std::string& name = graph.node(each.ref.node).name;
    const bool of_kind = make == ops::MakeResourceVariable && !name.starts_with("beta");  // those belong to no variable
    EXPECT_EQ(ops::IsResourceVariable(graph, each.ref), of_kind) << name;
    EXPECT_EQ(fakes::Text(RunTarget(*session, each.initializer)), "OK");
  }
  std::vector<float> all;
  for (int i = 0; i < 5 && train.ok(); ++i) EXPECT_EQ(fakes::Text(RunTarget(*session, train->node)), "OK");
  for (const ops::Variable& each : graph.Collection(ops::kVariables)) {
    const absl::StatusOr<Tensor> value = RunFetch(*session, each.read);
    EXPECT_EQ(fakes::Text(value.status()), "OK");
    if (value.ok()) all.insert(all.end(), value->flat<float>().begin(), value->flat<float>().end());
  }
  return all;
}

// What references give is held against TensorFlow (replays/ops).
TEST_F(MinimizeTest, ResourceVariablesAreTrainedAsReferencesAre) {
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  optimizers.push_back(std::make_unique<GradientDescentOptimizer>(GradientDescentOptions{.learning_rate = 0.1F}));
  optimizers.push_back(std::make_unique<MomentumOptimizer>(
      MomentumOptions{.learning_rate = 0.1F, .momentum = 0.9F, .use_nesterov = true}));
  optimizers.push_back(std::make_unique<AdagradOptimizer>(AdagradOptions{.learning_rate = 0.1F}));
  optimizers.push_back(std::make_unique<AdamOptimizer>(AdamOptions{.learning_rate = 0.1F}));
  optimizers.push_back(std::make_unique<RmsPropOptimizer>(RmsPropOptions{.learning_rate = 0.1F, .centered = true}));
  optimizers.push_back(std::make_unique<RmsPropOptimizer>(RmsPropOptions{.learning_rate = 0.1F, .momentum = 0.5F}));
  optimizers.push_back(
      std::make_unique<FtrlOptimizer>(FtrlOptions{.learning_rate = 0.1F, .l1_regularization_strength = 0.01F}));
  optimizers.push_back(std::make_unique<FtrlOptimizer>(
      FtrlOptions{.learning_rate = 0.1F, .l2_shrinkage_regularization_strength = 0.1F}));
  for (const auto& optimizer : optimizers) {
    SCOPED_TRACE(optimizer->name());
    const std::vector<float> wanted = TrainedBy(*optimizer, ops::MakeVariable, fake_.env());
    EXPECT_EQ(TrainedBy(*optimizer, ops::MakeResourceVariable, fake_.env()), wanted);
    EXPECT_NE(wanted[0], 0.1F);
  }
}

// Exclusive or, which takes a hidden layer.
TEST_F(MinimizeTest, APerceptronLearnsExclusiveOr) {
  const Output x = b_.Const("x", Matrix(4, {0, 0, 0, 1, 1, 0, 1, 1}));
  const Output labels = b_.Const("labels", Tensor::Vector<std::int32_t>({0, 1, 1, 0}));
  const auto layer = [&](const char* name, Output in, std::int64_t rows, const std::vector<float>& values) {
    const auto columns = values.size() / static_cast<std::size_t>(rows);
    const ops::Variable w = ops::MakeVariable(b_, fmt::format("{}/w", name), b_.Const("w0", Matrix(rows, values)));
    const ops::Variable b = ops::MakeVariable(b_, fmt::format("{}/b", name),
                                              b_.Const("b0", Tensor::Vector<float>(std::vector<float>(columns, 0.1F))));
    return b_.Op("BiasAdd", {b_.Op("MatMul", {in, w.read}), b.read});
  };
  const Output first = b_.Op("Relu", {layer("first", x, 2, {0.5F, -0.6F, 0.7F, 0.4F, 0.6F, 0.5F, -0.7F, 0.3F})});
  const Output second = b_.Op("Tanh", {layer("second", first, 4, {0.3F, -0.5F, 0.6F, 0.4F, -0.2F, 0.7F, 0.5F, 0.1F})});
  const Output logits = layer("out", second, 2, {0.4F, -0.3F, -0.5F, 0.6F});
  const Output loss = MeanOf(b_.Op("SparseSoftmaxCrossEntropyWithLogits", {logits, labels}));
  AdamOptimizer optimizer({.learning_rate = 0.05F});
  const auto train = optimizer.Minimize(b_, loss);
  ASSERT_EQ(fakes::Text(train.status()), "OK");
  Initialize();
  for (int i = 0; i < 200; ++i) Do({train->node});
  EXPECT_LT(Values(loss)[0], 0.05F);
}

// A bar that stands or lies, somewhere on a small image: one filter for each suffices.
TEST_F(MinimizeTest, AConvolutionalNetTellsBarsApart) {
  constexpr std::int64_t kSize = 6;
  Tensor images(DType::kFloat, Shape({8, kSize, kSize, 1}));
  std::vector<std::int32_t> stands;
  for (std::int64_t i = 0; i < 8; ++i) {
    const bool upright = i % 2 == 0;
    stands.push_back(upright ? 1 : 0);
    for (std::int64_t k = 0; k < 3; ++k) {
      const std::int64_t row = upright ? k + i / 4 : 1 + i / 2;
      const std::int64_t column = upright ? 1 + i / 2 : k + i / 4;
      images.mutable_flat<float>()[static_cast<std::size_t>((i * kSize + row) * kSize + column)] = 1;
    }
  }
  const auto weights = [&](const char* name, Shape shape) {
    Tensor initial(DType::kFloat, std::move(shape));
    float value = 0.3F;
    for (float& each : initial.mutable_flat<float>()) each = (value = std::fmod(value + 0.618F, 1.0F)) - 0.5F;
    return ops::MakeVariable(b_, name, b_.Const("initial", initial)).read;
  };
  const std::vector<std::int64_t> ones{1, 1, 1, 1}, twos{1, 2, 2, 1};
  const Output filtered = b_.Op("Conv2D", {b_.Const("images", images), weights("filter", Shape({3, 3, 1, 4}))},
                                {.attrs = {{"strides", ones}, {"padding", std::string("SAME")}}});
  const Output pooled = b_.Op("MaxPool", {b_.Op("Relu", {filtered})},
                              {.attrs = {{"ksize", twos}, {"strides", twos}, {"padding", std::string("VALID")}}});
  const Output flat = b_.Op("Reshape", {pooled, b_.Const("flat", Tensor::Vector<std::int32_t>({8, 36}))});
  const Output logits = b_.Op("MatMul", {flat, weights("out", Shape({36, 2}))});
  const Output labels = b_.Const("labels", Tensor::Vector<std::int32_t>(stands));
  const Output loss = MeanOf(b_.Op("SparseSoftmaxCrossEntropyWithLogits", {logits, labels}));
  MomentumOptimizer optimizer({.learning_rate = 0.1F, .momentum = 0.9F});
  const auto train = optimizer.Minimize(b_, loss);
  ASSERT_EQ(fakes::Text(train.status()), "OK");
  Initialize();
  const float before = Values(loss)[0];
  for (int i = 0; i < 60; ++i) Do({train->node});
  EXPECT_GT(before, 0.3F);
  EXPECT_LT(Values(loss)[0], 0.02F);
}

// Rows that no example asks for stay as they were.
TEST_F(MinimizeTest, AnEmbeddingIsUpdatedByRows) {
  const ops::Variable table = ops::MakeVariable(b_, "table", b_.Const("initial", Matrix(4, {1, 1, 2, 2, 3, 3, 4, 4})));
  const Output ids = b_.Const("ids", Tensor::Vector<std::int32_t>({2, 0, 2}));
  const Output rows = b_.Op("Gather", {table.read, ids});
  const Output loss = MeanOf(b_.Op("Square", {rows}));
  AdagradOptimizer optimizer({.learning_rate = 0.5F});
  const auto train = optimizer.Minimize(b_, loss);
  ASSERT_EQ(fakes::Text(train.status()), "OK");
  EXPECT_TRUE(graph_.Find("Adagrad/update_table/SparseApplyAdagrad").has_value());
  Initialize();
  Do({train->node});
  const std::vector<float> values = Values(table.ref);
  EXPECT_EQ(values[2], 2);
  EXPECT_EQ(values[7], 4);
  EXPECT_LT(values[0], 1);
  EXPECT_LT(values[4], 3);
}

TEST_F(MinimizeTest, SlotsAreNamedAsTensorFlowDoes) {
  const Output loss = LinearRegression();
  AdamOptimizer adam({});
  RmsPropOptimizer centered({.learning_rate = 1, .centered = true});
  MomentumOptimizer momentum({.learning_rate = 1, .momentum = 1});
  AdagradOptimizer adagrad({.learning_rate = 1});
  FtrlOptimizer ftrl({.learning_rate = 1});
  for (Optimizer* each : std::vector<Optimizer*>{&adam, &centered, &momentum, &adagrad, &ftrl}) {
    ASSERT_EQ(fakes::Text(each->Minimize(b_, loss).status()), "OK");
  }
  std::vector<std::string> names;
  for (const Output variable : graph_.Collection(kGlobalVariables)) names.push_back(graph_.node(variable.node).name);
  EXPECT_THAT(names, ElementsAre("w", "bias", "beta1_power", "beta2_power", "w/Adam", "w/Adam_1", "bias/Adam",
                                 "bias/Adam_1", "w/RMSProp", "w/RMSProp_1", "w/RMSProp_2", "bias/RMSProp",
                                 "bias/RMSProp_1", "bias/RMSProp_2", "w/Momentum", "bias/Momentum", "w/Adagrad",
                                 "bias/Adagrad", "w/Ftrl", "w/Ftrl_1", "bias/Ftrl", "bias/Ftrl_1"));
  EXPECT_THAT(adam.GetSlotNames(), ElementsAre("m", "v"));
  EXPECT_EQ(graph_.NameOf(*adam.GetSlot(w_.ref, "v")), "w/Adam_1:0");
  EXPECT_EQ(adam.GetSlot(w_.ref, "none"), std::nullopt);
  EXPECT_EQ(adam.variables().size(), 6U);
}

// "w1:0" is before "w:0", as TensorFlow takes the names of tensors.
TEST_F(MinimizeTest, AdamsPowersAreWithTheVariableWhoseTensorComesFirst) {
  const Output one = b_.Const("one", Tensor::Scalar<float>(1));
  GradientsAndVariables pairs;
  for (const char* const name : {"w", "w1"}) {
    b_.device = fmt::format("/job:{}", name);
    pairs.push_back({.gradient = one, .variable = ops::MakeVariable(b_, name, one).ref});
  }
  ASSERT_EQ(fakes::Text(AdamOptimizer({}).ApplyGradients(b_, pairs).status()), "OK");
  EXPECT_EQ(graph_.node(*graph_.Find("beta1_power")).device, graph_.node(*graph_.Find("w1")).device);
}

// Or two models of a server that are kept apart by it would share them.
TEST_F(MinimizeTest, WhatIsMadeForAVariableIsInTheContainer) {
  b_.container = "mine";
  const Output loss = LinearRegression();
  AdamOptimizer adam({});
  ASSERT_EQ(fakes::Text(adam.Minimize(b_, loss).status()), "OK");
  ExponentialMovingAverage average({});
  average.Apply(b_, {w_.ref});
  ASSERT_EQ(fakes::Text(b_.status()), "OK");
  int resources = 0;
  for (NodeId id = 0; id < graph_.size(); ++id) {
    const Node& node = graph_.node(id);
    if (!node.def->is_resource) continue;
    ++resources;
    const auto container = node.attrs.find("container");
    ASSERT_NE(container, node.attrs.end()) << node.name;
    EXPECT_EQ(std::get<std::string>(container->second), "mine") << node.name;
  }
  EXPECT_EQ(resources, 9);  // the model's two, four slots, two powers, an average
}

// In the second graph, which stands where the first one was, `other` is the node that the slot was there.
TEST_F(MinimizeTest, SlotsAreThoseOfTheGraph) {
  MomentumOptimizer momentum({.learning_rate = 1, .momentum = 0.5F});
  std::optional<Graph> graph;
  for (const bool has_other : {false, true}) {
    graph.emplace(BuiltinOps());
    Builder b(*graph);
    const ops::Variable w = ops::MakeVariable(b, "w", b.Const("one", Tensor::Scalar<float>(1)));
    const Output g = b.Const("g", Tensor::Scalar<float>(1));
    if (has_other) ops::MakeVariable(b, "other", b.Const("hundred", Tensor::Scalar<float>(100)));
    ASSERT_EQ(fakes::Text(momentum.ApplyGradients(b, {{g, w.ref}}).status()), "OK");
    EXPECT_EQ(graph->NameOf(*momentum.GetSlot(w.ref, "momentum")), "w/Momentum:0");
  }
}

// In the second graph `other` is the node that the average was in the first one.
TEST_F(MinimizeTest, AveragesAreThoseOfTheGraph) {
  ExponentialMovingAverage average({.decay = 0.5F});
  for (const bool has_other : {false, true}) {
    Graph graph(BuiltinOps());
    Builder b(graph);
    const Output eight = b.Const("eight", Tensor::Scalar<float>(8));
    const ops::Variable w = ops::MakeVariable(b, "w", eight);
    if (has_other) ops::MakeVariable(b, "other", eight);
    average.Apply(b, {w.ref});
    ASSERT_EQ(fakes::Text(b.status()), "OK");
    EXPECT_EQ(graph.NameOf(*average.Average(w.ref)), "w/ExponentialMovingAverage:0");
  }
}

TEST_F(MinimizeTest, AnAverageThatCannotBeMadeIsNoneLater) {
  ExponentialMovingAverage average({.decay = 0.5F, .name = "no name"});
  w_ = ops::MakeVariable(b_, "w", b_.Const("zero", Tensor::Scalar<float>(0)));
  average.Apply(b_, {w_.ref});
  EXPECT_EQ(CodeOf(b_.status()), Code::kUsage);
  EXPECT_EQ(average.Average(w_.ref), std::nullopt);
}

TEST_F(MinimizeTest, SaysWhatCannotBeMinimized) {
  GradientDescentOptimizer optimizer({.learning_rate = 0.2F});
  const Output alone = b_.Const("alone", Tensor::Scalar<float>(1));
  EXPECT_EQ(fakes::Text(optimizer.Minimize(b_, alone).status()), "USAGE: No variables to optimize.");
  LinearRegression();
  EXPECT_EQ(fakes::Text(optimizer.Minimize(b_, alone).status()),
            "USAGE: No gradients provided for any variable, check your graph for ops that do not support gradients, "
            "between variables ['w:0', 'bias:0'] and loss alone:0.");
  const Output g = b_.Const("g", Matrix(2, {1, 1}));
  AdagradOptimizer adagrad({.initial_accumulator_value = 0});
  EXPECT_EQ(fakes::Text(adagrad.ApplyGradients(b_, {{g, w_.ref}}).status()),
            "USAGE: initial_accumulator_value must be positive: 0");
  FtrlOptimizer ftrl({.l1_regularization_strength = -1});
  EXPECT_EQ(fakes::Text(ftrl.ApplyGradients(b_, {{g, w_.ref}}).status()),
            "USAGE: l1_regularization_strength -1.000000 needs to be positive or zero");
}

}  // namespace
}  // namespace vigil

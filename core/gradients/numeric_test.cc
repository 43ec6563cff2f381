// Every gradient that is registered, held against central differences in double precision. An op that is registered as
// differentiable and has no case here fails.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "vigil/core/gradients/gradients.h"
#include "vigil/core/gradients/testing.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

constexpr double kStep = 1e-5;
constexpr double kTolerance = 2e-8;  // of the derivative, or of 1 where that is less: differences have no more digits

// The sum of all outputs, each with a weight of its own.
Output Weighted(Builder& b, Output value, std::int64_t elements, const Shape& shape) {
  Tensor weights(DType::kDouble, Shape({elements}));
  double weight = 0.5;
  for (double& each : weights.mutable_flat<double>()) each = (weight = std::fmod(weight + 0.618034, 1.0)) + 0.1;
  const Output flat = b.Op("Mul", {value, b.Const("weights", weights.Reshaped(shape))});
  const Output all = b.Op("Range", {b.Const("zero", Tensor::Scalar<std::int32_t>(0)), b.Op("Rank", {flat}),
                                    b.Const("one", Tensor::Scalar<std::int32_t>(1))});
  return b.Op("Sum", {flat, all});
}

class NumericTest : public testing::Test {
 protected:
  std::vector<Tensor> Run(const Graph& graph, const std::vector<Output>& feeds, const std::vector<Tensor>& values,
                          const std::vector<Output>& fetches) {
    const auto session = NewDirectSession(fake_.env(), graph);
    RunSpec init{.feeds = feeds};
    for (const ops::Variable& variable : graph.Collection(ops::kVariables))
      init.targets.push_back(variable.initializer);
    const RunSpec spec{.feeds = feeds, .fetches = fetches};
    std::vector<Tensor> fetched;
    if (!init.targets.empty()) {
      EXPECT_EQ(fakes::Text(session->Run({.spec = init, .feed_values = values}, &fetched)), "OK");
    }
    const absl::Status status = session->Run({.spec = spec, .feed_values = values}, &fetched);
    EXPECT_EQ(fakes::Text(status), "OK");
    if (!status.ok()) fetched.assign(fetches.size(), Tensor::Scalar<double>(NAN));
    return fetched;
  }

  void Check(const DifferentiableCase& each) {
    Graph graph(BuiltinOps());
    Builder b(graph);
    std::vector<Output> inputs, xs;
    for (std::size_t i = 0; i < each.inputs.size(); ++i) {
      inputs.push_back(ops::Placeholder(b, "x", DType::kDouble));
      xs.push_back(each.inputs_are == InputsAre::kResourceVariables
                       ? ops::MakeResourceVariable(b, "v", inputs.back()).ref
                   : each.inputs_are == InputsAre::kReferenceVariables ? ops::MakeVariable(b, "v", inputs.back()).ref
                                                                       : inputs.back());
    }
    const Output out = each.build(b, xs);
    ASSERT_EQ(fakes::Text(b.status()), "OK");
    const Tensor plain = Run(graph, inputs, each.inputs, {out})[0];
    const Output loss = Weighted(b, out, plain.num_elements(), plain.shape());
    const auto gradients = Gradients(b, loss, xs);
    ASSERT_EQ(fakes::Text(gradients.status()), "OK");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      SCOPED_TRACE(fmt::format("input {}", i));
      CheckInput(graph, inputs, each.inputs, i, loss, (*gradients)[i]);
    }
  }

  void CheckInput(const Graph& graph, const std::vector<Output>& inputs, std::vector<Tensor> values, std::size_t i,
                  Output loss, Output gradient) {
    Tensor derived(DType::kDouble, values[i].shape());  // zeros, where there is none
    if (gradient.node != kNoNode) derived = Run(graph, inputs, values, {gradient})[0];
    ASSERT_EQ(derived.Describe(), values[i].Describe());
    for (std::size_t k = 0; k < static_cast<std::size_t>(values[i].num_elements()); ++k) {
      const double at = values[i].flat<double>()[k];
      const auto loss_at = [&](double x) {
        values[i].mutable_flat<double>()[k] = x;
        return Run(graph, inputs, values, {loss})[0].scalar<double>();
      };
      const double difference = (loss_at(at + kStep) - loss_at(at - kStep)) / (2 * kStep);
      loss_at(at);
      values[i].mutable_flat<double>()[k] = at;
      const double symbolic = derived.flat<double>()[k];
      EXPECT_NEAR(symbolic, difference, kTolerance * std::max(1.0, std::abs(difference))) << "element " << k;
    }
  }

  fakes::FakeEnv fake_;
};

TEST_F(NumericTest, EachGradientIsTheLimitOfDifferences) {
  for (const DifferentiableCase& each : DifferentiableCases()) {
    std::string what = each.op;
    for (const Tensor& input : each.inputs) what += " " + input.shape().ToString();
    SCOPED_TRACE(what);
    Check(each);
  }
}

TEST_F(NumericTest, EachDifferentiableOpHasACase) {
  for (const auto& [op, function] : BuiltinGradients().all()) {
    if (!function) continue;
    const std::string& name = op;  // clang 14 captures no structured binding
    EXPECT_TRUE(std::ranges::any_of(DifferentiableCases(), [&name](const auto& each) { return each.op == name; }))
        << op << " is registered as differentiable: testing.cc has no case for it";
  }
}

TEST_F(NumericTest, EachOpWithAGradientExists) {
  for (const auto& [op, function] : BuiltinGradients().all()) EXPECT_NE(BuiltinOps().Find(op), nullptr) << op;
}

}  // namespace
}  // namespace vigil

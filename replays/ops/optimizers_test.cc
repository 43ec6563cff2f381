// What TensorFlow's optimizers, clipping, averages and learning-rate decays did with one small model
// (record_optimizers.py), against what ours do with the same model.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/optimizers/adagrad_optimizer.h"
#include "vigil/core/train/optimizers/adam_optimizer.h"
#include "vigil/core/train/optimizers/clipping.h"
#include "vigil/core/train/optimizers/exponential_moving_average.h"
#include "vigil/core/train/optimizers/ftrl_optimizer.h"
#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"
#include "vigil/core/train/optimizers/learning_rate_decay.h"
#include "vigil/core/train/optimizers/momentum_optimizer.h"
#include "vigil/core/train/optimizers/rms_prop_optimizer.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"
#include "vigil/replays/ops/cases.h"

namespace vigil::replays {
namespace {

constexpr const char* kFile = VIGIL_SOURCE_DIR "/replays/ops/optimizers.jsonl";
// After 20 steps, of the value or of 1.
constexpr double kFloatAfter20 = 2e-5;
constexpr double kDoubleAfter20 = 1e-9;

// Named numbers that are all taken.
class Options {
 public:
  explicit Options(const std::vector<std::pair<std::string, double>>& given) : left_(given.begin(), given.end()) {}
  double Take(const std::string& name, double missing) {
    const auto node = left_.extract(name);
    return node.empty() ? missing : node.mapped();
  }
  bool Has(const std::string& name) const { return left_.contains(name); }
  std::size_t left() const { return left_.size(); }

 private:
  std::map<std::string, double> left_;
};

std::unique_ptr<Optimizer> MakeOptimizer(const std::string& name, Options& o) {
  const bool is_adam = name == "AdamOptimizer";
  const double rate = o.Take("learning_rate", is_adam ? 0.001 : 0);
  if (name == "GradientDescentOptimizer") {
    return std::make_unique<GradientDescentOptimizer>(GradientDescentOptions{.learning_rate = rate});
  }
  if (name == "MomentumOptimizer") {
    return std::make_unique<MomentumOptimizer>(MomentumOptions{
        .learning_rate = rate, .momentum = o.Take("momentum", 0), .use_nesterov = o.Take("use_nesterov", 0) != 0});
  }
  if (name == "AdagradOptimizer") {
    AdagradOptions options{.learning_rate = rate};
    options.initial_accumulator_value = o.Take("initial_accumulator_value", options.initial_accumulator_value);
    return std::make_unique<AdagradOptimizer>(options);
  }
  if (name == "RMSPropOptimizer") {
    RmsPropOptions options{.learning_rate = rate, .momentum = o.Take("momentum", 0)};
    if (o.Has("decay")) options.decay = o.Take("decay", 0);
    if (o.Has("epsilon")) options.epsilon = o.Take("epsilon", 0);
    options.centered = o.Take("centered", 0) != 0;
    return std::make_unique<RmsPropOptimizer>(options);
  }
  if (name == "FtrlOptimizer") {
    FtrlOptions options{.learning_rate = rate};
    const auto number = [&o](const char* option, float& value) {
      value = static_cast<float>(o.Take(option, static_cast<double>(value)));
    };
    number("learning_rate_power", options.learning_rate_power);
    number("l1_regularization_strength", options.l1_regularization_strength);
    number("l2_regularization_strength", options.l2_regularization_strength);
    number("l2_shrinkage_regularization_strength", options.l2_shrinkage_regularization_strength);
    options.initial_accumulator_value = o.Take("initial_accumulator_value", options.initial_accumulator_value);
    return std::make_unique<FtrlOptimizer>(options);
  }
  if (!is_adam) return nullptr;
  AdamOptions options{.learning_rate = rate};
  if (o.Has("beta1")) options.beta1 = o.Take("beta1", 0);
  if (o.Has("beta2")) options.beta2 = o.Take("beta2", 0);
  if (o.Has("epsilon")) options.epsilon = o.Take("epsilon", 0);
  return std::make_unique<AdamOptimizer>(options);
}

class OptimizersTest : public testing::Test {
 protected:
  // A fresh graph.
  void Begin() {
    session_.reset();
    graph_ = std::make_unique<Graph>(BuiltinOps());
    b_ = std::make_unique<Builder>(*graph_);
  }

  Output Matrix(DType type, std::int64_t rows, const std::vector<double>& values) {
    Tensor out(type, rows == 0 ? Shape({static_cast<std::int64_t>(values.size())})
                               : Shape({rows, static_cast<std::int64_t>(values.size()) / rows}));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (type == DType::kDouble) {
        out.mutable_flat<double>()[i] = values[i];
      } else {
        out.mutable_flat<float>()[i] = static_cast<float>(values[i]);
      }
    }
    return b_->Const("Const", out);
  }
  Output MeanOf(Output value) {
    return b_->Op("Mean", {value, b_->Const("axes", Tensor::Vector<std::int32_t>({0, 1}))});
  }

  // The recorder's model.
  Output Model(DType type) {
    const auto variable = [&](const char* name, std::int64_t rows, const std::vector<double>& values) {
      return ops::MakeVariable(*b_, name, Matrix(type, rows, values));
    };
    const ops::Variable w = variable("w", 3, {0.1, -0.2, 0.3, 0.4, -0.5, 0.6});
    const ops::Variable bias = variable("b", 0, {0.05, -0.1});
    const ops::Variable table = variable("table", 5, {0.3, 0.1, -0.4, 0.2, 0.5, -0.6, 0.7, 0.8, -0.9, 1.0});
    trained_ = {w.ref, bias.ref, table.ref};
    const Output x = Matrix(type, 4, {0.5, -1.2, 0.3, 1.1, 0.4, -0.7, -0.6, 0.9, 1.3, 0.2, -0.3, 0.8});
    const Output y = Matrix(type, 4, {0.7, -0.2, -1.1, 0.6, 0.4, 1.2, 0.9, -0.8});
    const Output line = b_->Op("AddV2", {b_->Op("MatMul", {x, w.read}), bias.read});
    const Output ids = b_->Const("ids", Tensor::Vector<std::int32_t>({1, 3, 1, 4}));
    const Output rows = b_->Op("GatherV2", {table.read, ids, b_->Const("axis", Tensor::Scalar<std::int32_t>(0))});
    const Output dense = MeanOf(b_->Op("Square", {b_->Op("Sub", {line, y})}));
    return b_->Op("AddV2", {dense, MeanOf(b_->Op("Square", {b_->Op("Sub", {rows, y})}))});
  }

  // Runs the train op as the recording did, and compares all variables.
  void Play(const Trajectory& each, NodeId train) {
    const std::vector<Output>& variables = graph_->Collection(kGlobalVariables);
    std::vector<std::string> names;
    for (const Output variable : variables) names.push_back(graph_->node(variable.node).name);
    ASSERT_EQ(names, each.variables);
    std::vector<NodeId> init;
    for (const ops::Variable& variable : graph_->Collection(ops::kVariables)) init.push_back(variable.initializer);
    session_ = NewDirectSession(fake_.env(), *graph_);
    Run({.targets = init});
    for (int step = 1, at = 0; step <= each.steps.back(); ++step) {
      Run({.targets = {train}});
      if (step != each.steps[static_cast<std::size_t>(at)]) continue;
      const std::vector<Tensor> values = Run({.fetches = variables});
      for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(Differs(values[i], each.values[static_cast<std::size_t>(at)][i], kFloatAfter20, kDoubleAfter20), "")
            << names[i] << " after step " << step;
      }
      ++at;
    }
  }

  std::vector<Tensor> Run(const RunSpec& spec, const std::vector<Tensor>& feeds = {}) {
    std::vector<Tensor> fetched;
    EXPECT_EQ(fakes::Text(session_->Run({.spec = spec, .feed_values = feeds}, &fetched)), "OK");
    return fetched;
  }

  fakes::FakeEnv fake_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Builder> b_;
  std::vector<Output> trained_;
  std::unique_ptr<Session> session_;
};

TEST_F(OptimizersTest, TakeTensorFlowsSteps) {
  std::set<std::string> played;
  for (const Trajectory& each : ReadTrajectories(kFile)) {
    if (each.optimizer.starts_with("clip")) continue;
    SCOPED_TRACE(each.where + " " + each.optimizer);
    Begin();
    const Output loss = Model(each.is_double ? DType::kDouble : DType::kFloat);
    Options options(each.options);
    const std::unique_ptr<Optimizer> optimizer = MakeOptimizer(each.optimizer, options);
    ASSERT_NE(optimizer, nullptr);
    ASSERT_EQ(options.left(), 0U) << "an option that nothing was made of";
    const auto train = optimizer->Minimize(*b_, loss);
    ASSERT_EQ(fakes::Text(train.status()), "OK");
    Play(each, train->node);
    played.insert(each.optimizer);
  }
  EXPECT_EQ(played.size(), 6U);
}

// With a rate that decays, and with averages of the variables.
TEST_F(OptimizersTest, ClippedTheyTakeTensorFlowsSteps) {
  int played = 0;
  for (const Trajectory& each : ReadTrajectories(kFile)) {
    if (!each.optimizer.starts_with("clip")) continue;
    SCOPED_TRACE(each.where + " " + each.optimizer);
    Begin();
    const Output zero = b_->Const("zero", Tensor::Scalar<std::int64_t>(0));
    const Output step = ops::MakeVariable(*b_, "global_step", zero).ref;
    const Output loss = Model(DType::kFloat);
    const Output rate = ExponentialDecay(*b_, step, {.learning_rate = 0.3, .decay_steps = 5, .decay_rate = 0.5});
    MomentumOptimizer optimizer({.learning_rate = rate, .momentum = 0.5});
    GradientsAndVariables pairs = *optimizer.ComputeGradients(*b_, loss);
    const bool by_norm = each.optimizer == "clip_by_norm";
    if (each.optimizer == "clip_by_global_norm") {
      pairs = ClipByGlobalNorm(*b_, pairs, 0.4);
    } else {
      pairs = by_norm ? ClipByNorm(*b_, pairs, 0.3) : ClipByValue(*b_, pairs, -0.1, 0.15);
    }
    const auto train = optimizer.ApplyGradients(*b_, pairs, step);
    ASSERT_EQ(fakes::Text(train.status()), "OK");
    ExponentialMovingAverage average({.decay = 0.9, .num_updates = by_norm ? std::optional(step) : std::nullopt});
    b_->control_inputs = {train->node};
    const Output both = average.Apply(*b_, trained_);
    ASSERT_EQ(fakes::Text(b_->status()), "OK");
    Play(each, both.node);
    ++played;
  }
  EXPECT_EQ(played, 3);
}

TEST_F(OptimizersTest, RatesDecayAsTensorFlows) {
  std::set<std::string> played;
  for (const DecayCase& each : ReadDecays(kFile)) {
    SCOPED_TRACE(each.where + " " + each.decay);
    Begin();
    const Output step = ops::Placeholder(*b_, "step", DType::kInt64);
    Options o(each.arguments);
    const double start = o.Take("learning_rate", 0);
    const double steps = o.Take("decay_steps", 0);
    const DecayOptions plain{.learning_rate = start,
                             .decay_steps = steps,
                             .decay_rate = o.Take("decay_rate", 0),
                             .staircase = o.Take("staircase", 0) != 0};
    Output rate;
    if (each.decay == "exponential_decay") {
      rate = ExponentialDecay(*b_, step, plain);
    } else if (each.decay == "natural_exp_decay") {
      rate = NaturalExpDecay(*b_, step, plain);
    } else if (each.decay == "inverse_time_decay") {
      rate = InverseTimeDecay(*b_, step, plain);
    } else if (each.decay == "polynomial_decay") {
      rate = PolynomialDecay(*b_, step,
                             {.learning_rate = start,
                              .decay_steps = steps,
                              .end_learning_rate = o.Take("end_learning_rate", 0.0001),
                              .power = o.Take("power", 1),
                              .cycle = o.Take("cycle", 0) != 0});
    } else if (each.decay == "cosine_decay") {
      rate = CosineDecay(*b_, step, {.learning_rate = start, .decay_steps = steps, .alpha = o.Take("alpha", 0)});
    } else if (each.decay == "piecewise_constant") {
      rate = PiecewiseConstant(*b_, step, each.boundaries, each.values);
    }
    ASSERT_EQ(fakes::Text(b_->status()), "OK");
    ASSERT_EQ(o.left(), 0U);
    session_ = NewDirectSession(fake_.env(), *graph_);
    for (std::size_t i = 0; i < each.steps.size(); ++i) {
      const std::vector<Tensor> value =
          Run({.feeds = {step}, .fetches = {rate}}, {Tensor::Scalar<std::int64_t>(each.steps[i])});
      EXPECT_NEAR(value[0].scalar<float>(), each.rates[i], 1e-6F) << "at step " << each.steps[i];
    }
    played.insert(each.decay);
  }
  EXPECT_EQ(played.size(), 6U);
}

}  // namespace
}  // namespace vigil::replays

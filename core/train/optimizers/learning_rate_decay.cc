#include "vigil/core/train/optimizers/learning_rate_decay.h"

#include <algorithm>
#include <numbers>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/scope.h"

namespace vigil {
namespace {

// Nodes below a scope of their own.
class DecayGraph {
 public:
  DecayGraph(Builder& b, const std::string& name) : b_(b), scope_(UniqueScope(b.graph(), name)) {}

  Output Op(std::string op, std::vector<Output> inputs, Attrs attrs = {}) const {
    std::string name = scope_ + "/" + op;
    return b_.Op(std::move(op), std::move(inputs), {.name = std::move(name), .attrs = std::move(attrs)});
  }
  Output Const(float value) const { return b_.Const(scope_ + "/Const", Tensor::Scalar<float>(value)); }
  Output Number(const HyperParameter& number, const char* name) const { return number.In(b_, scope_ + "/" + name); }
  // A resource variable is read.
  Output ValueOf(Output step) const {
    if (!ops::IsResourceVariable(b_.graph(), step)) return step;
    return Op("ReadVariableOp", {step}, {{"dtype", ops::VariableType(b_.graph(), step)}});
  }
  Output Float(Output step) const { return Op("Cast", {ValueOf(step)}, {{"DstT", DType::kFloat}}); }
  // How many periods have passed.
  Output Periods(Output step, const DecayOptions& options) const {
    const Output periods = Op("RealDiv", {Float(step), Number(options.decay_steps, "decay_steps")});
    return options.staircase ? Op("Floor", {periods}) : periods;
  }

 private:
  Builder& b_;
  const std::string scope_;
};

DecayGraph GraphOf(Builder& b, const DecayOptions& options, const char* name) {
  return {b, options.name.empty() ? name : options.name};
}

}  // namespace

Output ExponentialDecay(Builder& b, Output global_step, const DecayOptions& options) {
  const DecayGraph g = GraphOf(b, options, "ExponentialDecay");
  const Output factor = g.Op("Pow", {g.Number(options.decay_rate, "decay_rate"), g.Periods(global_step, options)});
  return g.Op("Mul", {g.Number(options.learning_rate, "learning_rate"), factor});
}

Output NaturalExpDecay(Builder& b, Output global_step, const DecayOptions& options) {
  const DecayGraph g = GraphOf(b, options, "NaturalExpDecay");
  const Output rate = g.Op("Exp", {g.Op("Neg", {g.Number(options.decay_rate, "decay_rate")})});
  const Output factor = g.Op("Pow", {rate, g.Periods(global_step, options)});
  return g.Op("Mul", {g.Number(options.learning_rate, "learning_rate"), factor});
}

Output InverseTimeDecay(Builder& b, Output global_step, const DecayOptions& options) {
  const DecayGraph g = GraphOf(b, options, "InverseTimeDecay");
  const Output more = g.Op("Mul", {g.Number(options.decay_rate, "decay_rate"), g.Periods(global_step, options)});
  return g.Op("RealDiv", {g.Number(options.learning_rate, "learning_rate"), g.Op("AddV2", {g.Const(1), more})});
}

Output PolynomialDecay(Builder& b, Output global_step, const PolynomialDecayOptions& options) {
  const DecayGraph g(b, options.name);
  Output step = g.Float(global_step);
  Output steps = g.Number(options.decay_steps, "decay_steps");
  if (options.cycle) {
    // Of step 0 it is the first period, too.
    const Output whole = g.Op("Maximum", {g.Op("Ceil", {g.Op("RealDiv", {step, steps})}), g.Const(1)});
    steps = g.Op("Mul", {steps, whole});
  } else {
    step = g.Op("Minimum", {step, steps});
  }
  const Output rest = g.Op("Sub", {g.Const(1), g.Op("RealDiv", {step, steps})});
  const Output end = g.Number(options.end_learning_rate, "end_learning_rate");
  const Output range = g.Op("Sub", {g.Number(options.learning_rate, "learning_rate"), end});
  const Output above = g.Op("Mul", {range, g.Op("Pow", {rest, g.Number(options.power, "power")})});
  return g.Op("AddV2", {above, end});
}

Output CosineDecay(Builder& b, Output global_step, const CosineDecayOptions& options) {
  const DecayGraph g(b, options.name);
  const Output steps = g.Number(options.decay_steps, "decay_steps");
  const Output done = g.Op("RealDiv", {g.Op("Minimum", {g.Float(global_step), steps}), steps});
  const Output angle = g.Op("Mul", {g.Const(std::numbers::pi_v<float>), done});
  const Output wave = g.Op("Mul", {g.Const(0.5F), g.Op("AddV2", {g.Const(1), g.Op("Cos", {angle})})});
  const Output alpha = g.Number(options.alpha, "alpha");
  const Output factor = g.Op("AddV2", {g.Op("Mul", {g.Op("Sub", {g.Const(1), alpha}), wave}), alpha});
  return g.Op("Mul", {g.Number(options.learning_rate, "learning_rate"), factor});
}

Output PiecewiseConstant(Builder& b, Output global_step, const std::vector<std::int64_t>& boundaries,
                         const std::vector<float>& values, const std::string& name) {
  if (boundaries.size() + 1 != values.size()) {
    b.Fail(UsageError("The length of boundaries should be 1 less than the length of values"));
    return {};
  }
  if (!std::ranges::is_sorted(boundaries)) {
    b.Fail(UsageError("The boundaries of a piecewise constant must ascend."));
    return {};
  }
  const DecayGraph g(b, name);
  // A step of fractions keeps them: the boundaries become what it is.
  const DType type = b.graph().Has(global_step) ? ops::VariableType(b.graph(), global_step) : DType::kInvalid;
  const bool has_fractions = type == DType::kFloat || type == DType::kDouble;
  const Output value = g.ValueOf(global_step);
  const Output step = has_fractions ? value : g.Op("Cast", {value}, {{"DstT", DType::kInt64}});
  Output rate = g.Const(values[0]);
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    Output boundary = b.Const(name + "/boundary", Tensor::Scalar<std::int64_t>(boundaries[i]));
    if (has_fractions) boundary = g.Op("Cast", {boundary}, {{"DstT", type}});
    rate = g.Op("Select", {g.Op("Greater", {step, boundary}), g.Const(values[i + 1]), rate});
  }
  return rate;
}

}  // namespace vigil

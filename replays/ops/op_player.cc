#include "vigil/replays/ops/op_player.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "vigil/core/base/code.h"
#include "vigil/core/gradients/gradients.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/tensor/partial_shape.h"
#include "vigil/fakes/status_text.h"

namespace vigil::replays {
namespace {

// Whether nothing that is known speaks against that shape.
bool Allows(const PartialShape& known, const Shape& shape) {
  if (!known.has_rank()) return true;
  if (known.rank() != shape.rank()) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (known.dim(i) >= 0 && known.dim(i) != shape.dim(i)) return false;
  }
  return true;
}

class OpPlayer {
 public:
  OpPlayer(const Env& env, const OpCase& each) : env_(env), case_(each) {}

  OpResult Result() {
    OpResult result{.differs = Play()};
    result.text_differs = text_differs_;
    result.said = said_;
    return result;
  }

 private:
  std::string Play() {
    std::vector<Output> inputs = Inputs();
    const Output out = b_.Op(case_.op, inputs, {.attrs = case_.attrs});
    if (!b_.status().ok()) return CheckError(b_.status());
    std::vector<Output> fetches;
    for (int i = 0; i < static_cast<int>(graph_.node(out.node).output_types.size()); ++i) {
      fetches.push_back({out.node, i});
    }
    session_ = NewDirectSession(env_, graph_);
    std::vector<Tensor> values;
    if (case_.refs > 0) {
      RunSpec init;
      for (const ops::Variable& variable : variables_) init.targets.push_back(variable.initializer);
      if (const absl::Status status = session_->Run({.spec = init}, &values); !status.ok()) return fakes::Text(status);
    }
    absl::Status status = fetches.empty() ? RunOnly(out.node, &values) : Run(fetches, &values);
    if (!status.ok() || !case_.error_code.empty()) return CheckError(status);
    if (case_.refs > 0) {
      fetches.clear();
      for (const ops::Variable& variable : variables_) fetches.push_back(variable.read);
      const RunSpec spec{.fetches = fetches};
      status = session_->Run({.spec = spec}, &values);
      if (!status.ok()) return fakes::Text(status);
    }
    for (std::size_t i = 0; i < case_.outputs.size(); ++i) {
      const std::string differs = Differs(values.at(i), case_.outputs[i], kFloatTolerance, kDoubleTolerance);
      if (!differs.empty()) return fmt::format("output {}: {}", i, differs);
    }
    if (std::string wrong = CheckInference(); !wrong.empty()) return wrong;
    return case_.has_grads ? CheckGradients(out, inputs) : "";
  }

  // What is inferred of the same node when its inputs are known is what has come out.
  std::string CheckInference() const {
    if (case_.refs > 0) return "";
    Graph graph(BuiltinOps());
    Builder b(graph);
    std::vector<Output> inputs;
    for (const Tensor& value : case_.inputs) inputs.push_back(b.Const("c", value));
    const Output out = b.Op(case_.op, inputs, {.attrs = case_.attrs});
    if (!b.status().ok()) {
      // Of a convolution whose window is larger than the image TensorFlow, too, runs what it refuses to build where it
      // knows the shapes.
      const auto is_empty = [](const Tensor& output) { return output.num_elements() == 0; };
      return std::ranges::all_of(case_.outputs, is_empty)
                 ? ""
                 : fmt::format("runs, but is refused: {}", fakes::Text(b.status()));
    }
    for (std::size_t i = 0; i < case_.outputs.size(); ++i) {
      const PartialShape& known = graph.ShapeOf({out.node, static_cast<std::int32_t>(i)});
      if (!Allows(known, case_.outputs[i].shape())) {
        return fmt::format("output {} is inferred to be {}", i, known.ToString());
      }
    }
    return "";
  }

  std::vector<Output> Inputs() {
    std::vector<Output> inputs;
    for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
      const Tensor& value = case_.inputs[i];
      if (static_cast<int>(i) < case_.refs) {
        const auto make = case_.op.starts_with("Resource") ? ops::MakeResourceVariable : ops::MakeVariable;
        // Of unknown shape, as it was recorded: what does not fit is an error of the run.
        const Output initial = ops::PlaceholderWithDefault(b_, "initial", b_.Const("value", value));
        variables_.push_back(make(b_, fmt::format("v{}", i), initial, kGlobalVariables));
        inputs.push_back(variables_.back().ref);
      } else {
        inputs.push_back(ops::Placeholder(b_, "x", value.dtype()));
        feeds_.push_back(inputs.back());
        feed_values_.push_back(value);
      }
    }
    return inputs;
  }

  absl::Status Run(const std::vector<Output>& fetches, std::vector<Tensor>* values) {
    const RunSpec spec{.feeds = feeds_, .fetches = fetches};
    return session_->Run({.spec = spec, .feed_values = feed_values_}, values);
  }

  absl::Status RunOnly(NodeId target, std::vector<Tensor>* values) {
    const RunSpec spec{.feeds = feeds_, .targets = {target}};
    return session_->Run({.spec = spec, .feed_values = feed_values_}, values);
  }

  std::string CheckError(const absl::Status& status) {
    if (case_.error_code.empty()) return fmt::format("fails: {}", fakes::Text(status));
    if (status.ok()) return fmt::format("succeeds, but TensorFlow says {}: {}", case_.error_code, case_.error);
    if (CodeName(CodeOf(status)) != case_.error_code) {
      return fmt::format("{}, but TensorFlow says {}: {}", fakes::Text(status), case_.error_code, case_.error);
    }
    said_ = std::string(MessageOf(status));
    text_differs_ = said_.substr(0, said_.find("\n")) != case_.error.substr(0, case_.error.find("\n"));
    return "";
  }

  std::string CheckGradients(Output out, const std::vector<Output>& inputs) {
    std::vector<Output> xs;
    for (const Output input : inputs) {
      const DType type = graph_.TypeOf(input);
      if (type == DType::kFloat || type == DType::kDouble) xs.push_back(input);
    }
    const absl::StatusOr<std::vector<Output>> gradients = Gradients(b_, out, xs);
    if (!gradients.ok()) return fmt::format("gradients: {}", fakes::Text(gradients.status()));
    session_ = NewDirectSession(env_, graph_);
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const Output gradient = (*gradients)[i];
      const bool exists = gradient.node != kNoNode;
      if (exists != case_.grads[i].has_value()) return fmt::format("gradient {} exists: {}", i, exists);
      if (!exists) continue;
      std::vector<Tensor> values;
      const absl::Status status = Run({gradient}, &values);
      if (!status.ok()) return fmt::format("gradient {}: {}", i, fakes::Text(status));
      const std::string differs = Differs(values[0], *case_.grads[i], kFloatTolerance, kDoubleTolerance);
      if (!differs.empty()) return fmt::format("gradient {}: {}", i, differs);
    }
    return "";
  }

  const Env env_;
  const OpCase& case_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  std::vector<ops::Variable> variables_;
  std::vector<Output> feeds_;
  std::vector<Tensor> feed_values_;
  std::unique_ptr<Session> session_;
  std::string said_;
  bool text_differs_ = false;
};

}  // namespace

OpResult PlayOp(const Env& env, const OpCase& each) { return OpPlayer(env, each).Result(); }

}  // namespace vigil::replays

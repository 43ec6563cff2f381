// What TensorFlow gave for ops, their gradients and inputs that do not fit, against what the ops here give.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "vigil/core/base/code.h"
#include "vigil/core/gradients/gradients.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"
#include "vigil/replays/ops/cases.h"

namespace vigil::replays {
namespace {

// Of the value, or of 1 where that is less. Sums and transcendental functions are computed in another order than in
// TensorFlow's vectors.
constexpr double kFloat = 2e-5;
constexpr double kDouble = 1e-10;

class Player {
 public:
  Player(const Env& env, const OpCase& each) : env_(env), case_(each) {}

  // "" if all is as recorded.
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
    absl::Status status = Run(fetches, &values);
    if (!status.ok() || !case_.error_code.empty()) return CheckError(status);
    if (case_.refs > 0) {
      fetches.clear();
      for (const ops::Variable& variable : variables_) fetches.push_back(variable.ref);
      const RunSpec spec{.fetches = fetches};
      status = session_->Run({.spec = spec}, &values);
      if (!status.ok()) return fakes::Text(status);
    }
    for (std::size_t i = 0; i < case_.outputs.size(); ++i) {
      const std::string differs = Differs(values.at(i), case_.outputs[i], kFloat, kDouble);
      if (!differs.empty()) return fmt::format("output {}: {}", i, differs);
    }
    return case_.has_grads ? CheckGradients(out, inputs) : "";
  }

  bool text_differs() const { return text_differs_; }
  const std::string& said() const { return said_; }

 private:
  std::vector<Output> Inputs() {
    std::vector<Output> inputs;
    for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
      const Tensor& value = case_.inputs[i];
      if (static_cast<int>(i) < case_.refs) {
        variables_.push_back(ops::MakeVariable(b_, fmt::format("v{}", i), b_.Const("initial", value)));
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
      const std::string differs = Differs(values[0], *case_.grads[i], kFloat, kDouble);
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

std::vector<OpCase> AllCases() {
  std::vector<OpCase> all;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(VIGIL_SOURCE_DIR "/replays/ops")) {
    if (entry.path().filename().string().starts_with("ops") && entry.path().extension() == ".jsonl") {
      files.insert(entry.path());
    }
  }
  for (const auto& file : files) std::ranges::move(ReadOpCases(file), std::back_inserter(all));
  return all;
}

TEST(OpCases, AreAsTensorFlowsWere) {
  std::map<std::string, std::string> texts;  // of an error in other words: theirs, ours
  int played = 0, failed = 0, gradients = 0, errors = 0, other_words = 0;
  const std::vector<OpCase> all = AllCases();
  for (const OpCase& each : all) {
    fakes::FakeEnv fake;
    Player player(fake.env(), each);
    const std::string differs = player.Play();
    ++played;
    gradients += each.has_grads ? 1 : 0;
    errors += each.error_code.empty() ? 0 : 1;
    other_words += player.text_differs() ? 1 : 0;
    if (player.text_differs()) texts.emplace(each.op + ": " + each.error, player.said());
    if (differs.empty()) continue;
    ++failed;
    ADD_FAILURE() << each.where << " " << each.op << ": " << differs;
  }
  RecordProperty("played", played);
  RecordProperty("differ", failed);
  RecordProperty("with_gradients", gradients);
  RecordProperty("errors", errors);
  RecordProperty("in_other_words", other_words);
  EXPECT_GT(played, 300);
  for (const auto& [theirs, ours] : texts) ADD_FAILURE() << "theirs: " << theirs << "\nours:   " << ours;
}

}  // namespace
}  // namespace vigil::replays

// Runs ops without a session, for the tests of this folder: inputs first, one node after the other, nothing kept but
// resources.
#ifndef VIGIL_CORE_OPS_TESTING_H_
#define VIGIL_CORE_OPS_TESTING_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/ops/ops.h"

namespace vigil {

// "int64 [2] 1 2"; "USAGE: message" for an error.
std::string Show(const absl::StatusOr<Tensor>& value);
std::string Show(const absl::Status& status);

class OpRunner {
 protected:
  explicit OpRunner(const Env& env) : graph_(BuiltinOps()), resources_(env), b_(graph_), env_(env) {}

  // Runs the node and what it needs. The value of the output, or the first error (also of building).
  absl::StatusOr<Tensor> Get(Output output);
  // Runs a node for its effect.
  absl::Status Run(NodeId node, Time deadline = kNever);
  // ... and gives all of its values.
  absl::Status RunAll(NodeId node, Time deadline, std::vector<Tensor>* values);
  std::string Show(Output output) { return vigil::Show(Get(output)); }

  // Values of which nothing is known before a run, unless values_are_known_: what does not fit reaches the kernel.
  template <typename T>
  Output Vec(std::vector<T> values) {
    return Value(Tensor::Vector<T>(values));
  }
  template <typename T>
  Output Scalar(T value) {
    return Value(Tensor::Scalar<T>(value));
  }
  template <typename T>
  Output Matrix(std::int64_t rows, std::vector<T> values) {
    const auto columns = static_cast<std::int64_t>(values.size()) / rows;
    return Value(Tensor::Vector<T>(values).Reshaped(Shape({rows, columns})));
  }
  Output Value(Tensor value) {
    if (values_are_known_) return b_.Const("c", std::move(value));
    return ops::PlaceholderWithDefault(b_, "c", b_.Const("value", std::move(value)));
  }

  bool values_are_known_ = false;
  Graph graph_;
  ResourceManager resources_;
  Cancellation cancellation_;
  Builder b_;

 private:
  absl::StatusOr<std::vector<Tensor>> Outputs(NodeId id, Time deadline);
  absl::StatusOr<Tensor> ValueOf(Output output, Time deadline);

  const Env env_;
};

// A fixture over a fake env (a parameter, since only *_test.cc may know the fakes).
template <typename Fake>
class EnvFixture : public testing::Test {
 protected:
  Fake fake_;
};
template <typename Fake>
class OpsTest : public EnvFixture<Fake>, protected OpRunner {
 protected:
  OpsTest() : OpRunner(EnvFixture<Fake>::fake_.env()) {}
  using OpRunner::Run;  // not testing::Test's
};

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_TESTING_H_

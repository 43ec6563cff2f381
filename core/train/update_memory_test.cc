// What an update of a variable costs: no memory, if nobody else holds the value. This program replaces operator new.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/allocations/allocations.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

constexpr std::int64_t kSize = 100'000;

// w -= 0.5 * w, as training does it: the value is read, something is computed of it, then it is updated.
class UpdateMemoryTest : public testing::Test {
 protected:
  UpdateMemoryTest() : graph_(BuiltinOps()) {
    Builder b(graph_);
    const Output dims = b.Const("dims", Tensor::Vector<std::int64_t>({kSize}));
    const Output one = b.Op("Fill", {dims, b.Const("one", Tensor::Scalar<float>(1))});
    w_ = ops::MakeVariable(b, "w", one);
    const Output half = b.Const("half", Tensor::Scalar<float>(0.5F));
    gradient_ = ops::Placeholder(b, "gradient", DType::kFloat);
    sum_ = b.Op("Sum", {w_.read, b.Const("axis", Tensor::Scalar<std::int32_t>(0))});
    step_ = b.Op("ApplyGradientDescent", {w_.ref, half, gradient_}, {.name = "step", .control_inputs = {sum_.node}});
    add_ = ops::AssignAdd(b, "add", w_.ref, gradient_);
    set_ = ops::Assign(b, "set", w_.ref, gradient_);
    EXPECT_TRUE(b.status().ok()) << b.status();
    session_ = NewDirectSession(fake_.env(), graph_);
    Run({.targets = {w_.initializer}}, {});
  }

  void Run(const RunSpec& spec, std::vector<Tensor> fed) {
    const absl::Status status = session_->Run({.spec = spec, .feed_values = fed}, &fetched_);
    ASSERT_TRUE(status.ok()) << status;
  }
  Tensor Gradient(float value) {
    Tensor out(DType::kFloat, Shape({kSize}));
    for (float& element : out.mutable_flat<float>()) element = value;
    return out;
  }
  float First() {
    Run({.fetches = {w_.read}}, {});
    const float first = fetched_[0].flat<float>()[0];
    fetched_.clear();
    return first;
  }

  fakes::FakeEnv fake_;
  Graph graph_;
  ops::Variable w_;
  Output gradient_;
  Output sum_;
  Output step_;
  Output add_;
  Output set_;
  std::unique_ptr<Session> session_;
  std::vector<Tensor> fetched_;
};

TEST_F(UpdateMemoryTest, AnUpdateWorksInPlace) {
  for (const NodeId update : {step_.node, add_.node}) {
    const RunSpec spec{.feeds = {gradient_}, .fetches = {sum_}, .targets = {update}};
    Run(spec, {Gradient(0.25F)});
    const std::vector<Tensor> fed{Gradient(0.25F)};
    fakes::TakeLargestAllocation();
    const std::uint64_t before = fakes::Allocations();
    ASSERT_TRUE(session_->Run({.spec = spec, .feed_values = fed}, &fetched_).ok());
    EXPECT_LE(fakes::Allocations() - before, 8u) << "the shape of each value on its way, however large the value";
    EXPECT_LT(fakes::TakeLargestAllocation(), 1000u);
  }
  EXPECT_EQ(First(), 1 - 2 * 0.125F + 2 * 0.25F);
}

TEST_F(UpdateMemoryTest, AFetchedValueStaysWhatItWas) {
  Run({.fetches = {w_.read}}, {});
  const Tensor held = fetched_[0];
  Run({.feeds = {gradient_}, .targets = {step_.node}}, {Gradient(1)});
  EXPECT_EQ(held.flat<float>()[0], 1);
  EXPECT_EQ(First(), 0.5F);
  // What the update itself gives is such a value, too.
  Run({.feeds = {gradient_}, .fetches = {step_}}, {Gradient(1)});
  const Tensor given = fetched_[0];
  Run({.feeds = {gradient_}, .targets = {step_.node}}, {Gradient(1)});
  EXPECT_EQ(given.flat<float>()[0], 0);
  EXPECT_EQ(First(), -0.5F);
}

TEST_F(UpdateMemoryTest, WhatWasFedIsTheCallersOwn) {
  Tensor mine = Gradient(3);
  fakes::TakeLargestAllocation();
  Run({.feeds = {gradient_}, .targets = {set_.node}}, {mine});
  EXPECT_LT(fakes::TakeLargestAllocation(), 1000u) << "nothing is copied as long as nobody writes";
  mine.mutable_flat<float>()[0] = 7;
  EXPECT_EQ(First(), 3);
  Run({.feeds = {gradient_}, .targets = {set_.node}}, {mine});
  Run({.feeds = {gradient_}, .targets = {step_.node}}, {Gradient(2)});
  EXPECT_EQ(mine.flat<float>()[0], 7) << "nor does an update in place reach what was fed";
  EXPECT_EQ(First(), 6);
}

}  // namespace
}  // namespace vigil

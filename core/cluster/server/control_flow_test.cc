// Branches and resource variables, in one process and over several tasks: what is dead on one is dead on the others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/session/direct_session.h"

namespace vigil {
namespace {

enum class Where { kDirect, kCluster };

// A condition on the worker; branches, variables and what joins them on either of two parameter servers.
class ControlFlowTest : public testing::TestWithParam<Where> {
 protected:
  ControlFlowTest() : cluster_(BaseEnv(), {{"ps", 2}, {"worker", 1}}), graph_(BuiltinOps()), b_(graph_) {
    if (GetParam() == Where::kCluster) cluster_.StartAll();
    yes_ = ops::Placeholder(b_, "yes", DType::kBool);
  }
  ~ControlFlowTest() override {
    session_.reset();
    fake_.tasks.EndAll();
  }

  Env BaseEnv() {
    Env env = fake_.env();
    env.network = &network_;
    return env;
  }
  std::string Ps(int task) const { return GetParam() == Where::kDirect ? "" : fmt::format("/job:ps/task:{}", task); }
  Output Number(double value) { return b_.Const("number", Tensor::Scalar<double>(value)); }
  Output Switch(Output value, int index) {
    Output both = b_.Op("Switch", {value, yes_});
    return {both.node, index};
  }
  Output Add(Output a, Output b) { return b_.Op("AddV2", {a, b}); }
  Output Merge(Output a, Output b) { return b_.Op("Merge", {a, b}); }

  // "3 5", or the error.
  std::string Run(bool yes, std::vector<Output> fetches, std::vector<NodeId> targets = {}) {
    if (session_ == nullptr) {
      EXPECT_TRUE(b_.status().ok()) << b_.status();
      graph_.Finalize();
      session_ = GetParam() == Where::kDirect ? NewDirectSession(fake_.env(), graph_)
                                              : cluster_.NewSession("worker", 0, graph_);
    }
    const RunOutcome out = RunAll(*session_, std::move(fetches), std::move(targets), {{yes_, Tensor::Scalar(yes)}});
    if (!out.status.ok()) return Text(out.status).substr(0, 80);
    std::string text;
    for (const Tensor& value : out.values) {
      double number = 0;
      EXPECT_TRUE(value.AsNumber(&number)) << value.Describe();
      text += fmt::format("{}{}", text.empty() ? "" : " ", number);
    }
    return text;
  }

  fakes::FakeEnv fake_;
  InProcessNetwork network_{fake_.tasks};
  TestCluster cluster_;
  Graph graph_;
  Builder b_;
  Output yes_;
  std::unique_ptr<Session> session_;
};

TEST_P(ControlFlowTest, TheBranchThatIsTakenGivesTheValue) {
  const Output value = Number(3);
  const Output no = Switch(value, 0);
  const Output yes = {no.node, 1};
  Output added, twice;
  {
    DeviceScope scope(b_, Ps(0));
    added = Add(yes, yes);
  }
  {
    DeviceScope scope(b_, Ps(1));
    twice = b_.Op("Mul", {no, no});
  }
  const Output merged = Merge(twice, added);
  const Output after = Add(merged, merged);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Run(true, {merged, {merged.node, 1}, after}), "6 1 12");
    EXPECT_EQ(Run(false, {merged, {merged.node, 1}, after}), "9 0 18");
  }
}

TEST_P(ControlFlowTest, WhatIsFetchedMustLive) {
  const Output no = Switch(Number(3), 0);
  Output remote;
  {
    DeviceScope scope(b_, Ps(0));
    remote = Add(no, no);
  }
  EXPECT_EQ(Run(false, {remote}), "6");
  EXPECT_EQ(Run(true, {remote}).substr(0, 44), "INVALID_ARGUMENT: Retval[0] does not have va");
  EXPECT_EQ(Run(true, {no}).substr(0, 44), "INVALID_ARGUMENT: Retval[0] does not have va");
}

// Constants and changes that only wait for their branch's pivot.
TEST_P(ControlFlowTest, WhatWaitsForADeadNodeIsDead) {
  const Output pivot_no = ops::Identity(b_, "no", Switch(yes_, 0));
  const Output pivot_yes = ops::Identity(b_, "pivot", Switch(yes_, 1));
  ops::Variable count;
  Output one, two, merged, bump, both;
  {
    DeviceScope scope(b_, Ps(0));
    count = ops::MakeResourceVariable(b_, "count", Number(0));
    b_.control_inputs = {pivot_no.node};
    one = Number(1);
    b_.control_inputs = {pivot_yes.node};
    two = Number(2);
    bump = b_.Op("AssignAddVariableOp", {count.ref, Number(1)});
    b_.control_inputs = {bump.node};
    both = Number(7);  // after the bump, or not at all
    b_.control_inputs.clear();
  }
  {
    DeviceScope scope(b_, Ps(1));
    merged = Merge(one, two);
  }
  const Output other = Merge(both, one);
  EXPECT_EQ(Run(true, {}, {count.initializer}), "");
  EXPECT_EQ(Run(true, {merged}), "2");
  EXPECT_EQ(Run(false, {merged}), "1");
  EXPECT_EQ(Run(true, {}, {bump.node}), "");
  EXPECT_EQ(Run(false, {}, {bump.node}), "");
  EXPECT_EQ(Run(true, {count.read}), "1");
  EXPECT_EQ(Run(true, {other}), "7");
  EXPECT_EQ(Run(false, {other}), "1");
  EXPECT_EQ(Run(true, {count.read}), "2");
}

// tf.compat.v1's read of the global step: the variable if it is initialised, else its initial value.
TEST_P(ControlFlowTest, AVariableIsReadOnlyInTheBranchThatIsTaken) {
  ops::Variable step;
  Output chosen;
  {
    DeviceScope scope(b_, Ps(0));
    step = ops::MakeVariable(b_, "step", Number(5));
    const Output is_initialized = b_.Op("IsVariableInitialized", {step.ref});
    const Output branch = b_.Op("RefSwitch", {step.ref, is_initialized});
    const Output initial = b_.Op("Switch", {Number(-1), is_initialized});
    chosen = Merge(initial, ops::Identity(b_, "read", {branch.node, 1}));
  }
  EXPECT_EQ(Run(true, {chosen}), "-1");
  EXPECT_EQ(Run(true, {}, {step.initializer}), "");
  EXPECT_EQ(Run(true, {chosen, {chosen.node, 1}}), "5 1");
}

// Also where another edge between the tasks implies the one that says so.
TEST_P(ControlFlowTest, WhoWaitsForAnUpdateReadsWhatItHasLeft) {
  ops::Variable v;
  Output bump, hears, told, reads;
  {
    DeviceScope scope(b_, Ps(0));
    v = ops::MakeVariable(b_, "v", Number(4));
    bump = ops::AssignAdd(b_, "bump", v.ref, Number(1));
  }
  const Output three = Number(3);
  {
    DeviceScope scope(b_, Ps(1));
    hears = b_.Op("Neg", {three}, {.control_inputs = {bump.node}});
  }
  {
    DeviceScope scope(b_, Ps(0));
    told = b_.Op("Neg", {hears});
    reads = b_.Op("Neg", {v.read}, {.control_inputs = {hears.node}});
  }
  EXPECT_EQ(Run(true, {}, {v.initializer}), "");
  EXPECT_EQ(Run(true, {told, reads}), "3 -5");
  EXPECT_EQ(Run(true, {reads}), "-6");
}

TEST_P(ControlFlowTest, AHandleGoesThroughASwitch) {
  ops::Variable v;
  Output merged, touched;
  {
    DeviceScope scope(b_, Ps(1));
    v = ops::MakeResourceVariable(b_, "v", Number(4));
    const Output no = Switch(v.ref, 0);
    const Output read = b_.Op("ReadVariableOp", {{no.node, 1}}, {.attrs = {{"dtype", DType::kDouble}}});
    const Output other = b_.Op("ReadVariableOp", {no}, {.attrs = {{"dtype", DType::kDouble}}});
    merged = Merge(Add(other, other), read);
    touched = b_.Op("AssignSubVariableOp", {{no.node, 1}, Number(1)});
  }
  EXPECT_EQ(Run(true, {}, {v.initializer}), "");
  EXPECT_EQ(Run(true, {merged}), "4");
  EXPECT_EQ(Run(false, {merged}), "8");
  EXPECT_EQ(Run(false, {}, {touched.node}), "");
  EXPECT_EQ(Run(true, {v.read}), "4");
  EXPECT_EQ(Run(true, {}, {touched.node}), "");
  EXPECT_EQ(Run(true, {v.read}), "3");
}

TEST_P(ControlFlowTest, BranchesInBranches) {
  const Output outer = Switch(Number(1), 1);
  const Output deep = b_.Op("Switch", {outer, yes_});
  Output left, right;
  {
    DeviceScope scope(b_, Ps(0));
    left = Add({deep.node, 0}, {deep.node, 0});
    right = Add({deep.node, 1}, Number(10));
  }
  const Output inner = Merge(left, right);
  const Output merged = Merge(Switch(Number(-5), 0), inner);
  EXPECT_EQ(Run(true, {merged, {merged.node, 1}}), "11 1");
  EXPECT_EQ(Run(false, {merged, {merged.node, 1}}), "-5 0") << "the inner Merge is dead, too";
}

TEST_P(ControlFlowTest, AnUninitializedResourceVariableSaysWhich) {
  ops::Variable v;
  {
    DeviceScope scope(b_, Ps(0));
    v = ops::MakeResourceVariable(b_, "v", Number(4));
  }
  const Output report = ops::ReportUninitializedVariables(b_, "report", {v.ref});
  const Output size = b_.Op("Shape", {report});
  EXPECT_EQ(Run(true, {v.read}).substr(0, 50), "FAILED_PRECONDITION: Could not find variable v. Th");
  EXPECT_EQ(Run(true, {size}), "1");
  EXPECT_EQ(Run(true, {}, {v.initializer}), "");
  EXPECT_EQ(Run(true, {v.read, size}), "4 0");
}

INSTANTIATE_TEST_SUITE_P(Both, ControlFlowTest, testing::Values(Where::kDirect, Where::kCluster), [](const auto& each) {
  return std::string(each.param == Where::kDirect ? "Direct" : "Cluster");
});

}  // namespace
}  // namespace vigil

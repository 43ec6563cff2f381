// Sessions on a cluster, as their user sees them.
#include "vigil/core/cluster/cluster_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/testing.h"

namespace vigil {
namespace {

using testing::HasSubstr;

Tensor Number(double value) { return Tensor::Scalar<double>(value); }

// Two variables on two parameter servers, and a step of the worker that changes both by what it computes from both.
class ClusterSessionTest : public testing::Test {
 protected:
  ClusterSessionTest() : cluster_(fake_.env(), {{"ps", 2}, {"worker", 2}}), graph_(BuiltinOps()), b_(graph_) {
    x_ = ops::Placeholder(b_, "x", DType::kDouble);
    {
      DeviceScope scope(b_, "/job:ps/task:0");
      v_ = ops::MakeVariable(b_, "v", b_.Const("v/initial", Number(1)));
    }
    {
      DeviceScope scope(b_, "/job:ps/task:1");
      w_ = ops::MakeVariable(b_, "w", b_.Const("w/initial", Number(10)));
    }
    init_ = b_.Group("init", {v_.initializer, w_.initializer});
    sum_ = b_.Op("AddV2", {v_.read, w_.read}, {.name = "sum"});
    product_ = b_.Op("Mul", {sum_, x_}, {.name = "product"});
    v_add_ = ops::AssignAdd(b_, "v/add", v_.ref, product_);
    w_add_ = ops::AssignAdd(b_, "w/add", w_.ref, sum_);
    train_ = b_.Group("train", {v_add_.node, w_add_.node});
    EXPECT_TRUE(b_.status().ok()) << b_.status();
  }

  double Fetch(Session& session, Output fetch) {
    RunOutcome out = RunAll(session, {fetch});
    EXPECT_TRUE(out.status.ok()) << out.status;
    return out.status.ok() ? out.values[0].scalar<double>() : -1;
  }

  fakes::FakeEnv fake_;
  TestCluster cluster_;
  Graph graph_;
  Builder b_;
  Output x_, sum_, product_, v_add_, w_add_;
  ops::Variable v_, w_;
  Output init_, train_;
};

TEST_F(ClusterSessionTest, TrainsVariablesOfTwoServers) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Text(RunAll(*session, {}, {init_.node}).status), "OK");
  EXPECT_EQ(Text(RunAll(*session, {}, {train_.node}, {{x_, Number(2)}}).status), "OK");
  EXPECT_EQ(Fetch(*session, v_.ref), 1 + 22);
  EXPECT_EQ(Fetch(*session, w_.read), 10 + 11);
  // Another task sees the same variables.
  const auto other = cluster_.NewSession("worker", 1, graph_);
  EXPECT_EQ(Fetch(*other, sum_), 23 + 21);
}

}  // namespace
}  // namespace vigil

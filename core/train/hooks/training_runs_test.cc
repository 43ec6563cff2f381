#include "vigil/core/train/hooks/training_runs.h"

#include <gtest/gtest.h>

#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"

namespace vigil {
namespace {

class TrainingRunsTest : public testing::Test {
 protected:
  TrainingRunsTest() {
    one_ = b_.Const("one", Tensor::Scalar<std::int64_t>(1));
    weights_ = ops::MakeVariable(b_, "weights", one_).ref;
    metric_ = ops::MakeVariable(b_, "metric", one_, kLocalVariables).ref;
  }
  bool Trains(const Fetches& fetches) {
    EXPECT_TRUE(b_.status().ok()) << b_.status();
    return runs_.Contain(graph_, fetches);
  }

  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  Output one_, weights_, metric_;
  TrainingRuns runs_;
};

TEST_F(TrainingRunsTest, ChangeAGlobalVariable) {
  const Output update = ops::AssignAdd(b_, "update", weights_, one_);
  EXPECT_TRUE(Trains(update));
  EXPECT_TRUE(Trains(Fetches::Op(update.node)));
  EXPECT_TRUE(Trains(Fetches::List({one_, ops::Identity(b_, "after", update)})));
  b_.control_inputs = {update.node};
  EXPECT_TRUE(Trains(ops::Identity(b_, "later", one_)));
  b_.control_inputs.clear();
  EXPECT_TRUE(Trains(ops::AssignAdd(b_, "again", update, one_))) << "through the reference that the first one gives";
}

TEST_F(TrainingRunsTest, ChangeAVariableWithAHandle) {
  const ops::Variable global = ops::MakeResourceVariable(b_, "w", one_);
  const ops::Variable local = ops::MakeResourceVariable(b_, "m", one_, kLocalVariables);
  const auto assign_add = [&](const std::string& name, Output handle) {
    return b_.Op("AssignAddVariableOp", {handle, one_}, {.name = name});
  };
  EXPECT_FALSE(Trains(global.read));
  EXPECT_TRUE(Trains(Fetches::Op(assign_add("update", global.ref).node)));
  EXPECT_TRUE(Trains(Fetches::Op(assign_add("again", ops::Identity(b_, "handle", global.ref)).node)));
  EXPECT_FALSE(Trains(Fetches::Op(assign_add("count", local.ref).node)));
  EXPECT_FALSE(Trains(Fetches::Op(b_.Op("DisableCopyOnRead", {global.ref}).node)));
}

TEST_F(TrainingRunsTest, DoNotOnlyReadOrCount) {
  EXPECT_FALSE(Trains(Fetches()));
  EXPECT_FALSE(Trains(weights_));
  EXPECT_FALSE(Trains(Fetches::Named("nothing:0")));
  EXPECT_FALSE(Trains(ops::AssignAdd(b_, "count", metric_, one_)));
}

TEST_F(TrainingRunsTest, AreToldApartHoweverManyKindsThereAre) {
  const Output update = ops::AssignAdd(b_, "update", weights_, one_);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_FALSE(Trains(Fetches::List(std::vector<Fetches>(static_cast<std::size_t>(i), Fetches(one_)))));
      EXPECT_TRUE(Trains(update));
    }
  }
}

}  // namespace
}  // namespace vigil

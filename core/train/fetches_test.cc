#include "vigil/core/train/fetches.h"

#include <gtest/gtest.h>

#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"

namespace vigil {
namespace {

class FetchesTest : public testing::Test {
 protected:
  FetchesTest() : graph_(BuiltinOps()) {
    Builder b(graph_);
    one_ = b.Const("one", Tensor::Scalar<std::int64_t>(1));
    two_ = b.Const("two", Tensor::Scalar<std::int64_t>(2));
    nothing_ = b.Group("nothing", {});
    EXPECT_TRUE(b.status().ok());
  }
  Graph graph_;
  Output one_;
  Output two_;
  Output nothing_;
};

TEST_F(FetchesTest, NestedFetchesComeBackInTheirShape) {
  const Fetches fetches =
      Fetches::Map({{"step", one_},
                    {"ops", Fetches::List({Fetches::Op(nothing_.node), two_, Fetches::Named("one:0")})},
                    {"none", {}}});
  RunSpec spec;
  fetches.AppendTo(graph_, &spec);
  EXPECT_EQ(spec.fetches, (std::vector<Output>{one_, two_, one_}));
  EXPECT_EQ(spec.targets, (std::vector<NodeId>{nothing_.node}));
  EXPECT_TRUE(spec.unresolved.empty());

  const std::vector<Tensor> values = {Tensor::Scalar<std::int64_t>(10), Tensor::Scalar<std::int64_t>(20),
                                      Tensor::Scalar<std::int64_t>(30)};
  const FetchedValues got(fetches, values.data());
  EXPECT_EQ(got.size(), 3u);
  EXPECT_EQ(got["step"].scalar<std::int64_t>(), 10);
  EXPECT_EQ(got["ops"].size(), 3u);
  EXPECT_FALSE(got["ops"][0].is_tensor()) << "an op has no value";
  EXPECT_EQ(got["ops"][1].scalar<std::int64_t>(), 20);
  EXPECT_EQ(got["ops"][2].scalar<std::int64_t>(), 30);
  EXPECT_TRUE(got["none"].none());
}

TEST_F(FetchesTest, ANameThatTheGraphDoesNotHaveIsUnresolved) {
  RunSpec spec;
  Fetches::List({one_, Fetches::Named("missing:0")}).AppendTo(graph_, &spec);
  EXPECT_EQ(spec.unresolved, (std::vector<std::string>{"missing:0"}));
}

TEST_F(FetchesTest, NothingAsksForNothing) {
  RunSpec spec;
  Fetches().AppendTo(graph_, &spec);
  EXPECT_EQ(spec, RunSpec());
  EXPECT_TRUE(FetchedValues(Fetches(), nullptr).none());
}

TEST_F(FetchesTest, AskingForAValueThatIsNoneStopsTheProgram) {
  const Fetches op = Fetches::Op(nothing_.node);
  EXPECT_DEATH(FetchedValues(op, nullptr).tensor(), "there is no tensor\\(\\) of an op, which has no value");
  EXPECT_DEATH(FetchedValues()["step"], "there is no 'step' of no fetches");
}

TEST_F(FetchesTest, WhatIsNotThereIsNamed) {
  const Fetches fetches = Fetches::Map({{"step", one_}, {"ops", Fetches::List({Fetches::Op(nothing_.node)})}});
  const Tensor value = Tensor::Scalar<std::int64_t>(10);
  const FetchedValues got(fetches, &value);
  EXPECT_DEATH(got["stpe"], "there is no 'stpe' of a map with the keys 'step', 'ops'");
  EXPECT_DEATH(static_cast<void>(got.key(2)), "there is no key 2 of a map with the keys 'step', 'ops'");
  EXPECT_DEATH(got["ops"][3], "there is no item 3 of a list of 1");
  EXPECT_DEATH(static_cast<void>(got["ops"].tensor()), "there is no tensor\\(\\) of a list of 1");
  EXPECT_DEATH(static_cast<void>(got["ops"][0].tensor()), "there is no tensor\\(\\) of an op, which has no value");
  EXPECT_DEATH(static_cast<void>(got["step"].scalar<float>()), "flat<float>\\(\\) of a tensor that is int64 \\[\\]");
}

TEST_F(FetchesTest, ValuesOutliveTheirResult) {
  const auto run = [this] {
    RunResult result;
    result.Set(one_);
    result.tensors() = {Tensor::Vector<std::int64_t>({1, 2})};
    return result;
  };
  const Tensor& kept = run().values().tensor();
  EXPECT_EQ(kept.flat<std::int64_t>()[1], 2);
  const FetchedValues values = run().values();
  EXPECT_EQ(values.tensor().flat<std::int64_t>()[0], 1);

  RunResult reused = run();
  const FetchedValues before = reused.values();
  reused.Set(two_);
  reused.tensors() = {Tensor::Scalar<std::int64_t>(5)};
  EXPECT_EQ(before.tensor().num_elements(), 2) << "what somebody still looks at stays";
  EXPECT_EQ(reused.values().scalar<std::int64_t>(), 5);
}

}  // namespace
}  // namespace vigil

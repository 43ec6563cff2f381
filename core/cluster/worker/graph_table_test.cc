#include "vigil/core/cluster/worker/graph_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/wire.h"
#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/ops/ops.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::HasSubstr;

const std::string kWorker = "/job:worker/replica:0/task:0";
const std::string kChief = "/job:chief/replica:0/task:0";

class GraphTableTest : public testing::Test {
 protected:
  GraphTableTest() : ids_(fake_.env(), "test"), resources_(fake_.env()) {
    const absl::StatusOr<ClusterSpec> spec = ClusterSpec::Create({{"ps", std::vector<std::string>{"ps0:2222"}}});
    EXPECT_TRUE(spec.ok());
    tasks_ = *TaskAddresses::Create(*spec, "ps", 0);
    graph_ = *RegisteredGraph::Create(fake_.env(), BuiltinOps(), {}, tasks_, resources_, ids_, Duration::zero());
  }
  absl::StatusOr<std::uint64_t> Add(std::int64_t id, const std::string& task, std::uint64_t incarnation,
                                    std::uint64_t start = 0) {
    return table_.Add(id, graph_, {task, incarnation, start});
  }
  bool Has(std::int64_t id) { return table_.Find(GraphHandle(id)).ok(); }

  fakes::FakeEnv fake_;
  RequestIds ids_;
  ResourceManager resources_;
  TaskAddresses tasks_;
  std::shared_ptr<RegisteredGraph> graph_;
  GraphTable table_;
};

TEST_F(GraphTableTest, AGraphIsThereUntilItIsTakenOut) {
  EXPECT_EQ(*Add(1, kWorker, 7), 0u);
  const absl::StatusOr<GraphTable::Entry> found = table_.Find(GraphHandle(1));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->graph, graph_);
  EXPECT_EQ(found->incarnation, 7u);
  EXPECT_EQ(table_.TakeOut(GraphHandle(1)), graph_);
  EXPECT_EQ(table_.TakeOut(GraphHandle(1)), nullptr);
  EXPECT_EQ(CodeOf(table_.Find(GraphHandle(1)).status()), Code::kAborted);
  EXPECT_EQ(CodeOf(Add(1, kWorker, 7).status()), Code::kCancelled);
}

TEST_F(GraphTableTest, WhatAnEarlierProcessOfATaskHasRegisteredGoesWithTheNextOne) {
  EXPECT_EQ(*Add(1, kWorker, 7), 0u);
  EXPECT_EQ(*Add(2, kWorker, 7), 0u);
  EXPECT_EQ(*Add(3, kChief, 9), 0u);
  EXPECT_EQ(*Add(4, kWorker, 8), 7u);
  EXPECT_FALSE(Has(1) || Has(2));
  EXPECT_TRUE(Has(3) && Has(4));
  EXPECT_EQ(*Add(5, kWorker, 8), 0u);
  EXPECT_EQ(table_.size(), 3u);
}

TEST_F(GraphTableTest, AProcessThatAnotherHasFollowedIsRefused) {
  EXPECT_EQ(*Add(1, kWorker, 7), 0u);
  EXPECT_EQ(*Add(2, kWorker, 8), 7u);
  const absl::Status late = Add(3, kWorker, 7).status();
  EXPECT_EQ(CodeOf(late), Code::kAborted);
  EXPECT_THAT(std::string(late.message()), HasSubstr(kWorker));
  EXPECT_FALSE(Has(3));
  EXPECT_TRUE(Has(2));
  EXPECT_TRUE(table_.HasFollowed(7));
  EXPECT_FALSE(table_.HasFollowed(8) || table_.HasFollowed(0));
}

// The server knows the earlier process neither from before a restart of its own, nor from a time before its successor.
TEST_F(GraphTableTest, WhoComesLaterButWasStartedEarlierIsRefused) {
  EXPECT_EQ(*Add(1, kWorker, 8, 2), 0u);
  EXPECT_EQ(CodeOf(Add(2, kWorker, 7, 1).status()), Code::kAborted);
  EXPECT_EQ(*Add(3, kWorker, 8, 2), 0u);
  EXPECT_EQ(*Add(4, kChief, 9, 1), 0u);
  EXPECT_TRUE(Has(1) && !Has(2) && Has(3) && Has(4));
  EXPECT_EQ(*Add(5, kWorker, 10, 3), 8u);
  EXPECT_FALSE(Has(1) || Has(3));
}

// One that only says that it is there, since it has no work here.
TEST_F(GraphTableTest, WhatAnEarlierProcessHasGoesWithTheWordOfTheNextOne) {
  EXPECT_EQ(*Add(1, kWorker, 7, 1), 0u);
  EXPECT_EQ(*Add(2, kChief, 17, 1), 0u);
  EXPECT_EQ(table_.Note({kWorker, 8, 2}), 7u);
  EXPECT_FALSE(Has(1));
  EXPECT_TRUE(Has(2));
  EXPECT_EQ(table_.Note({kWorker, 8, 2}), 0u);
  EXPECT_EQ(table_.Note({kWorker, 7, 1}), 0u) << "the earlier one, which lives on";
  EXPECT_EQ(table_.Note({"", 0, 0}), 0u);
  EXPECT_EQ(CodeOf(Add(3, kWorker, 7, 1).status()), Code::kAborted);
  EXPECT_EQ(*Add(4, kWorker, 8, 2), 0u);
}

TEST_F(GraphTableTest, WithoutNumbersOfStartsWhoComesLaterFollows) {
  EXPECT_EQ(*Add(1, kWorker, 7, 5), 0u);
  EXPECT_EQ(*Add(2, kWorker, 8), 7u);
  EXPECT_EQ(*Add(3, kWorker, 9, 1), 8u);
  EXPECT_EQ(CodeOf(Add(4, kWorker, 7, 5).status()), Code::kAborted);
}

TEST_F(GraphTableTest, WhoDoesNotSayWhichProcessItIsFollowsNobody) {
  EXPECT_EQ(*Add(1, "", 0), 0u);
  EXPECT_EQ(*Add(2, "", 0), 0u);
  EXPECT_EQ(*Add(3, kWorker, 7), 0u);
  EXPECT_EQ(*Add(4, kWorker, 0), 0u);
  EXPECT_EQ(table_.size(), 4u);
}

// As TensorFlow's masters have it.
TEST_F(GraphTableTest, GraphsOfASessionAreOfWhoHasOpenedIt) {
  EXPECT_EQ(*table_.OpenSession({.task = kWorker, .incarnation = 7, .session = "a"}), 0u);
  EXPECT_EQ(*table_.OpenSession({.task = kWorker, .incarnation = 7, .session = "b"}), 0u);
  EXPECT_EQ(*table_.Add(1, graph_, {.session = "a"}), 0u);
  EXPECT_EQ(*table_.Add(2, graph_, {.session = "b"}), 0u);
  EXPECT_EQ(table_.Find(GraphHandle(1))->incarnation, 7u);
  EXPECT_TRUE(table_.CloseSession("a"));
  EXPECT_FALSE(table_.CloseSession("a"));
  EXPECT_FALSE(Has(1) || table_.HasSession("a"));
  EXPECT_TRUE(Has(2) && table_.HasSession("b"));
  EXPECT_EQ(*table_.OpenSession({.task = kWorker, .incarnation = 8, .session = "c"}), 7u);
  EXPECT_FALSE(Has(2) || table_.HasSession("b"));
  EXPECT_TRUE(table_.HasSession("c"));
  EXPECT_EQ(CodeOf(table_.OpenSession({.task = kWorker, .incarnation = 7, .session = "d"}).status()), Code::kAborted);
  EXPECT_FALSE(table_.HasSession("d"));
}

}  // namespace
}  // namespace vigil

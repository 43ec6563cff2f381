// Ports ScaffoldTest of monitored_session_test.py (copy_from_scaffold of another type cannot be written in C++).
#include "vigil/core/train/scaffold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/classify.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ScaffoldTest : public testing::Test {
 protected:
  Env env() { return fake_.env(); }
  Output Variable(const std::string& name, CollectionKey<Output> collection = kGlobalVariables) {
    const Output one = b_.Const(name + "_one", Tensor::Scalar<std::int64_t>(1));
    return ops::MakeVariable(b_, name, one, collection).ref;
  }
  std::vector<std::string> Missing(Session& session, const std::optional<Output>& op) {
    const absl::StatusOr<Tensor> names = RunFetch(session, *op);
    EXPECT_TRUE(names.ok()) << names.status();
    if (!names.ok()) return {"error"};
    return {names->flat<std::string>().begin(), names->flat<std::string>().end()};
  }
  // A node of its own for each piece; the graph is not finalized yet.
  ScaffoldOptions AllPieces() {
    ScaffoldOptions all;
    all.init_op = b_.Group("my_init", {}).node;
    all.init_feed_dict = Feeds{{b_.Const("my_feed", Tensor::Scalar<std::int64_t>(0)), Tensor::Scalar<std::int64_t>(2)}};
    all.init_fn = [this](Scaffold& scaffold, Session&) {
      init_fn_of_.push_back(&scaffold);
      return absl::OkStatus();
    };
    all.ready_op = Empty("my_ready");
    all.ready_for_local_init_op = Empty("my_ready_for_local_init");
    all.local_init_op = b_.Group("my_local_init", {}).node;
    all.summary_op = Empty("my_summary");
    all.saver = std::make_shared<Saver>(env(), SaverOptions{.allow_empty = true});
    return all;
  }
  Output Empty(const std::string& name) { return b_.Const(name, Tensor(DType::kString, Shape({0}))); }
  void CallInitFn(Scaffold& scaffold) {
    const std::unique_ptr<Session> session = NewDirectSession(env(), graph_);
    EXPECT_TRUE(scaffold.CallInitFn(*session).ok());
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  std::vector<Scaffold*> init_fn_of_;
};

TEST_F(ScaffoldTest, NothingIsMadeBeforeFinalize) {
  Variable("v");
  const int nodes = graph_.size();
  Scaffold scaffold(env(), graph_);
  EXPECT_EQ(graph_.size(), nodes);
  EXPECT_FALSE(scaffold.init_op().has_value());
  EXPECT_THAT(scaffold.init_feed_dict(), IsEmpty());
  EXPECT_FALSE(scaffold.has_init_fn());
  EXPECT_FALSE(scaffold.ready_op().has_value());
  EXPECT_FALSE(scaffold.ready_for_local_init_op().has_value());
  EXPECT_FALSE(scaffold.local_init_op().has_value());
  EXPECT_FALSE(scaffold.summary_op().has_value());
  EXPECT_EQ(scaffold.saver(), nullptr);
  EXPECT_FALSE(graph_.finalized());
}

// test_defaults_empty_graph
TEST_F(ScaffoldTest, DefaultsOfAGlobalAndALocalVariable) {
  Variable("my_var");
  Variable("my_local_var", kLocalVariables);
  Scaffold scaffold(env(), graph_);
  ASSERT_TRUE(scaffold.Finalize().ok());
  ASSERT_TRUE(scaffold.init_op().has_value());
  EXPECT_THAT(scaffold.init_feed_dict(), IsEmpty());
  EXPECT_FALSE(scaffold.has_init_fn());
  ASSERT_TRUE(scaffold.local_init_op().has_value());
  EXPECT_FALSE(scaffold.summary_op().has_value()) << "there are no summaries to merge";
  EXPECT_THAT(graph_.Collection(kSummaryOp), IsEmpty());
  ASSERT_NE(scaffold.saver(), nullptr);

  const std::unique_ptr<Session> session = NewDirectSession(env(), graph_);
  EXPECT_THAT(Missing(*session, scaffold.ready_op()), ElementsAre("my_var", "my_local_var"));
  EXPECT_THAT(Missing(*session, scaffold.ready_for_local_init_op()), ElementsAre("my_var"));
  ASSERT_TRUE(RunTarget(*session, *scaffold.init_op()).ok());
  EXPECT_THAT(Missing(*session, scaffold.ready_for_local_init_op()), IsEmpty());
  EXPECT_THAT(Missing(*session, scaffold.ready_op()), ElementsAre("my_local_var"));
  ASSERT_TRUE(RunTarget(*session, *scaffold.local_init_op()).ok());
  EXPECT_THAT(Missing(*session, scaffold.ready_op()), IsEmpty());
}

TEST_F(ScaffoldTest, DefaultsWithoutVariables) {
  b_.Const("c", Tensor::Scalar<std::int64_t>(1));
  Scaffold scaffold(env(), graph_);
  ASSERT_TRUE(scaffold.Finalize().ok());
  EXPECT_TRUE(scaffold.init_op().has_value());
  EXPECT_TRUE(scaffold.ready_op().has_value());
  EXPECT_TRUE(scaffold.ready_for_local_init_op().has_value());
  EXPECT_TRUE(scaffold.local_init_op().has_value());
  ASSERT_NE(scaffold.saver(), nullptr);
  const std::unique_ptr<Session> session = NewDirectSession(env(), graph_);
  EXPECT_THAT(Missing(*session, scaffold.ready_op()), IsEmpty());
  const absl::StatusOr<std::string> saved = scaffold.saver()->Save(*session, "/nowhere/model.ckpt", 1);
  EXPECT_TRUE(saved.ok()) << saved.status();
  EXPECT_EQ(*saved, "") << "nothing to save";
}

TEST_F(ScaffoldTest, SummariesAreMerged) {
  ops::ScalarSummary(b_, "loss", "loss", b_.Const("half", Tensor::Scalar<float>(0.5F)));
  Scaffold scaffold(env(), graph_);
  ASSERT_TRUE(scaffold.Finalize().ok());
  ASSERT_TRUE(scaffold.summary_op().has_value());
  EXPECT_THAT(graph_.Collection(kSummaryOp), ElementsAre(*scaffold.summary_op()));
}

// test_caches_values
TEST_F(ScaffoldTest, ASecondScaffoldFindsWhatTheFirstHasMade) {
  Variable("v");
  ops::ScalarSummary(b_, "loss", "loss", b_.Const("half", Tensor::Scalar<float>(0.5F)));
  Scaffold first(env(), graph_);
  ASSERT_TRUE(first.Finalize().ok());
  const int nodes = graph_.size();
  Scaffold second(env(), graph_);
  ASSERT_TRUE(second.Finalize().ok()) << "nothing has to be added to the finalized graph";
  EXPECT_EQ(graph_.size(), nodes);
  EXPECT_EQ(first.init_op(), second.init_op());
  EXPECT_EQ(first.ready_op(), second.ready_op());
  EXPECT_EQ(first.ready_for_local_init_op(), second.ready_for_local_init_op());
  EXPECT_EQ(first.local_init_op(), second.local_init_op());
  EXPECT_EQ(first.summary_op(), second.summary_op());
  EXPECT_EQ(first.saver(), second.saver());
}

// test_raise_error_if_more_than_one_cached_item
TEST_F(ScaffoldTest, MoreThanOneItemIsRefused) {
  const auto refusal = [this] {
    const absl::Status status = Scaffold(env(), graph_).Finalize();
    EXPECT_EQ(CodeOf(status), Code::kUsage);
    return std::string(MessageOf(status));
  };
  Variable("v");
  for (int i = 0; i < 2; ++i) graph_.AddToCollection(kSavers, std::make_shared<Saver>(env(), SaverOptions{}));
  EXPECT_THAT(refusal(), HasSubstr("More than one item in collection"));
  EXPECT_FALSE(graph_.finalized());
  for (const CollectionKey<Output> key :
       {kSummaryOp, kLocalInitOp, kReadyForLocalInitOp, kReadyOp, kInitOp}) {  // looked up in the reverse order
    graph_.ClearCollection(key.name);
    for (int i = 0; i < 2; ++i) graph_.AddToCollection(key, Empty("twice"));
    EXPECT_THAT(refusal(), HasSubstr("More than one item in the collection \"" + std::string(key.name) + "\""));
  }
}

// test_uses_passed_values
TEST_F(ScaffoldTest, PassedPiecesStayAndAreNotAddedToCollections) {
  Variable("v");
  const ScaffoldOptions given = AllPieces();
  Scaffold scaffold(env(), graph_, given);
  ASSERT_TRUE(scaffold.Finalize().ok());
  EXPECT_EQ(scaffold.init_op(), given.init_op);
  ASSERT_EQ(scaffold.init_feed_dict().size(), 1U);
  EXPECT_EQ(scaffold.init_feed_dict()[0].tensor, (*given.init_feed_dict)[0].tensor);
  EXPECT_EQ(scaffold.ready_op(), given.ready_op);
  EXPECT_EQ(scaffold.ready_for_local_init_op(), given.ready_for_local_init_op);
  EXPECT_EQ(scaffold.local_init_op(), given.local_init_op);
  EXPECT_EQ(scaffold.summary_op(), given.summary_op);
  EXPECT_EQ(scaffold.saver(), given.saver);
  ASSERT_TRUE(scaffold.has_init_fn());
  CallInitFn(scaffold);
  EXPECT_THAT(init_fn_of_, ElementsAre(&scaffold));
  EXPECT_THAT(graph_.Collection(kInitOp), IsEmpty());
  EXPECT_THAT(graph_.Collection(kReadyOp), IsEmpty());
  EXPECT_THAT(graph_.Collection(kReadyForLocalInitOp), IsEmpty());
  EXPECT_THAT(graph_.Collection(kLocalInitOp), IsEmpty());
  EXPECT_THAT(graph_.Collection(kSummaryOp), IsEmpty());
  EXPECT_THAT(graph_.Collection(kSavers), IsEmpty());
}

TEST_F(ScaffoldTest, APieceThatCannotBeMadeIsAnError) {
  graph_.AddToCollection(kLocalVariables, b_.Const("no_variable", Tensor::Scalar<std::int64_t>(1)));
  ScaffoldOptions given = AllPieces();
  const absl::Status whole = Scaffold(env(), graph_, given).Finalize();
  EXPECT_TRUE(whole.ok()) << whole;
  Graph graph(BuiltinOps());
  Builder b(graph);
  graph.AddToCollection(kLocalVariables, b.Const("no_variable", Tensor::Scalar<std::int64_t>(1)));
  given = {.init_op = b.Group("my_init", {}).node, .local_init_op = b.Group("my_local_init", {}).node};
  EXPECT_THAT(MessageOf(Scaffold(env(), graph, given).Finalize()), HasSubstr("no_variable"));
}

TEST_F(ScaffoldTest, TheGraphIsFinalizedOnce) {
  Variable("v");
  Scaffold scaffold(env(), graph_);
  ASSERT_TRUE(scaffold.Finalize().ok());
  EXPECT_TRUE(graph_.finalized());
  b_.Const("late", Tensor::Scalar<std::int64_t>(1));
  EXPECT_EQ(MessageOf(b_.status()), "Graph is finalized and cannot be modified.");
  const int nodes = graph_.size();
  const std::size_t notes = graph_.Collection(kWellKnownCalls).size();
  ASSERT_TRUE(scaffold.Finalize().ok());
  EXPECT_EQ(graph_.size(), nodes);
  EXPECT_EQ(graph_.Collection(kWellKnownCalls).size(), notes);
  ASSERT_EQ(fake_.events.events().size(), 1U);
  EXPECT_EQ(fake_.events.events()[0].kind, EventKind::kGraphFinalized);
  EXPECT_EQ(fake_.log.lines().back().text, "Graph was finalized.");
}

// test_new_scaffold_from_default_scaffold
TEST_F(ScaffoldTest, CopiedFromAnEmptyOneTheArgumentsCount) {
  const ScaffoldOptions given = AllPieces();
  const Scaffold empty(env(), graph_);
  ScaffoldOptions options = given;
  options.copy_from_scaffold = &empty;
  Scaffold scaffold(env(), graph_, options);
  ASSERT_TRUE(scaffold.Finalize().ok());
  EXPECT_EQ(scaffold.init_op(), given.init_op);
  EXPECT_EQ(scaffold.ready_op(), given.ready_op);
  EXPECT_EQ(scaffold.saver(), given.saver);
}

// test_new_scaffold_from_existing_scaffold
TEST_F(ScaffoldTest, ExplicitArgumentsWinOverCopiedOnes) {
  const ScaffoldOptions old = AllPieces();
  const Scaffold from(env(), graph_, old);
  ScaffoldOptions options;
  options.init_op = b_.Group("other_init", {}).node;
  options.ready_op = Empty("other_ready");
  options.copy_from_scaffold = &from;
  Scaffold scaffold(env(), graph_, options);
  EXPECT_EQ(scaffold.init_op(), options.init_op);
  EXPECT_EQ(scaffold.ready_op(), options.ready_op);
  ASSERT_EQ(scaffold.init_feed_dict().size(), 1U);
  EXPECT_EQ(scaffold.ready_for_local_init_op(), old.ready_for_local_init_op);
  EXPECT_EQ(scaffold.local_init_op(), old.local_init_op);
  EXPECT_EQ(scaffold.summary_op(), old.summary_op);
  EXPECT_EQ(scaffold.saver(), old.saver);
  CallInitFn(scaffold);
  EXPECT_THAT(init_fn_of_, ElementsAre(&scaffold)) << "the user's function is called with the new scaffold";
}

// On a server a queue outlives its session: the next one finds it as the end of that one has left it.
TEST_F(ScaffoldTest, LocalInitOpensTheQueuesThatQueueRunnersClose) {
  const ops::Queue queue = ops::FifoQueue(b_, "queue", 10);
  const Output one = b_.Const("one", Tensor::Scalar<std::int64_t>(1));
  const NodeId put = b_.Op("QueueEnqueueV2", {queue.handle, one}, {.name = "put"}).node;
  graph_.AddToCollection(
      kQueueRunners,
      *QueueRunner::Create(
          env(), {.queue_name = "queue", .enqueue_ops = {put}, .close_op = queue.close, .cancel_op = queue.cancel}));
  Scaffold scaffold(env(), graph_);
  ASSERT_TRUE(scaffold.Finalize().ok());
  const std::unique_ptr<Session> session = NewDirectSession(env(), graph_);
  ASSERT_TRUE(RunTarget(*session, queue.cancel).ok());
  EXPECT_EQ(CodeOf(RunTarget(*session, put)), Code::kCancelled);
  ASSERT_TRUE(RunTarget(*session, *scaffold.local_init_op()).ok());
  EXPECT_TRUE(RunTarget(*session, put).ok());
}

TEST_F(ScaffoldTest, ThatIsTheSwitchQueuesStartAnew) {
  const ops::Queue queue = ops::FifoQueue(b_, "queue", 10);
  graph_.AddToCollection(kQueueRunners, *QueueRunner::Create(env(), {.queue_name = "queue",
                                                                     .enqueue_ops = {b_.Group("put", {}).node},
                                                                     .close_op = queue.close}));
  ScaffoldOptions options = AllPieces();
  options.behaviour.queues_start_anew = false;
  Scaffold scaffold(env(), graph_, options);
  ASSERT_TRUE(scaffold.Finalize().ok());
  EXPECT_EQ(scaffold.local_init_op(), options.local_init_op);
}

TEST_F(ScaffoldTest, WhatAnInitFunctionThrowsIsAnError) {
  Scaffold scaffold(env(), graph_,
                    {.init_fn = [](Scaffold&, Session&) -> absl::Status { throw std::runtime_error("no"); }});
  const std::unique_ptr<Session> session = NewDirectSession(env(), graph_);
  EXPECT_EQ(CodeOf(scaffold.CallInitFn(*session)), Code::kOther);
}

}  // namespace
}  // namespace vigil

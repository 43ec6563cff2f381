// Ports SupervisorTest of supervisor_test.py: what a supervisor is made of, and how it prepares a session. Managed
// sessions and services have files of their own.
#include "vigil/core/train/supervisor/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/meta_graph.pb.h"
#include "vigil/core/io/summary.pb.h"
#include "vigil/core/ops/meta_graph.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/supervisor/testing.h"
#include "vigil/fakes/summary/scribe_writer.h"

namespace vigil {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

proto::Summary Mine() {
  proto::Summary summary;
  summary.add_value()->set_tag("mine");
  summary.mutable_value(0)->set_simple_value(1.5F);
  return summary;
}

TEST_F(SupervisorTest, Basics) {
  const auto sv = Make({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  const SessionPtr session = Prepare(*sv);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(RunTarget(*session, train_.node).ok());
  EXPECT_EQ(Value(*session, step_), "10");
  EXPECT_FALSE(sv->ShouldStop());
  EXPECT_TRUE(session->Close().ok());
  EXPECT_TRUE(sv->Stop().ok());
  EXPECT_TRUE(sv->ShouldStop());
  sv->WaitForStop();  // does not wait any more
  EXPECT_TRUE(Exists("graph.pbtxt"));
}

TEST_F(SupervisorTest, PropertiesOfAChief) {
  const auto sv = Make({.init_feed_dict = {{train_, Tensor::Scalar<std::int64_t>(1)}},
                        .logdir = kLogdir,
                        .save_summaries_secs = seconds(5),
                        .checkpoint_basename = "mine"});
  EXPECT_TRUE(sv->is_chief());
  EXPECT_TRUE(graph_.finalized());
  EXPECT_EQ(&sv->graph(), &graph_);
  EXPECT_NE(sv->coord(), nullptr);
  EXPECT_NE(sv->session_manager(), nullptr);
  EXPECT_EQ(sv->save_summaries_secs(), seconds(5));
  EXPECT_EQ(sv->save_model_secs(), seconds(600));
  EXPECT_EQ(sv->save_path(), "/logs/mine");
  EXPECT_EQ(sv->summary_writer()->logdir(), kLogdir);
  EXPECT_EQ(sv->global_step(), step_);
  EXPECT_THAT(sv->init_feed_dict(), SizeIs(1));
  EXPECT_TRUE(sv->ready_op().has_value() && sv->init_op().has_value() && sv->local_init_op().has_value());
  EXPECT_EQ(sv->ready_for_local_init_op(), std::nullopt);
  EXPECT_EQ(sv->summary_op(), std::nullopt);  // the model has no summaries
  EXPECT_NE(sv->saver(), nullptr);
  EXPECT_TRUE(sv->Stop().ok());
}

TEST_F(SupervisorTest, PropertiesOfAnother) {
  Graph graph(BuiltinOps());
  const auto sv = Supervisor::Create(env(), graph, {.is_chief = false, .logdir = kLogdir});
  ASSERT_TRUE(sv.ok()) << sv.status();
  EXPECT_FALSE((*sv)->is_chief());
  EXPECT_EQ((*sv)->save_summaries_secs(), std::nullopt);
  EXPECT_EQ((*sv)->save_model_secs(), std::nullopt);
  EXPECT_EQ((*sv)->save_path(), "");
  EXPECT_EQ((*sv)->summary_writer(), nullptr);
  EXPECT_EQ((*sv)->saver(), nullptr);  // this graph has no variables
  EXPECT_EQ((*sv)->global_step(), std::nullopt);
}

TEST_F(SupervisorTest, NoneIsNotTheDefault) {
  const auto sv = Make({.ready_op = std::nullopt,
                        .init_op = std::nullopt,
                        .local_init_op = std::nullopt,
                        .logdir = kLogdir,
                        .summary_op = std::nullopt,
                        .saver = std::nullopt,
                        .global_step = std::nullopt,
                        .summary_writer = std::nullopt});
  EXPECT_EQ(sv->ready_op(), std::nullopt);
  EXPECT_EQ(sv->init_op(), std::nullopt);
  EXPECT_EQ(sv->local_init_op(), std::nullopt);
  EXPECT_EQ(sv->summary_op(), std::nullopt);
  EXPECT_EQ(sv->global_step(), std::nullopt);
  EXPECT_EQ(sv->saver(), nullptr);
  EXPECT_EQ(sv->summary_writer(), nullptr);
  EXPECT_EQ(Text(sv->PrepareOrWaitForSession().status()),
            "USAGE: Model is not initialized and no init_op or init_fn or local_init_op was given");
}

TEST_F(SupervisorTest, TakesTheFirstItemOfACollectionAndAddsWhatItMakes) {
  const SaverPtr first = std::make_shared<Saver>(env());
  graph_.AddToCollection(kSavers, first);
  graph_.AddToCollection(kSavers, std::make_shared<Saver>(env()));
  const auto one = Make({});
  EXPECT_EQ(one->saver(), first);
  EXPECT_THAT(fake_.log.lines().back().text, HasSubstr("Found 2 savers operations. Returning the first one."));
  // The graph is finalized: a second supervisor finds everything.
  const auto two = Make({});
  EXPECT_EQ(two->init_op(), one->init_op());
  EXPECT_EQ(two->ready_op(), one->ready_op());
  EXPECT_EQ(two->local_init_op(), one->local_init_op());
}

TEST_F(SupervisorTest, AGraphThatIsFinalizedTooEarlyIsRefused) {
  graph_.Finalize();
  EXPECT_EQ(Text(Supervisor::Create(env(), graph_, {}).status()), "USAGE: Graph is finalized and cannot be modified.");
}

TEST_F(SupervisorTest, DefaultGlobalStep) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Output named = ops::MakeVariable(b, "global_step", b.Const("v", Tensor::Scalar<std::int64_t>(287))).ref;
  const auto sv = Supervisor::Create(env(), graph, {});
  ASSERT_TRUE(sv.ok()) << sv.status();
  EXPECT_EQ((*sv)->global_step(), named);
  EXPECT_THAT(graph.Collection(kGlobalStep), ElementsAre(named)) << "whoever comes next finds it there";
  EXPECT_EQ(Value(*Prepare(**sv), named), "287");
}

TEST_F(SupervisorTest, AGlobalStepWithAHandleIsRead) {
  for (const bool in_collection : {true, false}) {
    Graph graph(BuiltinOps());
    Builder b(graph);
    const ops::Variable step =
        ops::MakeResourceVariable(b, "global_step", b.Const("v", Tensor::Scalar<std::int64_t>(287)));
    if (in_collection) graph.AddToCollection(kGlobalStep, step.ref);
    const auto sv = Supervisor::Create(env(), graph, {.logdir = kLogdir});
    ASSERT_TRUE(sv.ok()) << sv.status();
    EXPECT_EQ((*sv)->global_step(), step.read);
    EXPECT_THAT(graph.Collection(kGlobalStep), ElementsAre(step.ref));
    const absl::Status status = (*sv)->ManagedSession({}, [&](const SessionPtr& session) {
      EXPECT_EQ(Value(*session, step.read), "287");
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST_F(SupervisorTest, AGlobalStepThatIsNoIntegerIsNone) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  ops::MakeVariable(b, "global_step", b.Const("v", Tensor::Scalar<float>(1)));
  const auto sv = Supervisor::Create(env(), graph, {});
  ASSERT_TRUE(sv.ok()) << sv.status();
  EXPECT_EQ((*sv)->global_step(), std::nullopt);
  EXPECT_THAT(fake_.log.lines().back().text, StartsWith("Found 'global_step' is not an int type"));
}

TEST_F(SupervisorTest, SetupFail) {
  const auto sv = Supervisor::Create(env(), graph_, {.is_chief = false});
  EXPECT_THAT(Text(sv.status()), StartsWith("USAGE: When using replicas, all Variables must have their device set: "
                                            "name: \"global_step\""));
  EXPECT_FALSE(graph_.finalized());
}

TEST_F(SupervisorTest, ReadyForLocalInitOpNeedsALocalInitOp) {
  const Output ready = ops::ReportUninitializedVariables(b_, "report", {step_});
  EXPECT_THAT(Text(Supervisor::Create(env(), graph_, {.ready_for_local_init_op = ready, .local_init_op = std::nullopt})
                       .status()),
              StartsWith("USAGE: If you pass a ready_for_local_init_op you must also pass a local_init_op"));
}

TEST_F(SupervisorTest, MasterAndConfigReachTheFactory) {
  const auto factory = std::make_shared<TestFactory>(env());
  const auto sv = Make({.factory = factory});
  Prepare(*sv, {.target = {.master = "", .config = {.device_filters = {"/job:ps"}}}});
  EXPECT_THAT(factory->seen.config.device_filters, ElementsAre("/job:ps"));
  EXPECT_EQ(CodeOf(Make({})->PrepareOrWaitForSession({.target = {.master = "gopher://x:1"}}).status()),
            Code::kNotFound);
}

TEST_F(SupervisorTest, UseSessionManager) {
  auto factory = std::make_shared<TestFactory>(env());
  auto manager = SessionManager::Create(env(), graph_, factory, {});
  ASSERT_TRUE(manager.ok());
  const std::shared_ptr<SessionManager> mine = *std::move(manager);
  const auto sv = Make({.session_manager = mine});
  EXPECT_EQ(sv->session_manager(), mine);
  Prepare(*sv);
  EXPECT_EQ(factory->created, 1);
}

TEST_F(SupervisorTest, InitOp) {
  const ops::Variable v = Variable("v", 3);
  const auto sv = Make({.ready_op = std::nullopt, .init_op = v.initializer});
  const SessionPtr session = Prepare(*sv);
  EXPECT_EQ(Value(*session, v.ref), "3");
  EXPECT_EQ(Value(*session, step_), "FAILED_PRECONDITION");  // not part of this init_op
}

TEST_F(SupervisorTest, InitFnComesAfterInitOp) {
  const ops::Variable v = Variable("v", 3);
  const NodeId add = ops::AssignAdd(b_, "add", v.ref, b_.Const("ten", Tensor::Scalar<std::int64_t>(10))).node;
  const auto sv = Make({.init_fn = [&](Session& session) { return RunTarget(session, add); }});
  EXPECT_EQ(Value(*Prepare(*sv), v.ref), "13");
}

TEST_F(SupervisorTest, InitOpWithFeedDict) {
  const Output fed = ops::Placeholder(b_, "fed", DType::kInt64);
  const ops::Variable v = Variable("v", 3);
  const Output set = ops::Assign(b_, "set", v.ref, fed);
  const auto sv = Make(
      {.ready_op = std::nullopt, .init_op = set.node, .init_feed_dict = {{fed, Tensor::Scalar<std::int64_t>(41)}}});
  EXPECT_EQ(Value(*Prepare(*sv), v.ref), "41");
}

TEST_F(SupervisorTest, InitOpFails) {
  const ops::Variable v = Variable("v", 3);
  Variable("w", 4);
  const auto sv = Make({.init_op = v.initializer});
  EXPECT_THAT(Text(sv->PrepareOrWaitForSession().status()), HasSubstr("Variables not initialized: global_step, w"));
}

TEST_F(SupervisorTest, InitOpFailsForALocalVariable) {
  const ops::Variable v = Variable("v", 3, kLocalVariables);
  Variable("w", 4, kLocalVariables);
  const auto sv = Make({.local_init_op = v.initializer});
  EXPECT_THAT(Text(sv->PrepareOrWaitForSession().status()), HasSubstr("Variables not initialized: w"));
}

TEST_F(SupervisorTest, LocalInitOp) {
  const ops::Variable v = Variable("v", 5, kLocalVariables);
  EXPECT_EQ(Value(*Prepare(*Make({})), v.ref), "5");
}

TEST_F(SupervisorTest, TablesBelongToTheLocalInitOp) {
  // What stands for a table here is a variable that no other init op knows of.
  const ops::Variable table = Variable("table", 7, {"hidden"});
  graph_.AddToCollection(kTableInitializers, Output{table.initializer});
  EXPECT_EQ(Value(*Prepare(*Make({})), table.ref), "7");
}

TEST_F(SupervisorTest, LocalInitRunOptionsAreForTheLocalInitOp) {
  const ops::Queue queue = ops::FifoQueue(b_, "empty", 1);
  const Output stuck = ops::Dequeue(b_, "stuck", queue);
  const auto sv = Make({.local_init_op = stuck.node, .local_init_run_options = RunOptions{.timeout_in_ms = 2000}});
  EXPECT_EQ(CodeOf(sv->PrepareOrWaitForSession().status()), Code::kDeadlineExceeded);
  EXPECT_EQ(Now(), 2);
}

TEST_F(SupervisorTest, RestoreFromMetaGraph) {
  {
    const auto sv = Make({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
    const SessionPtr session = Prepare(*sv);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(RunTarget(*session, train_.node).ok());
    EXPECT_TRUE(sv->saver()->Save(*session, sv->save_path(), 3).ok());
    EXPECT_TRUE(sv->Stop().ok());
  }
  const auto meta_graph = ExportMetaGraph(graph_);
  ASSERT_TRUE(meta_graph.ok()) << meta_graph.status();
  Graph again(BuiltinOps());
  ASSERT_TRUE(ImportMetaGraph(*meta_graph, again).ok());
  const auto sv =
      Supervisor::Create(env(), again, {.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  ASSERT_TRUE(sv.ok()) << sv.status();
  EXPECT_EQ((*sv)->init_op(), Make({})->init_op());  // found, not made again
  ASSERT_TRUE((*sv)->global_step().has_value());
  EXPECT_EQ(Value(*Prepare(**sv), *(*sv)->global_step()), "3");
  EXPECT_TRUE((*sv)->Stop().ok());
}

// A chief and another of the same model, whose variables live on a server.
class TwoSupervisorsTest : public SupervisorTest {
 protected:
  TwoSupervisorsTest() : shared_(std::make_shared<ResourceManager>(env())) {
    elsewhere_.device = "/job:ps/task:0";
    v_ = ops::MakeVariable(elsewhere_, "v", elsewhere_.Const("v0", Tensor::Scalar<std::int64_t>(1)));
    local_ = ops::MakeVariable(elsewhere_, "local", v_.read, kLocalVariables);
    count_ =
        ops::AssignAdd(elsewhere_, "count", v_.ref, elsewhere_.Const("ten", Tensor::Scalar<std::int64_t>(10))).node;
    ready_for_local_init_ = ops::ReportUninitializedVariables(elsewhere_, "report_v", {v_.ref});
    EXPECT_TRUE(elsewhere_.status().ok()) << elsewhere_.status();
  }
  SupervisorOptions Options(bool is_chief) {
    return {.ready_for_local_init_op = ready_for_local_init_,
            .is_chief = is_chief,
            .factory = std::make_shared<TestFactory>(env(), shared_)};
  }
  std::unique_ptr<Supervisor> MakeOf(SupervisorOptions options) {
    auto made = Supervisor::Create(env(), model_, std::move(options));
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }

  Graph model_{BuiltinOps()};
  Builder elsewhere_{model_};
  std::shared_ptr<ResourceManager> shared_;
  ops::Variable v_, local_;
  NodeId count_;
  Output ready_for_local_init_;
};

TEST_F(TwoSupervisorsTest, TheOtherWaitsForTheChiefAndInitialisesItsLocals) {
  const auto chief = MakeOf(Options(true));
  const auto other = MakeOf(Options(false));
  const TaskPtr task = env().tasks->Spawn("chief", [&] {
    SleepUntil(70);
    Prepare(*chief);
  });
  const SessionPtr session = Prepare(*other);
  EXPECT_EQ(Value(*session, local_.ref), "1");
  EXPECT_GE(Now(), 70);
  EXPECT_TRUE(task->Join(kNever));
}

TEST_F(TwoSupervisorsTest, LocalsFollowWhatWasRestored) {
  SupervisorOptions options = Options(true);
  options.logdir = kLogdir;
  options.save_summaries_secs = options.save_model_secs = {};
  {
    const auto chief = MakeOf(options);
    const SessionPtr session = Prepare(*chief);
    EXPECT_TRUE(RunTarget(*session, count_).ok());
    EXPECT_EQ(Value(*session, local_.ref), "1");
    EXPECT_TRUE(chief->saver()->Save(*session, chief->save_path(), 1).ok());
    EXPECT_TRUE(chief->Stop().ok());
  }
  shared_->Reset("");  // the server starts anew
  const auto chief = MakeOf(options);
  EXPECT_EQ(Value(*Prepare(*chief), local_.ref), "11");
  EXPECT_TRUE(chief->Stop().ok());
}

TEST_F(TwoSupervisorsTest, TheOtherGivesUpAfterMaxWait) {
  const auto other = MakeOf(Options(false));
  EXPECT_EQ(CodeOf(other->PrepareOrWaitForSession({.max_wait_secs = seconds(100)}).status()), Code::kDeadlineExceeded);
  EXPECT_LE(Now(), 100);
}

TEST_F(TwoSupervisorsTest, TheOtherMayPrepareAgainAfterAStop) {
  const auto chief = MakeOf(Options(true));
  const auto other = MakeOf(Options(false));
  Prepare(*chief);
  const SessionPtr first = Prepare(*other);
  EXPECT_TRUE(other->Stop().ok());
  EXPECT_TRUE(other->ShouldStop());
  EXPECT_TRUE(first->Close().ok());
  Prepare(*other);
  EXPECT_FALSE(other->ShouldStop());
}

TEST_F(SupervisorTest, PrepareAgainAfterAStop) {
  const auto sv = Make({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  const SessionPtr first = Prepare(*sv);
  EXPECT_TRUE(first->Close().ok());
  EXPECT_TRUE(sv->Stop().ok());
  EXPECT_TRUE(sv->ShouldStop());
  const SessionPtr second = Prepare(*sv);
  EXPECT_FALSE(sv->ShouldStop());
  EXPECT_NE(second->number(), first->number());
  EXPECT_TRUE(sv->Stop().ok());
}

TEST_F(SupervisorTest, WaitForCheckpoint) {
  const auto sv = Make({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  // Another process saves a checkpoint after 50 seconds.
  const TaskPtr task = env().tasks->Spawn("trainer", [&] {
    SleepUntil(50);
    const std::unique_ptr<Session> session = NewDirectSession(env(), graph_);
    EXPECT_TRUE(RunTarget(*session, *sv->init_op()).ok());
    EXPECT_TRUE(RunTarget(*session, train_.node).ok());
    EXPECT_TRUE(sv->saver()->Save(*session, sv->save_path(), 1).ok());
  });
  const SessionPtr session = Prepare(*sv, {.wait_for_checkpoint = true});
  EXPECT_EQ(Now(), 60);  // it looks every 30 seconds
  EXPECT_EQ(Value(*session, step_), "1");
  EXPECT_TRUE(sv->Stop().ok());
}

TEST_F(SupervisorTest, WhatStartsBesideASessionMayFailIt) {
  const auto writer = std::make_shared<fakes::ScribeWriter>();
  writer->failing = "session_log";
  for (const bool close : {true, false}) {
    Behaviour behaviour = Behaviour::Default();
    behaviour.close_partial_session = close;
    fake_.events.Clear();
    const auto sv = Make({.logdir = kLogdir, .summary_writer = {writer}, .behaviour = behaviour});
    EXPECT_EQ(CodeOf(sv->PrepareOrWaitForSession().status()), Code::kResourceExhausted);
    const auto closes = [](const Event& event) {
      return event.kind == EventKind::kSessionCall && event.call == static_cast<std::uint8_t>(CallKind::kClose);
    };
    EXPECT_EQ(std::ranges::any_of(fake_.events.events(), closes), close);
  }
}

TEST_F(SupervisorTest, SummariesNeedAWriter) {
  const auto sv = Make({});
  const SessionPtr session = Prepare(*sv);
  EXPECT_EQ(Text(sv->SummaryComputed(session, Mine())), "USAGE: Writing a summary requires a summary writer.");
  EXPECT_THAT(fake_.log.lines(),
              testing::Contains(testing::Field(&fakes::CapturingLog::Line::text,
                                               "Standard services need a 'logdir' passed to the SessionManager")));
}

TEST_F(SupervisorTest, ALogdirWithoutAWriter) {
  const auto sv = Make({.logdir = kLogdir, .save_summaries_secs = {}, .summary_writer = std::nullopt});
  const SessionPtr session = Prepare(*sv);
  EXPECT_EQ(Text(sv->SummaryComputed(session, Mine())), "USAGE: Writing a summary requires a summary writer.");
  SleepUntil(1);  // the service has made its first pass
  EXPECT_TRUE(sv->Stop().ok());
  EXPECT_TRUE(Exists("model.ckpt-0.index"));  // the checkpoint service needs none
  EXPECT_THAT(EventsFiles(), IsEmpty());
}

TEST_F(SupervisorTest, AWriterWithoutALogdir) {
  const auto writer = std::make_shared<fakes::ScribeWriter>();
  const auto sv = Make({.summary_writer = {writer}});
  const SessionPtr session = Prepare(*sv);
  EXPECT_TRUE(RunTarget(*session, train_.node).ok());
  EXPECT_TRUE(sv->SummaryComputed(session, Mine()).ok());
  EXPECT_TRUE(sv->SummaryComputed(session, Mine().SerializeAsString(), 7).ok());
  EXPECT_TRUE(sv->Stop().ok());
  EXPECT_THAT(writer->lines, ElementsAre("reopen", "graph", "meta_graph", "summary step=1 mine=1.5",
                                         "summary step=7 mine=1.5", "session_log STOP", "close"));
}

TEST_F(SupervisorTest, ChiefCanWriteEvents) {
  const auto sv = Make({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  const SessionPtr session = Prepare(*sv);
  EXPECT_TRUE(sv->SummaryComputed(session, Mine()).ok());
  EXPECT_TRUE(sv->Stop().ok());
  ASSERT_THAT(EventsFiles(), SizeIs(1));
  EXPECT_THAT(Events(EventsFiles().front()),
              ElementsAre("version", "graph", "meta_graph", "START step=0", "summary step=0 mine=1.5", "STOP step=0"));
}

TEST_F(TwoSupervisorsTest, OnlyTheChiefCanWriteEvents) {
  const auto chief = MakeOf(Options(true));
  Prepare(*chief);
  SupervisorOptions options = Options(false);
  options.logdir = kLogdir;
  const auto other = MakeOf(options);
  const SessionPtr session = Prepare(*other);
  EXPECT_EQ(Text(other->SummaryComputed(session, Mine())), "USAGE: Writing a summary requires a summary writer.");
  EXPECT_EQ(
      Text(other->StartStandardServices(session).status()),
      "USAGE: Only chief supervisor can start standard services. Because only chief supervisors can write events.");
}

TEST_F(SupervisorTest, WithoutASessionItSaysSo) {
  const auto sv = Make({.summary_writer = {std::make_shared<fakes::ScribeWriter>()}});
  EXPECT_EQ(Text(sv->SummaryComputed(nullptr, Mine())),
            "USAGE: There is no session: pass the one that PrepareOrWaitForSession returned.");
  EXPECT_TRUE(sv->SummaryComputed(nullptr, Mine(), 3).ok());
}

}  // namespace
}  // namespace vigil

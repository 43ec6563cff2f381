#include "vigil/core/session/direct_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/graph/node_def.pb.h"
#include "vigil/core/session/test_ops.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DirectSessionTest : public testing::Test {
 protected:
  std::unique_ptr<Session> NewSession(DirectSessionOptions options = {}) {
    return NewDirectSession(fake_.env(), g_.graph, std::move(options));
  }
  // "3 4", the fetched numbers; or the error.
  std::string Fetch(Session& session, std::vector<Output> fetches, std::vector<Output> feeds = {},
                    std::vector<Tensor> values = {}, const RunOptions& options = {}) {
    const RunSpec spec{.feeds = std::move(feeds), .fetches = std::move(fetches)};
    std::vector<Tensor> fetched;
    const absl::Status status =
        session.Run({.spec = spec, .feed_values = values, .options = &options, .metadata = &metadata_}, &fetched);
    if (!status.ok()) return Text(status);
    std::string out;
    for (const Tensor& each : fetched) out += (out.empty() ? "" : " ") + std::to_string(each.flat<std::int64_t>()[0]);
    return out;
  }
  // A task that fetches and writes the answer down: "q 1".
  void Start(const std::string& name, Session& session, Output fetch) {
    tasks_.push_back(fake_.tasks.Spawn(
        name, [this, name, &session, fetch] { lines_.push_back(name + " " + Fetch(session, {fetch})); }));
    fake_.tasks.RunReady();
  }
  static Tensor Number(std::int64_t value) { return Tensor::Scalar<std::int64_t>(value); }

  TestGraph g_;
  const Output one_ = g_.Value("one", 1);
  const Output input_ = g_.Node("Input", "input");
  const Output sum_ = g_.Node("Add", "sum", {input_, one_});
  const Output cell_ = g_.Node("Cell", "cell");
  const Output set_ = g_.Node("Set", "set", {cell_, one_});
  const Output read_ = g_.Node("Copy", "read", {cell_});
  const Output bump_ = g_.Node("Bump", "bump", {cell_, one_}, {read_.node});
  const Output gate_ = g_.Node("Gate", "gate");
  const Output wait_ = g_.Node("Wait", "wait", {gate_});
  const Output open_ = g_.Node("Open", "open", {gate_});
  fakes::FakeEnv fake_;
  RunMetadata metadata_;
  std::vector<std::string> lines_;
  std::vector<std::unique_ptr<Task>> tasks_;
};

TEST_F(DirectSessionTest, ComputesWhatIsFetched) {
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_EQ(Fetch(*session, {sum_, one_, sum_}, {input_}, {Number(4)}), "5 1 5");
  EXPECT_EQ(Fetch(*session, {sum_}, {sum_}, {Number(7)}), "7");
  EXPECT_EQ(Fetch(*session, {sum_}), "INVALID_ARGUMENT: not fed\n\t [[{{node input}}]]");
  EXPECT_EQ(Fetch(*session, {sum_}, {input_}, {Number(5)}), "6");  // no matter what was before
}

TEST_F(DirectSessionTest, FeedsAreChecked) {
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_EQ(Fetch(*session, {sum_}, {input_}), "USAGE: 0 values are given for 1 feeds.");
  EXPECT_EQ(Fetch(*session, {sum_}, {input_}, {Tensor::Scalar<float>(1)}),
            "INVALID_ARGUMENT: Cannot feed a value of type float for 'input:0', which has type int64");
}

TEST_F(DirectSessionTest, CallablesArePreparedRuns) {
  const std::unique_ptr<Session> session = NewSession();
  const CallableHandle sum = *session->MakeCallable({.feed = {"input:0"}, .fetch = {"sum:0", "input"}});
  const CallableHandle set = *session->MakeCallable({.target = {"set"}});
  const CallableHandle read = *session->MakeCallable({.fetch = {"read:0"}});
  EXPECT_THAT((std::vector<CallableHandle>{sum, set, read}), ElementsAre(0, 1, 2));
  const auto run = [&session](CallableHandle handle, std::vector<Tensor> feeds) {
    std::vector<Tensor> fetched;
    const absl::Status status = session->RunCallable(handle, feeds, &fetched);
    if (!status.ok()) return Text(status);
    std::string out;
    for (const Tensor& each : fetched) out += std::to_string(each.scalar<std::int64_t>()) + " ";
    return out;
  };
  EXPECT_EQ(run(sum, {Number(4)}), "5 4 ");
  EXPECT_EQ(run(sum, {Number(5)}), "6 5 ");
  EXPECT_EQ(run(set, {}), "");
  EXPECT_EQ(run(read, {}), "1 ");
  EXPECT_EQ(run(sum, {}), "INVALID_ARGUMENT: Expected 1 feed tensors, but got 0");
  EXPECT_EQ(run(3, {}), "INVALID_ARGUMENT: No such callable handle: 3");
  EXPECT_EQ(run(-1, {}), "INVALID_ARGUMENT: No such callable handle: -1");
  EXPECT_TRUE(session->ReleaseCallable(set).ok());
  EXPECT_TRUE(session->ReleaseCallable(set).ok());  // as TensorFlow: nothing to complain of
  EXPECT_EQ(run(set, {}), "INVALID_ARGUMENT: Attempted to run callable after handle was released: 1");
  EXPECT_EQ(Text(session->ReleaseCallable(3)), "INVALID_ARGUMENT: No such callable handle: 3");
  EXPECT_EQ(run(read, {}), "1 ");
  ASSERT_TRUE(session->Close().ok());
  EXPECT_EQ(run(read, {}), "CANCELLED: Session has been closed.");
  EXPECT_EQ(Text(session->MakeCallable({}).status()), "USAGE: Attempted to use a closed Session.");
}

TEST_F(DirectSessionTest, CallablesAreCheckedWhenTheyAreMade) {
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_THAT(Text(session->MakeCallable({.fetch = {"nobody:0"}}).status()),
              HasSubstr("USAGE: The name 'nobody:0' refers to a Tensor which does not exist."));
  EXPECT_EQ(Text(session->MakeCallable({.target = {"nobody"}}).status()),
            "USAGE: The name 'nobody' refers to an Operation not in the graph.");
  EXPECT_EQ(Text(session->MakeCallable({.feed = {"input", "input:0"}}).status()), "USAGE: 'input:0' is fed twice.");
  CallableOptions watched{.fetch = {"sum"}};
  watched.run_options.debug_tensor_watch_opts = {{.node_name = "sum", .debug_ops = {"DebugIdentity"}}};
  EXPECT_EQ(CodeOf(session->MakeCallable(watched).status()), Code::kUnimplemented);
}

TEST_F(DirectSessionTest, CallablesHaveTheirOptionsAndGiveMetadata) {
  const std::unique_ptr<Session> session = NewSession();
  CallableOptions options{.feed = {"input"}, .fetch = {"sum"}};
  options.run_options.trace_level = TraceLevel::kFullTrace;
  const CallableHandle traced = *session->MakeCallable(options);
  std::vector<Tensor> fetched;
  const std::vector<Tensor> feeds = {Number(1)};
  ASSERT_TRUE(session->RunCallable(traced, feeds, &fetched, &metadata_).ok());
  ASSERT_EQ(metadata_.step_stats.size(), 1U);
  EXPECT_EQ(metadata_.step_stats[0].node_name, "sum");
  options = {.fetch = {"wait"}};
  options.run_options.timeout_in_ms = 10;
  const CallableHandle waits = *session->MakeCallable(options);
  EXPECT_THAT(Text(session->RunCallable(waits, {}, &fetched)), HasSubstr("DEADLINE_EXCEEDED"));
  EXPECT_EQ(fake_.clock.Monotonic().since_epoch, std::chrono::milliseconds(10));
}

TEST_F(DirectSessionTest, PartialRunsAreRefusedByName) {
  const std::unique_ptr<Session> session = NewSession();
  std::string handle;
  EXPECT_THAT(Text(session->PRunSetup({"input"}, {"sum"}, {}, &handle)),
              HasSubstr("UNIMPLEMENTED: Partial run is not supported for this session"));
}

TEST_F(DirectSessionTest, StateOutlivesARunButNotTheSession) {
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_THAT(Fetch(*session, {read_}), HasSubstr("FAILED_PRECONDITION: uninitialized cell"));
  EXPECT_THAT(Fetch(*session, {bump_}), HasSubstr("FAILED_PRECONDITION"));
  EXPECT_EQ(Fetch(*session, {set_}), "1");
  EXPECT_EQ(Fetch(*session, {bump_, read_, cell_}), "2 1 2");  // before, and after everything
  const std::unique_ptr<Session> other = NewSession();
  EXPECT_THAT(Fetch(*other, {read_}), HasSubstr("FAILED_PRECONDITION"));
}

TEST_F(DirectSessionTest, SharedResourcesAreSharedButWhatIsPerSession) {
  const auto shared = std::make_shared<ResourceManager>(fake_.env());
  const std::unique_ptr<Session> a = NewSession({.shared_resources = shared});
  const std::unique_ptr<Session> b = NewSession({.shared_resources = shared});
  EXPECT_EQ(Fetch(*a, {set_}), "1");
  EXPECT_EQ(Fetch(*b, {read_}), "1");
  EXPECT_EQ(Fetch(*a, {open_}), "1");
  Start("b", *b, wait_);
  EXPECT_THAT(lines_, IsEmpty());  // its own gate is shut
  EXPECT_EQ(Text(a->Close()), "OK");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_EQ(Fetch(*b, {read_}), "1");  // a's end took nothing away
  EXPECT_EQ(Text(b->Close()), "OK");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("b CANCELLED: waiting was cancelled\n\t [[{{node wait}}]]"));
}

TEST_F(DirectSessionTest, WhoWaitsForWhatIsSharedIsWokenByTheEndOfItsSession) {
  const auto shared = std::make_shared<ResourceManager>(fake_.env());
  const Output wait = g_.Node("Wait", "wait_shared", {g_.Node("SharedGate", "shared_gate")});
  const std::unique_ptr<Session> session = NewSession({.shared_resources = shared});
  Start("waits", *session, wait);
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_EQ(Text(session->Close()), "OK");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("waits CANCELLED: waiting was cancelled")));
}

TEST_F(DirectSessionTest, AResetIsSeenByTheNextRun) {
  const auto shared = std::make_shared<ResourceManager>(fake_.env());
  const std::unique_ptr<Session> session = NewSession({.shared_resources = shared});
  EXPECT_EQ(Fetch(*session, {set_}), "1");
  EXPECT_EQ(Fetch(*session, {read_}), "1");
  shared->Reset("");
  EXPECT_THAT(Fetch(*session, {read_}), HasSubstr("uninitialized cell"));
}

TEST_F(DirectSessionTest, RunsGoOnBesideABlockedOne) {
  const std::unique_ptr<Session> session = NewSession();
  Start("first", *session, wait_);
  Start("second", *session, wait_);
  EXPECT_EQ(Fetch(*session, {set_}), "1");
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_EQ(Fetch(*session, {open_}), "1");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("first 1", "second 1"));
}

TEST_F(DirectSessionTest, CloseCancelsWhatRuns) {
  const std::unique_ptr<Session> session = NewSession();
  Start("first", *session, wait_);
  EXPECT_EQ(Text(session->Close()), "OK");
  EXPECT_TRUE(session->closed());
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("first CANCELLED: waiting was cancelled")));
  EXPECT_EQ(Text(session->Close()), "OK");
  EXPECT_EQ(Fetch(*session, {one_}), "USAGE: Attempted to use a closed Session.");
}

TEST_F(DirectSessionTest, ARunMayOutliveItsSession) {
  std::unique_ptr<Session> session = NewSession();
  Start("first", *session, wait_);
  EXPECT_EQ(Text(session->Close()), "OK");
  session.reset();
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("first CANCELLED")));
}

TEST_F(DirectSessionTest, TimeoutsOfARunAndOfTheSession) {
  const std::unique_ptr<Session> session = NewSession();
  RunOptions options;
  options.timeout_in_ms = 1500;
  EXPECT_THAT(Fetch(*session, {wait_}, {}, {}, options), HasSubstr("DEADLINE_EXCEEDED"));
  EXPECT_EQ(fake_.clock.Monotonic().since_epoch, std::chrono::milliseconds(1500));
  const std::unique_ptr<Session> impatient = NewSession({.config = {.operation_timeout_in_ms = 500}});
  EXPECT_THAT(Fetch(*impatient, {wait_}), HasSubstr("DEADLINE_EXCEEDED"));
  EXPECT_EQ(fake_.clock.Monotonic().since_epoch, std::chrono::milliseconds(2000));
  const RunOptions of_other_things{.trace_level = TraceLevel::kFullTrace};
  EXPECT_THAT(Fetch(*impatient, {wait_}, {}, {}, of_other_things), HasSubstr("DEADLINE_EXCEEDED"));
  EXPECT_EQ(fake_.clock.Monotonic().since_epoch, std::chrono::milliseconds(2500));
}

// Kernels that wait for nothing do not end in time by themselves.
TEST_F(DirectSessionTest, ATimeoutIsOfAllThatTheRunDoes) {
  const Output slow = g_.Node("Slow", "slow");
  const Output late = g_.Node("Bump", "late", {cell_, one_}, {slow.node});
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_EQ(Fetch(*session, {set_}), "1");
  RunOptions options;
  options.timeout_in_ms = 1500;
  EXPECT_THAT(Fetch(*session, {slow}, {}, {}, options), HasSubstr("DEADLINE_EXCEEDED"));
  EXPECT_THAT(Fetch(*session, {late}, {}, {}, options), HasSubstr("DEADLINE_EXCEEDED"));
  EXPECT_EQ(Fetch(*session, {cell_}), "1") << "nothing runs after that";
  options.timeout_in_ms = 2000;
  EXPECT_EQ(Fetch(*session, {late}, {}, {}, options), "2");
}

TEST_F(DirectSessionTest, AFullTraceTellsEveryNodeThatRan) {
  const std::unique_ptr<Session> session = NewSession();
  RunOptions options;
  options.trace_level = TraceLevel::kFullTrace;
  const std::int64_t now = fake_.clock.Now().since_epoch.count();
  fake_.clock.Advance(std::chrono::nanoseconds(5));
  EXPECT_EQ(Fetch(*session, {sum_, set_}, {input_}, {Number(4)}, options), "5 1");
  ASSERT_EQ(metadata_.step_stats.size(), 2u);
  EXPECT_EQ(metadata_.step_stats[0].node_name, "sum");
  EXPECT_EQ(metadata_.step_stats[0].op, "Add");
  EXPECT_THAT(metadata_.step_stats[0].inputs, testing::Contains("input"));
  EXPECT_EQ(metadata_.step_stats[0].start_ns, now + 5);
  EXPECT_EQ(metadata_.step_stats[0].end_ns, now + 5);
  EXPECT_EQ(metadata_.step_stats[0].device, "");
  EXPECT_EQ(metadata_.step_stats[0].output_bytes, 8);
  EXPECT_EQ(metadata_.step_stats[1].node_name, "set");
  EXPECT_EQ(Fetch(*session, {sum_}, {input_}, {Number(4)}), "5");
  EXPECT_THAT(metadata_.step_stats, IsEmpty());  // not asked for: not kept either
}

TEST_F(DirectSessionTest, EveryTraceLevelTracesAndSoDoesAReportOfAllocations) {
  const std::unique_ptr<Session> session = NewSession();
  for (const RunOptions& options :
       {RunOptions{.trace_level = TraceLevel::kSoftwareTrace}, RunOptions{.trace_level = TraceLevel::kHardwareTrace},
        RunOptions{.report_tensor_allocations_upon_oom = true}}) {
    EXPECT_EQ(Fetch(*session, {sum_}, {input_}, {Number(4)}, options), "5");
    EXPECT_EQ(metadata_.step_stats.size(), 1u);
  }
  EXPECT_EQ(Fetch(*session, {sum_}, {input_}, {Number(4)}, RunOptions{.output_partition_graphs = true}), "5");
  EXPECT_THAT(metadata_.step_stats, IsEmpty());
}

TEST_F(DirectSessionTest, StandingForOneOnAServerOnlyAFullTraceTraces) {
  const std::unique_ptr<Session> session = NewSession({.traces_as_on_server = true});
  for (const RunOptions& options :
       {RunOptions{.trace_level = TraceLevel::kSoftwareTrace}, RunOptions{.trace_level = TraceLevel::kHardwareTrace},
        RunOptions{.report_tensor_allocations_upon_oom = true}}) {
    EXPECT_EQ(Fetch(*session, {sum_}, {input_}, {Number(4)}, options), "5");
    EXPECT_THAT(metadata_.step_stats, IsEmpty());
  }
  EXPECT_EQ(Fetch(*session, {sum_}, {input_}, {Number(4)}, RunOptions{.trace_level = TraceLevel::kFullTrace}), "5");
  EXPECT_EQ(metadata_.step_stats.size(), 1u);
}

TEST_F(DirectSessionTest, GivesTheGraphThatItRan) {
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_EQ(Fetch(*session, {sum_}, {input_}, {Number(4)}, RunOptions{.output_partition_graphs = true}), "5");
  ASSERT_EQ(metadata_.partition_graphs.size(), 1u);
  proto::GraphDef def;
  ASSERT_TRUE(def.ParseFromString(metadata_.partition_graphs[0]));
  std::vector<std::string> names;
  for (const proto::NodeDef& node : def.node()) names.push_back(node.op());
  EXPECT_THAT(names, testing::ElementsAre("Value", "Add")) << "not what was fed, nor what was not needed";
  EXPECT_EQ(Fetch(*session, {sum_}, {input_}, {Number(4)}), "5");
  EXPECT_THAT(metadata_.partition_graphs, IsEmpty());
}

TEST_F(DirectSessionTest, RefusesByNameWhatItCannotDo) {
  const std::unique_ptr<Session> session = NewSession();
  RunOptions options{.debug_tensor_watch_opts = {{.node_name = "sum"}}};
  EXPECT_EQ(Fetch(*session, {sum_}, {input_}, {Number(4)}, options), "5")
      << "a watch without debug ops watches nothing";
  options.debug_tensor_watch_opts[0].debug_ops = {"DebugIdentity", "DebugNanCount"};
  EXPECT_EQ(Fetch(*session, {sum_}, {input_}, {Number(4)}, options),
            "UNIMPLEMENTED: RunOptions.debug_tensor_watch_opts: 'sum:0' is to be watched by 'DebugIdentity', "
            "'DebugNanCount', but "
            "there are no debug ops here: fetch the tensor, or leave debug_ops empty.");
  options = RunOptions{.output_partition_graphs = true};
  EXPECT_EQ(CodeOf(CheckRunOptions(&options, false)), Code::kUnimplemented);
  EXPECT_TRUE(CheckRunOptions(nullptr, false).ok());
}

TEST_F(DirectSessionTest, AStepIsOneInteger) {
  EXPECT_EQ(*StepOf(Tensor::Scalar<std::int64_t>(7)), 7);
  EXPECT_EQ(*StepOf(Tensor::Scalar<std::int32_t>(7)), 7);
  EXPECT_EQ(*StepOf(Tensor::Vector<std::int64_t>({7})), 7);
  for (const Tensor& other : {Tensor::Scalar<float>(7), Tensor::Scalar<std::string>("7"), Tensor(),
                              Tensor::Vector<std::int64_t>({}), Tensor::Vector<std::int64_t>({1, 2})}) {
    EXPECT_EQ(MessageOf(StepOf(other).status()), "A global step must be one integer, not " + other.Describe() + ".");
  }
}

TEST_F(DirectSessionTest, ErrorsKeepTheirCodeAndWhatIsThrownIsOther) {
  const Output fail =
      g_.b.Op("Fail", {}, {.name = "fail", .attrs = {{"code", static_cast<std::int64_t>(Code::kStopIteration)}}});
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_EQ(Fetch(*session, {fail}), "STOP_ITERATION: as asked\n\t [[{{node fail}}]]");
  EXPECT_EQ(Fetch(*session, {g_.Node("Throw", "throw")}), "OTHER: thrown");
  EXPECT_EQ(Fetch(*session, {g_.Node("Throw", "no_memory")}),
            "RESOURCE_EXHAUSTED: OOM: no memory for 'Throw' Op\n\t [[{{node no_memory}}]]");
  EXPECT_EQ(Fetch(*session, {one_}), "1");
}

TEST_F(DirectSessionTest, AFailedRunChangesNothingAfterTheFailure) {
  const Output fail =
      g_.b.Op("Fail", {}, {.name = "fail", .attrs = {{"code", static_cast<std::int64_t>(Code::kOutOfRange)}}});
  const Output train = g_.Node("Bump", "train", {cell_, one_}, {fail.node});
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_EQ(Fetch(*session, {set_}), "1");
  EXPECT_THAT(Fetch(*session, {train}), HasSubstr("OUT_OF_RANGE"));
  EXPECT_EQ(Fetch(*session, {cell_}), "1");
}

TEST_F(DirectSessionTest, LargeValuesAreNotKeptBetweenRuns) {
  const Output big = g_.Node("Big", "big", {one_});
  const std::unique_ptr<Session> session = NewSession();
  const RunSpec spec{.fetches = {big}};
  std::vector<Tensor> fetched;
  ASSERT_EQ(Text(session->Run({.spec = spec}, &fetched)), "OK");
  EXPECT_TRUE(fetched[0].has_buffer());
  EXPECT_TRUE(fetched[0].unique());
}

TEST_F(DirectSessionTest, TheFetchedVectorIsReused) {
  const std::unique_ptr<Session> session = NewSession();
  std::vector<Tensor> fetched(5);
  const RunSpec spec{.fetches = {one_}};
  ASSERT_EQ(Text(session->Run({.spec = spec}, &fetched)), "OK");
  EXPECT_EQ(fetched.size(), 1u);
  EXPECT_EQ(Text(session->Run({.spec = spec}, nullptr)), "OK");
  EXPECT_EQ(Text(RunTarget(*session, set_.node)), "OK");
  EXPECT_EQ(RunFetch(*session, read_)->scalar<std::int64_t>(), 1);
}

TEST_F(DirectSessionTest, NodesMayBeAddedBetweenRuns) {
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_EQ(Fetch(*session, {one_}), "1");
  for (int i = 0; i < 100; ++i) g_.Value("more", i);
  const Output two = g_.Node("Add", "two", {one_, one_});
  EXPECT_EQ(Fetch(*session, {two, one_}), "2 1");
}

TEST_F(DirectSessionTest, SessionsAreNumberedInTheirProcess) {
  EXPECT_EQ(NewSession()->number(), 1);
  EXPECT_EQ(NewSession()->number(), 2);
  fakes::FakeEnv other;
  EXPECT_EQ(NewDirectSession(other.env(), g_.graph)->number(), 1);
}

TEST_F(DirectSessionTest, TheFactoryKnowsThisProcessOnly) {
  DirectSessionFactory factory(fake_.env());
  const absl::StatusOr<std::unique_ptr<Session>> session = factory.Create(g_.graph, "", {.operation_timeout_in_ms = 5});
  ASSERT_TRUE(session.ok());
  EXPECT_THAT(Fetch(**session, {wait_}), HasSubstr("DEADLINE_EXCEEDED"));
  EXPECT_THAT(Text(factory.Create(g_.graph, "grpc://host:1", {}).status()), HasSubstr("UNIMPLEMENTED"));
}

// Real threads: several run in one session while it is closed.
TEST_F(DirectSessionTest, ManyThreadsRunAndOneCloses) {
  Env env = fake_.env();
  env.tasks = &fake_.threads;
  const std::unique_ptr<Session> session = NewDirectSession(env, g_.graph);
  EXPECT_EQ(Fetch(*session, {set_}), "1");
  std::vector<std::unique_ptr<Task>> runners;
  std::atomic<int> runs{0};
  for (int t = 0; t < 3; ++t) {
    runners.push_back(fake_.threads.Spawn("runner", [&] {
      const RunSpec bump{.fetches = {bump_}};
      const RunSpec sum{.feeds = {input_}, .fetches = {sum_}};
      const Tensor value = Number(2);
      std::vector<Tensor> fetched;
      while (session->Run({.spec = bump}, &fetched).ok() &&
             session->Run({.spec = sum, .feed_values = {&value, 1}}, &fetched).ok()) {
        if (fetched[0].scalar<std::int64_t>() != 3) ADD_FAILURE() << "a run saw another's values";
        ++runs;
      }
    }));
  }
  while (runs < 1000) {
  }
  EXPECT_EQ(Text(session->Close()), "OK");
  for (const std::unique_ptr<Task>& runner : runners) EXPECT_TRUE(runner->Join(kNever));
}

}  // namespace
}  // namespace vigil

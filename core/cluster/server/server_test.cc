#include "vigil/core/cluster/server/server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/local_masters.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/cluster/worker/worker_service.h"
#include "vigil/core/env/forwarding.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/kernel.h"

namespace vigil {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ServerTest : public testing::Test {
 protected:
  ~ServerTest() override { fake_.tasks.EndAll(); }

  ClusterSpec Spec(const ClusterSpec::Jobs& jobs) { return *ClusterSpec::Create(jobs); }
  std::string Refusal(ServerOptions options) { return Text(Server::Create(fake_.env(), std::move(options)).status()); }
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const auto& line : fake_.log.lines()) lines.push_back(line.text);
    return lines;
  }

  using Addresses = std::vector<std::string>;
  fakes::FakeEnv fake_;
};

TEST_F(ServerTest, WhatCannotBeInferredMustBeSaid) {
  const ClusterSpec two_jobs = Spec({{"ps", Addresses{"a:1"}}, {"worker", Addresses{"b:1"}}});
  EXPECT_EQ(Refusal({.cluster = two_jobs}), "USAGE: Must specify an explicit `job_name`.");
  EXPECT_EQ(Refusal({}), "USAGE: Must specify an explicit `job_name`.");
  const ClusterSpec two_tasks = Spec({{"ps", Addresses{"a:1", "b:1"}}});
  EXPECT_EQ(Refusal({.cluster = two_tasks}), "USAGE: Must specify an explicit `task_index`.");
  EXPECT_EQ(Refusal({.cluster = two_jobs, .job_name = "x"}), "USAGE: No such job in cluster: 'x'");
  const auto server = Server::Create(fake_.env(), {.cluster = Spec({{"ps", Addresses{"a:1"}}})});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ((*server)->target(), "grpc://a:1");
  EXPECT_EQ((*server)->job_name(), "ps");
  EXPECT_EQ((*server)->task_index(), 0);
}

TEST_F(ServerTest, WhatContradictsTheClusterIsRefused) {
  const ClusterSpec spec = Spec({{"a", Addresses{"a:1"}}});
  EXPECT_EQ(Refusal({.cluster = spec, .job_name = "x", .task_index = 0}),
            "INTERNAL: Job \"x\" was not defined in cluster");
  EXPECT_EQ(Refusal({.cluster = spec, .task_index = 4}), "INTERNAL: Task 4 was not defined in job \"a\"");
  EXPECT_THAT(
      Refusal({.cluster = spec, .protocol = "foo"}),
      AllOf(StartsWith("NOT_FOUND: No server factory registered for the given ServerDef: "), HasSubstr("\"foo\"")));
}

TEST_F(ServerTest, AnAddressIsServedOnce) {
  const ClusterSpec spec = Spec({{"a", Addresses{"a:1"}}});
  auto first = Server::Create(fake_.env(), {.cluster = spec});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(Refusal({.cluster = spec}), "UNKNOWN: Could not start gRPC server");
  *first = nullptr;
  EXPECT_EQ(Refusal({.cluster = spec}), "OK");
}

TEST_F(ServerTest, WithoutANetworkThereIsNoServer) {
  Env env = fake_.env();
  env.network = nullptr;
  EXPECT_THAT(Text(Server::CreateLocal(env).status()), StartsWith("USAGE: "));
}

TEST_F(ServerTest, ALocalServerIsAClusterOfItsOwn) {
  const auto first = Server::CreateLocal(fake_.env());
  const auto second = Server::CreateLocal(fake_.env());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_THAT((*first)->target(), StartsWith("grpc://localhost:"));
  EXPECT_NE((*first)->target(), (*second)->target());
  EXPECT_EQ((*first)->job_name(), "localhost");
  Graph graph(BuiltinOps());
  Builder b(graph);
  const ops::Variable v = ops::MakeVariable(b, "v", b.Const("c", Tensor::Scalar<double>(4)));
  ClusterSessionFactory factory(fake_.env());
  const auto session = factory.Create(graph, (*first)->target(), {});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(RunTarget(**session, v.initializer).ok());
  EXPECT_EQ(RunFetch(**session, v.ref)->scalar<double>(), 4);
  // A session in its own process has no variables of theirs.
  const auto direct = factory.Create(graph, "local", {});
  EXPECT_EQ(CodeOf(RunFetch(**direct, v.ref).status()), Code::kFailedPrecondition);
}

TEST_F(ServerTest, TheFactoryMakesSessionsByTheirMaster) {
  Graph graph(BuiltinOps());
  ClusterSessionFactory factory(fake_.env());
  EXPECT_TRUE(factory.Create(graph, "", {}).ok());
  EXPECT_TRUE(factory.Create(graph, "local", {}).ok());
  for (const char* const master : {"grpc://", "localhost:2222", "gopher://localhost:70"}) {
    EXPECT_THAT(Text(factory.Create(graph, master, {}).status()),
                StartsWith(fmt::format("NOT_FOUND: No session factory registered for the given session options: "
                                       "{{target: \"{}\"}}",
                                       master)));
  }
  Env env = fake_.env();
  env.network = nullptr;
  EXPECT_THAT(Text(ClusterSessionFactory(env).Create(graph, "grpc://there:1", {}).status()),
              AllOf(StartsWith("UNIMPLEMENTED"), HasSubstr("'grpc://there:1'")));
}

TEST_F(ServerTest, AServerMayStartLater) {
  const auto server = Server::Create(fake_.env(), {.cluster = Spec({{"a", Addresses{"a:1"}}}), .start = false});
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(CodeOf(CallAndWait(fake_.env(), {.to = "a:1"}).status()), Code::kUnavailable);
  EXPECT_TRUE((*server)->Start().ok());
  for (const char* const method : {"/x/Y", "/tensorflow.MasterService/Y", "/tensorflow.WorkerService/Y"}) {
    EXPECT_EQ(Text(CallAndWait(fake_.env(), {.to = "a:1", .method = method}).status()),
              fmt::format("UNIMPLEMENTED: Method not found: {}", method));
  }
}

TEST_F(ServerTest, AStoppedServerServesNoMore) {
  const auto server = Server::CreateLocal(fake_.env());
  ASSERT_TRUE(server.ok());
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Output waits = ops::Dequeue(b, "dequeue", ops::FifoQueue(b, "queue", 1));
  ClusterSessionFactory factory(fake_.env());
  const auto session = factory.Create(graph, (*server)->target(), {});
  ASSERT_TRUE(session.ok());
  absl::Status status;
  const auto task = fake_.env().tasks->Spawn("run", [&] { status = RunFetch(**session, waits).status(); });
  fake_.tasks.RunReady();
  (*server)->Stop();
  task->Join(kNever);
  EXPECT_EQ(CodeOf(status), Code::kCancelled);
  EXPECT_EQ(CodeOf(CallAndWait(fake_.env(), {.to = (*server)->target().substr(7)}).status()), Code::kUnavailable);
}

// Tasks of a system that has no thread left for what has one of these names.
class NoThreadFor final : public ForwardingTasks {
 public:
  NoThreadFor(Tasks& inner, std::set<std::string, std::less<>> names)
      : ForwardingTasks(inner), names_(std::move(names)) {}
  std::unique_ptr<Task> Spawn(std::string_view name, std::function<void()> body) override {
    if (!names_.contains(name)) return ForwardingTasks::Spawn(name, std::move(body));
    ++refused;
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  int refused = 0;

 private:
  const std::set<std::string, std::less<>> names_;
};

TEST_F(ServerTest, WithoutThreadsStepsAreCancelledAndSessionsClosedAllTheSame) {
  Env env = fake_.env();
  NoThreadFor tasks(*env.tasks, {"cancel step", "close session"});
  env.tasks = &tasks;
  TestCluster cluster(env, {{"ps", 1}, {"worker", 1}});
  cluster.StartAll();
  Graph graph(BuiltinOps());
  Builder b(graph);
  DeviceScope there(b, "/job:ps/task:0");
  const Output waits = ops::Dequeue(b, "dequeue", ops::FifoQueue(b, "queue", 1));
  auto session = cluster.NewSession("worker", 0, graph);
  ASSERT_NE(session, nullptr);
  RunOptions options;
  options.timeout_in_ms = 1000;
  EXPECT_EQ(CodeOf(RunAll(*session, {waits}, {}, {}, &options).status), Code::kDeadlineExceeded);
  EXPECT_EQ(tasks.refused, 1);
  session = nullptr;  // without Close
  EXPECT_EQ(tasks.refused, 2);
  cluster.StopAll();
}

TEST_F(ServerTest, AStopThatTakesLongSaysWhatItWaitsFor) {
  OpRegistry ops = BuiltinOps();
  const Env env = fake_.env();
  ops.Register({.name = "Deaf", .output_types = Always({DType::kInt64}), .compute = [env](KernelContext& context) {
                  env.tasks->SleepUntil(DeadlineAfter(env, std::chrono::seconds(60)));
                  context.set_output(0, Tensor::Scalar<std::int64_t>(1));
                  return absl::OkStatus();
                }});
  TestCluster cluster(env, {{"ps", 1}, {"worker", 1}});
  cluster.Start("ps", 0, &ops);
  cluster.Start("worker", 0, &ops);
  Graph graph(ops);
  Builder b(graph);
  DeviceScope there(b, "/job:ps/task:0");
  const Output deaf = b.Op("Deaf", {});
  const auto session = cluster.NewSession("worker", 0, graph);
  ASSERT_NE(session, nullptr);
  const auto task = env.tasks->Spawn("run", [&] { RunFetch(*session, deaf).status().IgnoreError(); });
  fake_.tasks.RunReady();
  const Time start = fake_.clock.Monotonic();
  cluster.server("ps", 0).Stop();
  EXPECT_EQ(fake_.clock.Monotonic() - start, std::chrono::seconds(60));
  EXPECT_THAT(Lines(), testing::Contains(HasSubstr("after 30 s this is still under way: 1 of "
                                                   "/tensorflow.WorkerService/RunGraph")));
  task->Join(kNever);
}

class DroppedServerTest : public ServerTest {
 protected:
  // Drops a server while a run that cannot be cancelled takes so long.
  void Drop(const Env& env, int secs) {
    OpRegistry ops = BuiltinOps();
    ops.Register({.name = "Deaf", .output_types = Always({DType::kInt64}), .compute = [env, secs](KernelContext& c) {
                    env.tasks->SleepUntil(DeadlineAfter(env, std::chrono::seconds(secs)));
                    c.set_output(0, Tensor::Scalar<std::int64_t>(1));
                    return absl::OkStatus();
                  }});
    TestCluster cluster(env, {{"ps", 1}, {"worker", 1}});
    cluster.Start("ps", 0, &ops);
    cluster.Start("worker", 0, &ops);
    Graph graph(ops);
    Builder b(graph);
    DeviceScope there(b, "/job:ps/task:0");
    const Output deaf = b.Op("Deaf", {});
    const auto session = cluster.NewSession("worker", 0, graph);
    ASSERT_NE(session, nullptr);
    const auto task = env.tasks->Spawn("run", [&] { RunFetch(*session, deaf).status().IgnoreError(); });
    fake_.tasks.RunReady();
    const Time start = fake_.clock.Monotonic();
    cluster.Crash("ps", 0);
    EXPECT_EQ(fake_.clock.Monotonic(), start) << "it has waited";
    task->Join(kNever);
    env.tasks->SleepUntil(start + std::chrono::seconds(100));
    cluster.StopAll();
  }
};

TEST_F(DroppedServerTest, SaysWhoIsLeft) {
  Drop(fake_.env(), 60);
  EXPECT_THAT(Lines(), testing::Contains(HasSubstr("was destroyed without Stop(), and after 30 s this is "
                                                   "still under way: 1 of /tensorflow.WorkerService/RunGraph")));
}

// A destructor does not wait: what is under way is told at once, and ended.
TEST_F(DroppedServerTest, WithoutThreadsItEndsWhatItCanHereAndNow) {
  Env env = fake_.env();
  NoThreadFor tasks(*env.tasks, {"stop server"});
  env.tasks = &tasks;
  Drop(env, 20);
  EXPECT_EQ(tasks.refused, 1);
  EXPECT_THAT(Lines(), testing::Contains(HasSubstr("was destroyed without Stop(), and after 0 s this is still under "
                                                   "way: 1 of /tensorflow.WorkerService/RunGraph")));
}

TEST_F(DroppedServerTest, OneThatWasStoppedHasNothingLeftToEnd) {
  Env env = fake_.env();
  NoThreadFor tasks(*env.tasks, {"stop server"});
  env.tasks = &tasks;
  auto server = Server::CreateLocal(env);
  ASSERT_TRUE(server.ok());
  (*server)->Stop();
  EXPECT_EQ(tasks.refused, 0);
  *server = nullptr;
  EXPECT_EQ(tasks.refused, 0);
}

// Of a server that is there no more the process does not go on to hear without the network.
TEST_F(ServerTest, AStoppedServersMasterIsNotFoundAnyMore) {
  const auto server = Server::CreateLocal(fake_.env());
  ASSERT_TRUE(server.ok());
  LocalMasters& masters = LocalMastersOf(fake_.env());
  EXPECT_NE(masters.Find((*server)->target()), nullptr);
  (*server)->Stop();
  EXPECT_EQ(masters.Find((*server)->target()), nullptr);
}

TEST_F(DroppedServerTest, SaysNothingOfWhatEndsInTime) {
  Drop(fake_.env(), 20);
  EXPECT_THAT(Lines(), testing::Not(testing::Contains(HasSubstr("was destroyed without"))));
}

// CreateSession and tasks that are not there. -----------------------------------------------------------------------

class WaitingTest : public ServerTest {
 protected:
  WaitingTest() : cluster_(fake_.env(), {{"ps", 1}, {"worker", 2}}), graph_(BuiltinOps()) {}
  TestCluster cluster_;
  Graph graph_;
};

TEST_F(WaitingTest, ACreationWaitsForAllTasksAndSaysForWhich) {
  cluster_.Start("worker", 0);
  cluster_.Start("worker", 1);
  std::unique_ptr<Session> session;
  const auto task = fake_.env().tasks->Spawn("create", [&] { session = cluster_.NewSession("worker", 0, graph_); });
  fake_.env().tasks->SleepUntil(DeadlineAfter(fake_.env(), std::chrono::milliseconds(25500)));
  EXPECT_FALSE(task->done());
  const std::string line = "CreateSession still waiting for response from worker: /job:ps/replica:0/task:0";
  EXPECT_THAT(Lines(), ElementsAre(line, line));
  cluster_.Start("ps", 0);
  EXPECT_TRUE(task->Join(DeadlineAfter(fake_.env(), std::chrono::seconds(1))));
  EXPECT_NE(session, nullptr);
}

TEST_F(WaitingTest, OnlyTasksThatTheFiltersAllowAreWaitedFor) {
  cluster_.Start("ps", 0);
  cluster_.Start("worker", 1);
  EXPECT_NE(cluster_.NewSession("worker", 1, graph_, {.device_filters = {"/job:ps"}}), nullptr);
  EXPECT_NE(cluster_.NewSession("worker", 1, graph_, {.device_filters = {"/job:ps", "/job:worker/task:1"}}), nullptr);
  EXPECT_TRUE(Lines().empty());
}

TEST_F(WaitingTest, ACreateTimeoutNamesThoseThatDidNotAnswer) {
  cluster_.Start("worker", 0);
  const Time start = fake_.clock.Monotonic();
  for (const bool remote : {false, true}) {
    ClusterSessionFactory factory(remote ? cluster_.client() : cluster_.env("worker", 0));
    EXPECT_EQ(Text(factory.Create(graph_, "grpc://worker0:2222", {.create_timeout = std::chrono::seconds(5)}).status()),
              "UNAVAILABLE: CreateSession got no response within 5 s from worker: /job:ps/replica:0/task:0, "
              "/job:worker/replica:0/task:1");
  }
  EXPECT_EQ(fake_.clock.Monotonic() - start, std::chrono::seconds(10));
}

TEST_F(WaitingTest, WhoGivesUpDoesNotGoOnAsking) {
  FaultyNetwork network(fake_.network);
  Env env = fake_.env();
  env.network = &network;
  TestCluster cluster(env, {{"ps", 1}, {"worker", 1}});
  cluster.StartAll();
  network.Mute("ps0:2222");
  ClusterSessionFactory factory(cluster.env("worker", 0));
  EXPECT_EQ(CodeOf(factory.Create(graph_, "grpc://worker0:2222", {.create_timeout = std::chrono::seconds(5)}).status()),
            Code::kUnavailable);
  EXPECT_EQ(network.waiting(), 0u);
}

TEST_F(WaitingTest, AMasterThatIsNotThereIsWaitedFor) {
  ClusterSessionFactory factory(cluster_.client());
  absl::Status status = factory.Create(graph_, "grpc://worker0:2222", {.operation_timeout_in_ms = 3000}).status();
  EXPECT_EQ(Text(status), "DEADLINE_EXCEEDED: Deadline Exceeded");
  status = factory.Create(graph_, "grpc://worker0:2222", {.create_timeout = std::chrono::seconds(5)}).status();
  EXPECT_EQ(Text(status), "UNAVAILABLE: CreateSession got no response within 5 s from master: worker0:2222");
  absl::StatusOr<std::unique_ptr<Session>> session = absl::UnknownError("");
  const auto task =
      fake_.env().tasks->Spawn("create", [&] { session = factory.Create(graph_, "grpc://worker0:2222", {}); });
  fake_.env().tasks->SleepUntil(DeadlineAfter(fake_.env(), std::chrono::seconds(25)));
  EXPECT_FALSE(task->done());
  cluster_.StartAll();
  EXPECT_TRUE(task->Join(DeadlineAfter(fake_.env(), std::chrono::seconds(2))));
  EXPECT_TRUE(session.ok()) << session.status();
}

TEST_F(WaitingTest, DevicesAreListedWithTheirIncarnations) {
  cluster_.StartAll();
  const std::shared_ptr<MasterInterface> master = *FindMaster(cluster_.client(), "grpc://worker1:2222", {});
  const absl::StatusOr<proto::ListDevicesResponse> devices = master->ListDevices("");
  ASSERT_TRUE(devices.ok()) << devices.status();
  ASSERT_EQ(devices->local_device_size(), 1);
  EXPECT_EQ(devices->local_device(0).name(), "/job:worker/replica:0/task:1/device:CPU:0");
  EXPECT_EQ(devices->local_device(0).device_type(), "CPU");
  ASSERT_EQ(devices->remote_device_size(), 2);
  EXPECT_EQ(devices->remote_device(0).name(), "/job:ps/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(devices->remote_device(0).incarnation(), cluster_.server("ps", 0).worker().device().incarnation());
  EXPECT_THAT(Text(master->ListDevices("nobody").status()), StartsWith("ABORTED: Session nobody is not found."));
  // Of a session those that it was made with.
  proto::CreateSessionRequest request;
  request.mutable_config()->add_device_filters("/job:ps");
  const absl::StatusOr<proto::CreateSessionResponse> session = master->CreateSession(request);
  ASSERT_TRUE(session.ok()) << session.status();
  const absl::StatusOr<proto::ListDevicesResponse> of_session = master->ListDevices(session->session_handle());
  ASSERT_TRUE(of_session.ok()) << of_session.status();
  EXPECT_EQ(of_session->local_device_size(), 1);
  ASSERT_EQ(of_session->remote_device_size(), 1);
  EXPECT_EQ(of_session->remote_device(0).name(), "/job:ps/replica:0/task:0/device:CPU:0");
}

}  // namespace
}  // namespace vigil

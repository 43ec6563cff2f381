// `vigil-serve` as its users run it: processes, signals, a training that survives the death of a server.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/cli/run_program.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/cluster/server/server.h"
#include "vigil/core/env/grpc/grpc_network.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/core/train/training_util.h"

namespace vigil::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> UnusedAddresses(int count) {
  std::vector<int> sockets;
  std::vector<std::string> addresses;
  for (int i = 0; i < count; ++i) {
    sockets.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(sockets.back(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(sockets.back(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    addresses.push_back(fmt::format("127.0.0.1:{}", ntohs(address.sin_port)));
  }
  for (const int each : sockets) close(each);
  return addresses;
}

// A server as a process. It is there when it has said so.
class ServeProcess {
 public:
  ServeProcess(const std::string& cluster, const std::string& job, int start_number) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::vector<std::string> words = {
        VIGIL_PROGRAM, "--cluster", cluster,   "--job",          job,
        "--task",      "0",         "--quiet", "--start-number", std::to_string(start_number)};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&process_, VIGIL_PROGRAM, &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    for (char c = 0; read(ends[0], &c, 1) == 1 && c != '\n';) said += c;
    close(ends[0]);
  }
  ~ServeProcess() { End(SIGKILL); }
  ServeProcess(const ServeProcess&) = delete;
  ServeProcess& operator=(const ServeProcess&) = delete;

  // The exit code, or minus the signal that it has ended by.
  int End(int signal) {
    if (process_ <= 0) return 0;
    kill(process_, signal);
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::string said;

 private:
  pid_t process_ = 0;
};

class ServeTest : public testing::Test {
 protected:
  ServeTest() : network_(*GrpcNetwork::Create(real_.env(), {})) {
    env_ = real_.env();
    env_.network = network_.get();
  }
  Ran Run(const std::string& command) { return RunShell(folder_.path(), command); }

  TemporaryFolder folder_;
  RealEnv real_{{.log_to_stderr = false}};
  std::unique_ptr<GrpcNetwork> network_;
  Env env_;
};

TEST_F(ServeTest, HelpAndMisuse) {
  const Ran help = Run("$VIGIL --help");
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("Examples:\n  vigil-serve --cluster 'ps=127.0.0.1:2222;worker=127.0.0.1:2223'"));
  const std::pair<const char*, const char*> misuses[] = {
      {"", "--cluster is required"},
      {"--cluster ps", "--cluster: 'ps' is no job and its tasks: JOB=HOST:PORT,HOST:PORT"},
      {"--cluster ps=", "--cluster: 'ps=' is no job and its tasks"},
      {"--cluster 'ps=a:1;ps=b:1'", "--cluster: the job 'ps' is there twice"},
      {"--cluster 'ps=127.0.0.1:1;w=127.0.0.1:2'", "Must specify an explicit `job_name`."},
      {"--cluster ps=127.0.0.1:1 --task 00", "--task: expected a whole number from 0 to 2147483647, got '00'"},
      {"--cluster ps=127.0.0.1:1 --task 4", "Task 4 was not defined in job \"ps\""},
      {"--cluster ps=127.0.0.1:1 --tls-key k", "--tls-key requires --tls-authorities"},
      {"--cluster ps=127.0.0.1:1 --tls-key k --tls-authorities a", "--tls-authorities requires --tls-certificate"},
      {"--cluster ps=127.0.0.1:1 --tls-name n", "--tls-name requires --tls-authorities"},
      {"--cluster ps=127.0.0.1:1 --tls-one-sided", "--tls-one-sided requires --tls-authorities"},
  };
  for (const auto& [arguments, says] : misuses) {
    const Ran ran = Run(fmt::format("$VIGIL {}", arguments));
    EXPECT_EQ(ran.code, 2) << arguments;
    EXPECT_THAT(ran.err, HasSubstr(says));
    EXPECT_THAT(ran.err, HasSubstr("See vigil-serve --help"));
  }
}

TEST_F(ServeTest, WhatCannotBeSaidIsAnErrorOrIsNotSaid) {
  const Ran full = Run("timeout -s INT 20 $VIGIL --cluster local=127.0.0.1:0 >/dev/full");
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.err, HasSubstr("No space left on device"));
  EXPECT_EQ(Run("timeout -s INT 20 $VIGIL --cluster local=127.0.0.1:0 >&-").code, 1);
  EXPECT_EQ(Run("$VIGIL --help >/dev/full").code, 1);
  EXPECT_EQ(Run("$VIGIL 2>/dev/full").code, 2);
  // Nor does a log that nobody can write end it otherwise.
  const Ran silent =
      Run("$VIGIL --cluster local=127.0.0.1:0 >out 2>/dev/full & p=$!; until grep -q serves out; do :; done; "
          "kill -TERM $p; wait $p; echo code $?");
  EXPECT_EQ(silent.out, "code 0\n");
}

TEST_F(ServeTest, WhereItCannotServeItSaysWhy) {
  const ServeProcess first("local=127.0.0.1:0", "local", 1);
  const std::string address = first.said.substr(first.said.find("grpc://") + 7);
  const Ran second = Run(fmt::format("$VIGIL --cluster local={}", address));
  EXPECT_EQ(second.code, 1);
  EXPECT_THAT(second.err, HasSubstr(fmt::format("{}: Address already in use", address)));
  const Ran open = Run("$VIGIL --cluster local=0.0.0.0:0");
  EXPECT_EQ(open.code, 1);
  EXPECT_THAT(open.err, HasSubstr("0.0.0.0:0 can be reached from other machines"));
  const Ran tls =
      Run("$VIGIL --cluster local=127.0.0.1:0 --tls-authorities ca.pem --tls-certificate c.pem --tls-key k.pem");
  EXPECT_EQ(tls.code, 1);
  EXPECT_THAT(tls.err, HasSubstr("ca.pem"));
}

TEST_F(ServeTest, ASignalEndsIt) {
  for (const int signal : {SIGINT, SIGTERM}) {
    ServeProcess server("local=127.0.0.1:0", "local", 1);
    EXPECT_THAT(server.said, StartsWith("/job:local/task:0 serves at grpc://127.0.0.1:"));
    EXPECT_EQ(server.End(signal), 0);
  }
}

TEST_F(ServeTest, ASessionRunsOnTwoProcesses) {
  const std::vector<std::string> at = UnusedAddresses(2);
  const std::string cluster = fmt::format("ps={};worker={}", at[0], at[1]);
  const ServeProcess ps(cluster, "ps", 1);
  const ServeProcess worker(cluster, "worker", 1);
  Graph graph(BuiltinOps());
  Builder b(graph);
  const auto on = [&b](const std::string& device) { return DeviceScope(b, device); };
  ops::Variable v;
  {
    const DeviceScope scope = on("/job:ps/task:0");
    v = ops::MakeVariable(b, "v", b.Const("one", Tensor::Scalar<double>(1)));
  }
  Output twice;
  {
    const DeviceScope scope = on("/job:worker/task:0");
    twice = b.Op("AddV2", {v.read, v.read}, {.name = "twice"});
  }
  ASSERT_TRUE(b.status().ok()) << b.status();
  auto session = ClusterSessionFactory(env_).Create(graph, "grpc://" + at[1], {});
  ASSERT_TRUE(session.ok()) << session.status();
  const absl::Status before = RunFetch(**session, twice).status();
  EXPECT_EQ(CodeOf(before), Code::kFailedPrecondition) << "not initialized: " << before;
  ASSERT_TRUE(RunTarget(**session, v.initializer).ok());
  EXPECT_EQ(RunFetch(**session, twice)->scalar<double>(), 2);
  EXPECT_TRUE((*session)->Close().ok());
}

// The variable is on the parameter server, which dies without a word in the middle and begins anew with nothing.
TEST_F(ServeTest, ATrainingSurvivesTheDeathOfItsParameterServer) {
  const std::vector<std::string> at = UnusedAddresses(2);
  const std::string cluster = fmt::format("ps={};worker={}", at[0], at[1]);
  auto ps = std::make_unique<ServeProcess>(cluster, "ps", 1);
  const ServeProcess worker(cluster, "worker", 1);
  Graph graph(BuiltinOps());
  Builder b(graph);
  const DeviceScope scope(b, "/job:ps/task:0");
  const absl::StatusOr<Output> step = GetOrCreateGlobalStep(env_, b);
  ASSERT_TRUE(step.ok()) << step.status();
  const Output train = ops::AssignAdd(b, "train", *step, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
  ASSERT_TRUE(b.status().ok()) << b.status();
  MonitoredTrainingSessionOptions options{.master = "grpc://" + at[1], .checkpoint_dir = folder_.path()};
  options.save_checkpoint_steps = 5;
  auto session = MonitoredTrainingSession(env_, graph, std::move(options));
  ASSERT_TRUE(session.ok()) << session.status();
  std::int64_t last = 0, steps_back = 0;
  for (int run = 0; last < 30 && run < 200; ++run) {
    if (run == 12) {
      EXPECT_EQ(ps->End(SIGKILL), -SIGKILL);
      ps = std::make_unique<ServeProcess>(cluster, "ps", 2);
    }
    const absl::StatusOr<RunResult> result = (*session)->Run(train);
    ASSERT_TRUE(result.ok()) << result.status();
    const std::int64_t now = result->values().scalar<std::int64_t>();
    if (now <= last) ++steps_back;
    last = now;
  }
  EXPECT_EQ(last, 30);
  EXPECT_EQ(steps_back, 1) << "to the last checkpoint, once";
  EXPECT_TRUE((*session)->Close().ok());
}

}  // namespace
}  // namespace vigil::cli

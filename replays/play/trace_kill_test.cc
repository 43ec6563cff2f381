// A process that trains, with real threads, on a real disk, is killed somewhere: what it did until then can be
// replayed.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/files.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/supervisor/supervisor.h"
#include "vigil/replays/format/trace_spec.h"
#include "vigil/replays/judge/result.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/stage/model.h"
#include "vigil/replays/traces/trace_file.h"

namespace vigil::replays {
namespace {

// Tells the parent of each run, and loses its session now and then.
class TellingHook : public SessionRunHook {
 public:
  explicit TellingHook(int pipe) : pipe_(pipe) {}
  std::string_view name() const override { return "telling"; }
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    if (write(pipe_, ".", 1) != 1) return MakeStatus(Code::kInternal, "the parent is gone");
    return ++runs_ % 20 == 0 ? MakeStatus(Code::kAborted, "now and then") : absl::OkStatus();
  }

 private:
  const int pipe_;
  int runs_ = 0;
};

[[noreturn]] void Train(const std::string& path, int pipe) {
  RealEnv real({.seed = 1, .log_to_stderr = false});
  ModelSpec spec;
  spec.batches = 20'000;
  spec.queue_input = true;
  const auto model = BuildModel(real.env(), spec);
  auto session = MonitoredSession::Create(
      real.env(), *(*model)->graph,
      {.hooks = {std::make_shared<TellingHook>(pipe)}, .behaviour = Behaviour::TensorFlow(), .trace_path = path});
  while (session.ok() && (*session)->Run((*model)->caller_fetches).ok()) {
  }
  _exit(1);  // it should have been killed
}

// A supervisor's managed session, with a service and a loop beside it that stops nothing.
[[noreturn]] void Supervise(const std::string& path, int pipe) {
  RealEnv real({.seed = 1, .log_to_stderr = false});
  ModelSpec spec;
  spec.batches = 20'000;
  spec.queue_input = true;
  const auto model = BuildModel(real.env(), spec);
  auto supervisor = Supervisor::Create(real.env(), *(*model)->graph, {.trace_path = path});
  if (!supervisor.ok()) _exit(1);
  (*supervisor)
      ->ManagedSession({},
                       [&](const SessionPtr& session) -> absl::Status {
                         (*supervisor)->Loop(std::chrono::milliseconds(1), [&] {
                           return RunFetch(*session, *(*supervisor)->global_step()).status();
                         });
                         RunSpec run;
                         (*model)->caller_fetches.AppendTo(*(*model)->graph, &run);
                         std::vector<Tensor> values;
                         while (!(*supervisor)->ShouldStop()) {
                           VIGIL_RETURN_IF_ERROR(session->Run({.spec = run}, &values));
                           if (write(pipe, ".", 1) != 1) return MakeStatus(Code::kInternal, "the parent is gone");
                         }
                         return absl::OkStatus();
                       })
      .IgnoreError();
  _exit(1);  // it should have been killed
}

class TraceKillTest : public testing::Test {
 protected:
  TraceKillTest() : folder_(mkdtemp(name_)) {}
  ~TraceKillTest() override {
    PosixFiles files;
    files.Remove(path()).IgnoreError();
    files.Remove(folder_).IgnoreError();
  }
  std::string path() const { return folder_ + "/x.trace"; }

  // The trace of a process that was killed after so many runs, in the middle of something.
  using Program = void (*)(const std::string& path, int pipe);
  std::string TraceOfKilled(Program program, int runs) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      program(path(), ends[1]);
    }
    close(ends[1]);
    char byte = 0;
    for (int i = 0; i < runs; ++i) EXPECT_EQ(read(ends[0], &byte, 1), 1);
    EXPECT_EQ(kill(child, SIGKILL), 0);
    int how = 0;
    EXPECT_EQ(waitpid(child, &how, 0), child);
    EXPECT_TRUE(WIFSIGNALED(how));
    close(ends[0]);
    PosixFiles files;
    const absl::StatusOr<std::string> bytes = ReadAll(files, path());
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    files.Remove(path()).IgnoreError();
    return bytes.value_or("");
  }

  // Each run that the parent has heard of left at least one event of this kind and call.
  void ExpectReplayed(Program program, int runs, EventKind kind, int call) {
    const std::string bytes = TraceOfKilled(program, runs);
    const absl::StatusOr<Recording> recording = ParseTrace(bytes, "x.trace");
    ASSERT_TRUE(recording.ok()) << recording.status();
    EXPECT_FALSE(recording->scenario.trace->complete);
    EXPECT_NE(recording->note, "");
    int told = 0;
    for (const TracedEvent& each : recording->scenario.trace->events)
      told += each.event.kind == kind && each.event.call == call;
    EXPECT_GE(told, runs);
    const Result result = Judge(*recording, runner_.Run(recording->scenario));
    EXPECT_EQ(result.status, Status::kPassed) << runs << ": " << result.reason << "\n" << result.difference.report;
  }

  char name_[32] = "/tmp/vigil_trace_XXXXXX";
  const std::string folder_;
  Runner runner_;
};

TEST_F(TraceKillTest, WhatWasDoneBeforeCanBeReplayed) {
  for (const int runs : {1, 2, 3, 5, 8, 13, 19, 20, 21, 40, 90})
    ExpectReplayed(Train, runs, EventKind::kHookCall, static_cast<int>(HookMethod::kAfterRun));
}

TEST_F(TraceKillTest, WhatASupervisorDidBeforeCanBeReplayed) {
  for (const int runs : {1, 2, 5, 20, 60})
    ExpectReplayed(Supervise, runs, EventKind::kSupervisorReturn, static_cast<int>(SupervisorMethod::kShouldStop));
}

}  // namespace
}  // namespace vigil::replays

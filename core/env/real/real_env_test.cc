// What is particular to the real env. What every env promises is tested in properties/contracts.
#include "vigil/core/env/real/real_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "vigil/core/base/code.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/core/env/real/posix_stop_signals.h"
#include "vigil/core/env/real/seeded_random.h"
#include "vigil/core/env/real/stderr_log.h"
#include "vigil/core/env/real/threads.h"

namespace vigil {
namespace {

TEST(RealEnv, GivesTheSameDrawsForTheSameSeed) {
  RealEnv first;
  RealEnv again({.seed = first.seed()});
  RealEnv other({.seed = first.seed() + 1});
  const std::uint64_t draw = first.env().random->Draw("a");
  again.env().random->Draw("b");  // shifts no other stream
  EXPECT_EQ(again.env().random->Draw("a"), draw);
  EXPECT_NE(other.env().random->Draw("a"), draw);
}

TEST(RealEnv, GivesNobodyElseWhatItGaveAsUnique) {
  RealEnv first({.seed = 1});
  RealEnv again({.seed = 1});
  EXPECT_NE(first.env().random->Unique("a"), again.env().random->Unique("a"));
  EXPECT_EQ(first.env().random->Draw("a"), again.env().random->Draw("a"));
}

TEST(RealEnv, HasNoEventSinkUnlessGiven) {
  EXPECT_EQ(RealEnv().env().events, nullptr);
  class Sink final : public EventSink {
    void Emit(const Event&) override {}
  } sink;
  EXPECT_EQ(RealEnv({.events = &sink}).env().events, &sink);
}

// How many pages the system gives this thread for some megabytes, allocated and freed by turns.
long PagesGiven(int rounds) {
  constexpr std::size_t kBytes = std::size_t{9} << 20;
  rusage before{}, after{};
  getrusage(RUSAGE_THREAD, &before);
  for (int i = 0; i < rounds; ++i) {
    std::array<std::unique_ptr<char[]>, 3> blocks;
    for (std::unique_ptr<char[]>& block : blocks) {
      block = std::make_unique_for_overwrite<char[]>(kBytes);
      for (std::size_t at = 0; at < kBytes; at += 4096) static_cast<volatile char*>(block.get())[at] = 1;
    }
  }
  getrusage(RUSAGE_THREAD, &after);
  return after.ru_minflt - before.ru_minflt;
}

TEST(RealEnv, WhatIsFreedIsKeptForTheNextStep) {
  const RealEnv real;
  PagesGiven(2);
  const long pages = PagesGiven(5);
  const bool is_another_allocator = mallinfo2().arena == 0;  // the address sanitizer's
  EXPECT_TRUE(pages < 3 * (9 << 20) / 4096 || is_another_allocator) << pages << ": all of it anew, at least once";
}

TEST(StderrLog, WritesTimeSeverityAndText) {
  const Time time{std::chrono::seconds(86400 + 3661) + std::chrono::microseconds(42)};
  EXPECT_EQ(FormatLogLine(time, Severity::kInfo, "text {}"), "1970-01-02 01:01:01.000042 I text {}\n");
  EXPECT_EQ(FormatLogLine(time, Severity::kWarning, ""), "1970-01-02 01:01:01.000042 W \n");
  EXPECT_EQ(FormatLogLine(time, Severity::kError, "e"), "1970-01-02 01:01:01.000042 E e\n");
}

TEST(StderrLog, SaysNothingWhenSwitchedOff) {
  RealEnv quiet({.log_to_stderr = false});
  RealEnv loud;
  testing::internal::CaptureStderr();
  quiet.env().log->Write(Severity::kError, "nobody hears this");
  loud.env().log->Write(Severity::kError, "heard");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::EndsWith(" E heard\n"));
}

TEST(StderrLog, WritesNothingBelowItsThreshold) {
  RealEnv real({.log_threshold = Severity::kWarning});
  testing::internal::CaptureStderr();
  real.env().log->Write(Severity::kInfo, "not this");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  real.env().log->Write(Severity::kWarning, "this");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::EndsWith(" W this\n"));
}

// Without a writer, opening it in the plain way would wait for ever.
TEST(PosixFiles, APipeIsNoFileToRead) {
  const std::string path = testing::TempDir() + "/vigil_pipe";
  std::remove(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  PosixFiles files;
  const absl::Status status = files.Open(path, OpenMode::kRead).status();
  EXPECT_EQ(CodeOf(status), Code::kFailedPrecondition);
  EXPECT_THAT(MessageOf(status), testing::HasSubstr("vigil_pipe: a pipe"));
  std::remove(path.c_str());
}

TEST(PosixError, MapsErrnoToTheCodesOfTheSeam) {
  const struct {
    int error;
    Code code;
  } rows[] = {
      {ENOENT, Code::kNotFound},
      {EEXIST, Code::kAlreadyExists},
      {EACCES, Code::kPermissionDenied},
      {EROFS, Code::kPermissionDenied},
      {ENOSPC, Code::kResourceExhausted},
      {EDQUOT, Code::kResourceExhausted},
      {EMFILE, Code::kResourceExhausted},
      {EISDIR, Code::kFailedPrecondition},
      {ENOTDIR, Code::kFailedPrecondition},
      {ENOTEMPTY, Code::kFailedPrecondition},
      {EIO, Code::kUnknown},
      {EXDEV, Code::kUnknown},
  };
  for (const auto& row : rows) EXPECT_EQ(CodeOf(PosixError(row.error, "open", "/a")), row.code) << row.error;
  EXPECT_EQ(MessageOf(PosixError(ENOSPC, "append to", "/a/b")), "append to /a/b: No space left on device");
}

TEST(PosixFiles, TheEmptyPathIsTheWorkingDirectory) {
  PosixFiles files;
  EXPECT_TRUE(files.Stat("")->is_directory);
  EXPECT_EQ(files.Stat("")->identity, files.Stat("././")->identity);
  EXPECT_NE(files.Stat("")->identity, files.Stat("..")->identity);
  EXPECT_TRUE(files.List("").ok());
  EXPECT_EQ(CodeOf(files.Open("", OpenMode::kRead).status()), Code::kFailedPrecondition);
}

TEST(PosixFiles, AFullDeviceIsReported) {
  PosixFiles files;
  auto full = files.Open("/dev/full", OpenMode::kTruncate);
  ASSERT_TRUE(full.ok()) << full.status();
  const absl::Status status = (*full)->Append("x");
  EXPECT_EQ(CodeOf(status), Code::kResourceExhausted);
  EXPECT_EQ(MessageOf(status), "append to /dev/full: No space left on device");
}

// To make a thread costs more than to wake one.
TEST(RealEnv, AThreadIsUsedAgain) {
  RealEnv real;
  Tasks& tasks = *real.env().tasks;
  std::set<pid_t> threads;  // the system gives no number twice as soon as this
  constexpr std::size_t kTasks = 1000;
  for (std::size_t i = 0; i < kTasks; ++i) {
    tasks.Spawn("one of many", [&] { threads.insert(gettid()); })->Join(kNever);
  }
  EXPECT_LT(threads.size(), kTasks);
}

#ifndef VIGIL_SANITIZES_THREAD  // which lets no forked process make threads
TEST(RealEnv, AForkedProcessHasItsOwnThreads) {
  auto tasks = std::make_unique<Threads>();
  for (int i = 0; i < 10; ++i) tasks->Spawn("of the parent", [] {})->Join(kNever);
  ASSERT_TRUE(tasks->WaitForAll(std::chrono::minutes(1)).empty());
  const auto run_tasks = [&tasks] {
    for (int i = 0; i < 10; ++i) tasks->Spawn("of the child", [] {})->Join(kNever);
    tasks = nullptr;
    _exit(0);
  };
  EXPECT_EXIT(run_tasks(), testing::ExitedWithCode(0), "");
}
#endif

TEST(RealEnv, WhatATaskThatIsStillRunningUsesStays) {
  std::promise<void> go;
  std::promise<Time> read;
  {
    RealEnv real({.log_to_stderr = false});
    const Env env = real.env();
    env.tasks->Spawn("straggler", [env, wait = go.get_future().share(), &read] {
      wait.wait();
      const auto mutex = env.tasks->NewMutex("used late");
      const MutexLock lock(*mutex);
      env.log->Write(Severity::kInfo, "still here");
      read.set_value(env.clock->Monotonic());
    });
  }
  go.set_value();
  EXPECT_GT(read.get_future().get(), Time{});
}

TEST(PosixStopSignals, TheFirstSignalIsTold) {
  RealEnv real;
  std::promise<std::string> told;
  std::promise<std::string> too;
  auto watch = real.env().signals->Watch([&](std::string_view name) { told.set_value(std::string(name)); });
  auto other = real.env().signals->Watch([&](std::string_view name) { too.set_value(std::string(name)); });
  ASSERT_TRUE(watch.ok()) << watch.status();
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(CodeOf(RealEnv().env().signals->Watch([](std::string_view) {}).status()), Code::kAlreadyExists);
  raise(SIGTERM);
  EXPECT_EQ(told.get_future().get(), "SIGTERM");
  EXPECT_EQ(too.get_future().get(), "SIGTERM");
}

TEST(PosixStopSignals, WithoutAWatchTheSignalMeansWhatItMeantBefore) {
  struct sigaction ignored = {};
  struct sigaction before = {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGTERM, &ignored, &before);
  RealEnv real;
  {
    const auto watch = real.env().signals->Watch([](std::string_view) {});
    ASSERT_TRUE(watch.ok());
  }
  struct sigaction now = {};
  sigaction(SIGTERM, &before, &now);
  EXPECT_EQ(now.sa_handler, SIG_IGN);
}

TEST(PosixStopSignalsDeathTest, TheSecondSignalEndsTheProgramAtOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        RealEnv real;
        std::promise<void> told;
        const auto watch = real.env().signals->Watch([&](std::string_view) { told.set_value(); });
        raise(SIGTERM);
        told.get_future().get();
        raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace vigil

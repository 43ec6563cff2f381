// What the machine took for itself is told apart from what a job took.
#include "vigil/replays/real/stalls.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "vigil/core/env/forwarding.h"
#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"

namespace vigil::replays {
namespace {

using namespace std::chrono_literals;
using sim::JobMoment;

// A disk whose next sync takes that long.
class SlowDisk final : public ForwardingFiles {
 public:
  SlowDisk(Files& inner, fakes::ManualClock& clock) : ForwardingFiles(inner), clock_(clock) {}
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    absl::StatusOr<std::unique_ptr<File>> file = inner().Open(path, mode);
    if (!file.ok()) return file;
    return std::make_unique<Slow>(*std::move(file), *this);
  }
  Duration next{0};

 private:
  class Slow final : public ForwardingFile {
   public:
    Slow(std::unique_ptr<File> inner, SlowDisk& disk) : ForwardingFile(std::move(inner)), disk_(disk) {}
    absl::Status Sync() override {
      disk_.clock_.Advance(std::exchange(disk_.next, Duration(0)));
      return ForwardingFile::Sync();
    }

   private:
    SlowDisk& disk_;
  };
  fakes::ManualClock& clock_;
};

class StallsTest : public ::testing::Test {
 protected:
  void LookAfter(Duration slept, Duration sync) {
    clock_.Advance(slept);
    disk_.next = sync;
    stalls_.Look();
  }
  Time Since(Duration start) const { return start_ + start; }

  fakes::ManualClock clock_;
  const Time start_ = clock_.Now();
  fakes::MemoryFiles files_{clock_};
  SlowDisk disk_{files_, clock_};
  Stalls stalls_{clock_, disk_, "looks"};
};

TEST_F(StallsTest, AMachineThatRunsExcusesNothing) {
  for (int i = 0; i < 100; ++i) LookAfter(Stalls::kBetweenLooks + 40ms, 100ms);
  EXPECT_EQ(stalls_.Within(start_, clock_.Now()), Duration(0));
}

TEST_F(StallsTest, ADiskAndAProcessorThatStandStillAreSeen) {
  LookAfter(0s, 0s);
  LookAfter(Stalls::kBetweenLooks, 3s);       // 0.1 to 3.1: the disk
  LookAfter(Stalls::kBetweenLooks + 2s, 0s);  // 3.2 to 5.2: nobody ran
  EXPECT_EQ(stalls_.Within(start_, clock_.Now()), Duration(5s));
  EXPECT_EQ(stalls_.Within(Since(1s), Since(2s)), Duration(1s));
  EXPECT_EQ(stalls_.Within(Since(3s), Since(4s)), Duration(900ms));
  EXPECT_EQ(stalls_.Within(Since(6s), Since(9s)), Duration(0));
}

TEST_F(StallsTest, OnlyWhatFellIntoTheLongestRunOfTheTaskCounts) {
  LookAfter(0s, 0s);
  LookAfter(Stalls::kBetweenLooks, 3s);  // 0.1 to 3.1
  const auto run = [this](const char* task, Duration from, Duration to) -> sim::JobHistory {
    return {{.at = Since(from), .task = task, .kind = JobMoment::Kind::kRunStarted},
            {.at = Since(to), .task = task, .kind = JobMoment::Kind::kRunReturned}};
  };
  sim::JobHistory history = run("chief:0", 2s, 4s);
  for (const auto& more : {run("worker:0", 0s, 1s), run("worker:0", 5s, 9s), run("worker:1", 1s, 2s)})
    history.insert(history.end(), more.begin(), more.end());
  EXPECT_EQ(StillInLongestRun(stalls_, history, "chief:0"), Duration(1100ms));
  EXPECT_EQ(StillInLongestRun(stalls_, history, "worker:0"), Duration(0)) << "its longest was later";
  EXPECT_EQ(StillInLongestRun(stalls_, history, "worker:1"), Duration(1s));
  EXPECT_EQ(StillInLongestRun(stalls_, history, "ps:0"), Duration(0));
}

}  // namespace
}  // namespace vigil::replays

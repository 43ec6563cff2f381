// File writers on a real disk that many threads add to, flush, close and open again.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/summary/file_writer.h"
#include "vigil/core/summary/summary_writer_cache.h"
#include "vigil/core/summary/testing.h"
#include "vigil/stress/testing.h"
#include "vigil/stress/threads/pausing_env.h"

namespace vigil::stress {
namespace {

constexpr int kAdders = 6;
constexpr int kAdded = 50;

// How many summaries the events files of a folder hold. Each of them is whole.
int SummariesIn(Files& files, const std::string& folder) {
  int summaries = 0;
  for (const std::string& path : EventsFiles(files, folder)) {
    for (const proto::Event& event : ReadEvents(files, path)) summaries += event.has_summary() ? 1 : 0;
  }
  return summaries;
}

TEST(SummaryThreadsTest, NothingIsLostBetweenManyAddersAndFlushes) {
  PausingEnv pausing;
  const Env env = pausing.env();
  for (int round = 0; round < 12 && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(round);
    const Folder folder;
    const auto writer = NewFileWriter(env, {.logdir = folder.path(), .max_queue = round % 4});
    ASSERT_TRUE(writer.ok()) << writer.status();
    pausing.InParallel(kAdders, [&](int adder) {
      for (int i = 0; i < kAdded; ++i) {
        EXPECT_TRUE((*writer)->AddScalar("tag" + std::to_string(adder), i, i).ok());
        if (pausing.draws().Below(20) == 0) {
          EXPECT_TRUE((*writer)->Flush().ok());
        }
      }
    });
    if (round % 2 == 0) {
      EXPECT_TRUE((*writer)->Close().ok());
    } else {
      EXPECT_TRUE((*writer)->Flush().ok());
    }
    EXPECT_EQ(SummariesIn(*env.files, folder.path()), kAdders * kAdded);
    EXPECT_TRUE((*writer)->Close().ok());
  }
}

TEST(SummaryThreadsTest, WhatIsClosedAndOpenedAgainInTheMiddleStaysWhole) {
  PausingEnv pausing;
  const Env env = pausing.env();
  const Folder folder;
  const auto writer = NewFileWriter(env, {.logdir = folder.path(), .max_queue = 2});
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::atomic<int> added{0};
  pausing.InParallel(kAdders + 2, [&](int i) {
    for (int call = 0; call < kAdded; ++call) {
      if (i < kAdders) {
        ++added;
        EXPECT_TRUE((*writer)->AddScalar("tag", call, call).ok());
      } else {
        EXPECT_TRUE((*writer)->Close().ok());
        EXPECT_TRUE((*writer)->Reopen().ok());
      }
      if (i == 0) {
        EXPECT_TRUE((*writer)->Flush().ok());
      }
    }
  });
  EXPECT_TRUE((*writer)->Close().ok());
  EXPECT_TRUE((*writer)->Reopen().ok());
  EXPECT_TRUE((*writer)->AddScalar("last", 1, 1).ok());
  EXPECT_TRUE((*writer)->Close().ok());
  EXPECT_EQ(CheckEvents(env, folder.path()), "OK");
  EXPECT_GE(SummariesIn(*env.files, folder.path()), 1);
  EXPECT_LE(SummariesIn(*env.files, folder.path()), added + 1);
}

TEST(SummaryThreadsTest, ACacheThatIsClearedWhileItIsUsedLosesNoFile) {
  PausingEnv pausing;
  const Env env = pausing.env();
  const Folder folder;
  const std::vector<std::string> folders = {folder.path() + "/a", folder.path() + "/b"};
  std::atomic<int> added{0};
  pausing.InParallel(kAdders, [&](int i) {
    for (int call = 0; call < kAdded; ++call) {
      if (i == 0 && call % 5 == 0) {
        EXPECT_TRUE(SummaryWriterCacheClear(env).ok());
      }
      const auto writer = GetCachedWriter(env, folders[static_cast<std::size_t>((i + call) % 2)], nullptr);
      ++added;
      EXPECT_TRUE(writer->AddScalar("tag", call, call).ok());
      if (i == 1 && call % 5 == 0) {
        EXPECT_TRUE(writer->Flush().ok());
      }
    }
  });
  EXPECT_TRUE(SummaryWriterCacheClear(env).ok());
  int kept = 0;
  for (const std::string& each : folders) {
    EXPECT_EQ(CheckEvents(env, each), "OK");
    kept += SummariesIn(*env.files, each);
  }
  EXPECT_GE(kept, 1);
  EXPECT_LE(kept, added);
}

}  // namespace
}  // namespace vigil::stress

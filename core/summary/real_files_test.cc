// Events files on a real disk, written by real threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/summary/events_file.h"
#include "vigil/core/summary/file_writer.h"
#include "vigil/core/summary/summary_writer_cache.h"
#include "vigil/core/summary/testing.h"
#include "vigil/fakes/summary/summary_of.h"

namespace vigil {
namespace {

using testing::SizeIs;

class RealFilesTest : public testing::Test {
 protected:
  RealFilesTest() {
    std::string pattern = testing::TempDir() + "/events.XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~RealFilesTest() override {
    const Env env = reader_.env();
    const absl::StatusOr<std::vector<std::string>> names = env.files->List(directory_);
    for (const std::string& name : *names) {
      EXPECT_TRUE(env.files->Remove(JoinPath(directory_, name)).ok());
    }
    EXPECT_TRUE(env.files->Remove(directory_).ok());
  }
  // The events of the one file there must be, without its version.
  std::vector<std::string> Texts() {
    const std::vector<std::string> paths = EventsFiles(*reader_.env().files, directory_);
    EXPECT_THAT(paths, SizeIs(1));
    return paths.empty() ? std::vector<std::string>() : EventTexts(*reader_.env().files, paths[0]);
  }

  RealEnv reader_{{.log_to_stderr = false}};
  std::string directory_;
};

TEST_F(RealFilesTest, ManyTasksWriteOneFile) {
  constexpr int kTasks = 4;
  constexpr int kEvents = 500;
  const Env env = reader_.env();
  const auto writer = *NewFileWriter(env, {.logdir = directory_});
  std::vector<std::unique_ptr<Task>> tasks;
  for (int task = 0; task < kTasks; ++task) {
    tasks.push_back(env.tasks->Spawn("producer", [&writer, task] {
      for (int i = 0; i < kEvents; ++i) {
        EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{std::to_string(task), static_cast<float>(i)}}), i).ok());
        if (i % 100 != 0) continue;
        EXPECT_TRUE(writer->Flush().ok());
      }
    }));
  }
  for (const auto& task : tasks) task->Join(kNever);
  EXPECT_TRUE(writer->Close().ok());
  const std::vector<std::string> texts = Texts();
  EXPECT_THAT(texts, SizeIs(kTasks * kEvents));
  for (int task = 0; task < kTasks; ++task) {  // each task's own in its order
    int next = 0;
    for (const std::string& text : texts) {
      if (text.find("tag: \"" + std::to_string(task) + "\"") == std::string::npos) continue;
      if (next > 0) {
        EXPECT_TRUE(text.starts_with("step: " + std::to_string(next) + " ")) << text;
      }
      ++next;
    }
    EXPECT_EQ(next, kEvents);
  }
}

TEST_F(RealFilesTest, TheEndOfTheProcessKeepsWhatWasCached) {
  {
    RealEnv real({.log_to_stderr = false});
    Graph graph(BuiltinOps());
    const auto writer = GetCachedWriter(real.env(), directory_, &graph);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), i).ok());
  }
  EXPECT_THAT(Texts(), SizeIs(102));
}

TEST_F(RealFilesTest, AWriterMayBeDroppedWithItsEnv) {
  for (int i = 0; i < 20; ++i) {
    RealEnv real({.log_to_stderr = false});
    const auto writer = *NewFileWriter(real.env(), {.logdir = directory_});
    EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), i).ok());
    EXPECT_TRUE(writer->Flush().ok());
  }
}

TEST_F(RealFilesTest, AFullDiskIsReported) {
  const Env env = reader_.env();
  // Whatever second it is when the file is opened, its name leads to a device that is always full.
  for (int i = 0; i < 100; ++i) {
    const std::string name = EventsFileName(env.clock->Now() + std::chrono::seconds(i), "localhost", "");
    ASSERT_EQ(::symlink("/dev/full", JoinPath(directory_, name).c_str()), 0);
  }
  // TensorFlow's behaviour opens what is there; the default would look for a name that nobody has.
  const auto writer = *NewFileWriter(env, {.logdir = directory_, .behaviour = Behaviour::TensorFlow()});
  EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), 1).ok());
  const absl::Status status = writer->Flush();
  EXPECT_EQ(CodeOf(status), Code::kResourceExhausted) << status;
  EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), 2).ok());  // closed: a warning
  EXPECT_TRUE(writer->Close().ok());
}

}  // namespace
}  // namespace vigil

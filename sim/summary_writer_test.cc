// Summary writers in simulated processes: whatever the schedule, the disk and the end of the process do, nobody hangs
// and what was flushed is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/io/event.pb.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/summary/summary_writer_cache.h"
#include "vigil/sim/world.h"

namespace vigil::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kLogs[] = "/logs";
constexpr int kProducers = 3;
constexpr int kEvents = 20;  // of each producer

// A disk that takes its time, and fails from the n-th append on (0 = never).
class TroubledFiles final : public Files {
 public:
  TroubledFiles(const Env& env, Duration append_takes, int fails_at)
      : env_(env), append_takes_(append_takes), fails_at_(fails_at) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    auto file = env_.files->Open(path, mode);
    if (!file.ok()) return file.status();
    return std::make_unique<TroubledFile>(*this, *std::move(file));
  }
  absl::Status Rename(const std::string& from, const std::string& to) override { return env_.files->Rename(from, to); }
  absl::Status Remove(const std::string& path) override { return env_.files->Remove(path); }
  absl::StatusOr<FileInfo> Stat(const std::string& path) override { return env_.files->Stat(path); }
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    return env_.files->List(directory);
  }
  absl::Status MakeDirectory(const std::string& path) override { return env_.files->MakeDirectory(path); }
  absl::Status SyncDirectory(const std::string& path) override { return env_.files->SyncDirectory(path); }

 private:
  class TroubledFile final : public File {
   public:
    TroubledFile(TroubledFiles& disk, std::unique_ptr<File> file) : disk_(disk), file_(std::move(file)) {}
    absl::Status Append(std::string_view data) override {
      if (disk_.append_takes_ > Duration(0)) {
        disk_.env_.tasks->SleepUntil(DeadlineAfter(disk_.env_, disk_.append_takes_));
      }
      const int number = ++disk_.appends_;
      if (disk_.fails_at_ > 0 && number >= disk_.fails_at_) return MakeStatus(Code::kResourceExhausted, "no space");
      return file_->Append(data);
    }
    absl::StatusOr<std::string> Read(std::uint64_t offset, std::uint64_t size) override {
      return file_->Read(offset, size);
    }
    absl::Status Sync() override { return file_->Sync(); }
    absl::Status Close() override { return file_->Close(); }

   private:
    TroubledFiles& disk_;
    const std::unique_ptr<File> file_;
  };

  const Env env_;
  const Duration append_takes_;
  const int fails_at_;
  int appends_ = 0;
};

std::string SummaryOf(const std::string& tag) {
  proto::Summary summary;
  summary.add_value()->set_tag(tag);
  return summary.SerializeAsString();
}

// The steps of each tag, in order, in all whole records of all events files; how many files there are.
struct Written {
  std::map<std::string, std::vector<std::int64_t>> steps;
  int files = 0;
};

Written Read(const fakes::MemoryFiles& disk) {
  Written written;
  for (const auto& [path, bytes] : disk.Contents()) {
    ++written.files;
    RecordReader reader(bytes);
    for (auto record = reader.Next(); record.ok() && record->has_value(); record = reader.Next()) {
      proto::Event event;
      EXPECT_TRUE(event.ParseFromArray((*record)->data(), static_cast<int>((*record)->size())));
      for (const auto& value : event.summary().value()) written.steps[value.tag()].push_back(event.step());
    }
  }
  return written;
}

struct Trouble {
  Duration append_takes{0};
  int fails_at = 0;
  Duration killed_after{0};  // 0 = never
};

// Producers share the cached writer of a process; the last one to end clears the cache.
struct WriterRun {
  WriterRun(std::uint64_t seed, const Trouble& trouble)
      : chooser(seed),
        world({.chooser = &chooser, .seed = seed, .preempt = Preempt::kAtCalls}),
        node(world.AddNode("chief")) {
    env = node.env();
    files.emplace(env, trouble.append_takes, trouble.fails_at);
    env.files = &*files;
    for (int p = 0; p < kProducers; ++p) node.Spawn("p" + std::to_string(p), [this, p] { Produce(p); });
    if (trouble.killed_after > Duration(0)) {
      world.AddNode("other").Spawn("killer", [this, trouble] {
        world.AdvanceBy(trouble.killed_after);
        node.Kill();
      });
    }
    result = world.Run();
  }

  void Produce(int p) {
    const auto writer = GetCachedWriter(env, kLogs, nullptr);
    const std::string tag = std::to_string(p);
    for (int i = 1; i <= kEvents; ++i) {
      absl::Status status = writer->AddSummary(SummaryOf(tag), i);
      if (i % 7 == 0) {
        status.Update(writer->Flush());
        if (status.ok()) flushed[tag] = i;
      }
      if (!status.ok()) errors.push_back(CodeOf(status));
      if (i % 5 == 0) world.AdvanceBy(milliseconds(1));
    }
    if (++ended == kProducers && CodeOf(SummaryWriterCacheClear(env)) != Code::kOk) errors.push_back(Code::kDataLoss);
  }

  RandomChooser chooser;
  World world;
  Node& node;
  Env env;
  std::optional<TroubledFiles> files;
  std::map<std::string, std::int64_t> flushed;  // the last step of each tag for which Flush() said so
  std::vector<Code> errors;
  int ended = 0;
  WorldResult result;
};

TEST(SimulatedSummaryWriter, WritesEverythingUnderAnySchedule) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    WriterRun run(seed, {.append_takes = milliseconds(seed % 3)});
    ASSERT_EQ(run.result.verdict, WorldVerdict::kDone) << seed << run.result.report;
    EXPECT_TRUE(run.errors.empty());
    const Written written = Read(run.node.disk());
    EXPECT_EQ(written.files, 1);
    std::vector<std::int64_t> all;
    for (int i = 1; i <= kEvents; ++i) all.push_back(i);
    for (int p = 0; p < kProducers; ++p) EXPECT_EQ(written.steps.at(std::to_string(p)), all) << seed;
  }
}

TEST(SimulatedSummaryWriter, AFullDiskIsSaidAndNobodyWaitsForIt) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    WriterRun run(seed, {.append_takes = milliseconds(seed % 2), .fails_at = 1 + static_cast<int>(seed % 4)});
    ASSERT_EQ(run.result.verdict, WorldVerdict::kDone) << seed << run.result.report;
    EXPECT_EQ(run.ended, kProducers);
    EXPECT_FALSE(run.errors.empty()) << seed;
  }
}

TEST(SimulatedSummaryWriter, TheEndOfTheProcessKeepsWhatWasFlushed) {
  int interrupted = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    WriterRun run(seed, {.append_takes = milliseconds(1), .killed_after = Duration(250'000 * (1 + seed % 100))});
    ASSERT_EQ(run.result.verdict, WorldVerdict::kDone) << seed << run.result.report;
    interrupted += run.ended < kProducers ? 1 : 0;
    const Written written = Read(run.node.disk());
    for (const auto& [tag, step] : run.flushed) {
      ASSERT_TRUE(written.steps.contains(tag)) << seed;
      EXPECT_GE(written.steps.at(tag).back(), step) << seed;
    }
  }
  EXPECT_GT(interrupted, 50);
}

TEST(SimulatedSummaryWriter, ARestartedProcessHasACacheOfItsOwn) {
  World world{WorldOptions{}};
  Node& node = world.AddNode("chief");
  node.Spawn("main", [&] {
    const auto writer = GetCachedWriter(node.env(), kLogs, nullptr);
    EXPECT_TRUE(writer->AddSummary(SummaryOf("a"), 1).ok());
    EXPECT_TRUE(writer->Flush().ok());
    EXPECT_TRUE(writer->AddSummary(SummaryOf("a"), 2).ok());  // lost
    node.Kill();
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  node.Restart();
  node.Spawn("main", [&] {
    world.AdvanceBy(seconds(1));
    const auto writer = GetCachedWriter(node.env(), kLogs, nullptr);
    EXPECT_TRUE(writer->AddSummary(SummaryOf("a"), 3).ok());
    EXPECT_TRUE(SummaryWriterCacheClear(node.env()).ok());
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  const Written written = Read(node.disk());
  EXPECT_EQ(written.files, 2);
  EXPECT_EQ(written.steps.at("a"), (std::vector<std::int64_t>{1, 3}));
}

}  // namespace
}  // namespace vigil::sim

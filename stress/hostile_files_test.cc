// Real files that fail: a disk that fills up, I/O errors, no descriptors left. A save may fail; what was saved stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/env/forwarding.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/stress/testing.h"

namespace vigil::stress {
namespace {

// One call in `one_in` fails, with a code for each cause.
class HostileFiles : public ForwardingFiles {
 public:
  HostileFiles(Files& inner, std::uint64_t seed, unsigned one_in)
      : ForwardingFiles(inner), random_(seed), one_in_(one_in) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    if (absl::Status status = Next(); !status.ok()) return status;
    absl::StatusOr<std::unique_ptr<File>> file = inner().Open(path, mode);
    if (!file.ok()) return file;
    return std::make_unique<HostileFile>(*this, *std::move(file));
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    const absl::Status status = Next();
    return status.ok() ? inner().Rename(from, to) : status;
  }
  absl::Status Remove(const std::string& path) override {
    const absl::Status status = Next();
    return status.ok() ? inner().Remove(path) : status;
  }
  absl::StatusOr<FileInfo> Stat(const std::string& path) override {
    if (absl::Status status = Next(); !status.ok()) return status;
    return inner().Stat(path);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    if (absl::Status status = Next(); !status.ok()) return status;
    return inner().List(directory);
  }
  absl::Status MakeDirectory(const std::string& path) override {
    const absl::Status status = Next();
    return status.ok() ? inner().MakeDirectory(path) : status;
  }
  absl::Status SyncDirectory(const std::string& directory) override {
    const absl::Status status = Next();
    return status.ok() ? inner().SyncDirectory(directory) : status;
  }

 private:
  class HostileFile : public ForwardingFile {
   public:
    HostileFile(HostileFiles& files, std::unique_ptr<File> inner) : ForwardingFile(std::move(inner)), files_(files) {}
    absl::Status Append(std::string_view data) override {
      const absl::Status status = files_.Next();
      return status.ok() ? ForwardingFile::Append(data) : status;
    }
    absl::StatusOr<std::string> Read(std::uint64_t offset, std::uint64_t size) override {
      if (absl::Status status = files_.Next(); !status.ok()) return status;
      return ForwardingFile::Read(offset, size);
    }
    absl::Status Sync() override {
      const absl::Status status = files_.Next();
      return status.ok() ? ForwardingFile::Sync() : status;
    }

   private:
    HostileFiles& files_;
  };

  absl::Status Next() {
    if (random_() % one_in_ != 0) return absl::OkStatus();
    return PosixError(random_() % 2 == 0 ? EIO : EMFILE, "use", "a file");
  }

  std::minstd_rand random_;
  const unsigned one_in_;
};

TEST(HostileFilesTest, WhatWasSavedStaysWhateverFails) {
  const Folder folder;
  RealEnv real({.log_to_stderr = false});
  std::int64_t saved = 0;
  int failed = 0;
  Tally tally;
  constexpr int kRounds = 100;
  for (int round = 1; round <= kRounds; ++round) {
    HostileFiles hostile(*real.env().files, static_cast<std::uint64_t>(round), round % 3 == 0 ? 200 : 40);
    Env env = real.env();
    env.files = &hostile;
    Model model(env, round);
    for (std::int64_t step = 2 * round; step < 2 * round + 2; ++step) {
      const bool fine = model.Save(folder.path(), step).ok();
      const std::int64_t newest = StepOfNewest(real.env(), folder.path());
      if (fine) saved = step;
      failed += fine ? 0 : 1;
      ++tally["saves_among_errors"];
      tally["of_those_refused"] += fine ? 0 : 1;
      if (saved == 0) continue;
      ASSERT_GE(newest, saved) << Newest(real.env(), folder.path());
      ASSERT_LE(newest, step);
      ++tally["checkpoints_read"];
    }
  }
  EXPECT_GT(failed, kRounds / 10);
  EXPECT_GT(saved, kRounds);
  // The list was kept through all of it: but for those of failed saves no more than the newest 3 are there.
  Model last(real.env(), 0);
  ASSERT_TRUE(last.Save(folder.path(), 2 * kRounds + 2).ok());
  int listed = 0;
  const auto state = GetCheckpointState(real.env(), folder.path());
  ASSERT_TRUE(state.ok() && state->has_value());
  listed = static_cast<int>((*state)->all_model_checkpoint_paths.size());
  EXPECT_LE(listed, 3);
}

// A disk that can be full: a small one of its own for who may mount one, else files that may not grow.
class SmallDisk {
 public:
  SmallDisk() : mounted_(mount("tmpfs", place_.path().c_str(), "tmpfs", 0, "size=200k") == 0) {
    signal(SIGXFSZ, SIG_IGN);  // the error is what is wanted
  }
  ~SmallDisk() {
    Free();
    if (!mounted_) return;
    EXPECT_EQ(umount(place_.path().c_str()), 0);
  }
  const std::string& path() const { return place_.path(); }
  void Fill(std::size_t chunk) {
    if (!mounted_) return SetLimit(1000);
    const auto file = files_.Open(filler(), OpenMode::kTruncate);
    ASSERT_TRUE(file.ok());
    while ((*file)->Append(std::string(chunk, 'x')).ok()) {
    }
  }
  void Free() {
    if (!mounted_) return SetLimit(RLIM_INFINITY);
    files_.Remove(filler()).IgnoreError();
  }

 private:
  std::string filler() const { return path() + "/filler"; }
  static void SetLimit(rlim_t bytes) {
    rlimit limit{};
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = std::min(bytes, limit.rlim_max);
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }

  const Folder place_;
  const bool mounted_;
  PosixFiles files_;
};

TEST(HostileFilesTest, AFullDiskKeepsWhatIsOnItAndGoesOnOnceThereIsRoom) {
  SmallDisk disk;
  RealEnv real({.log_to_stderr = false});
  Model model(real.env(), 1, 4000);  // 32 kB: three are kept, a fourth is there while they are swapped
  std::int64_t step = 0;
  Tally tally;
  for (int round = 1; round <= 20; ++round) {
    for (int i = 0; i < 3; ++i) {
      model.Train();
      const absl::Status saved = model.Save(disk.path(), ++step);
      ASSERT_TRUE(saved.ok()) << saved;
    }
    disk.Fill(std::size_t{1} << (round % 12));
    model.Train();
    const absl::Status full = model.Save(disk.path(), step + 1);
    EXPECT_EQ(CodeOf(full), Code::kResourceExhausted) << full;
    disk.Free();
    ASSERT_EQ(StepOfNewest(real.env(), disk.path()), step) << Newest(real.env(), disk.path());
    ++tally["full_disks"];
    ++tally["checkpoints_read"];
  }
  EXPECT_TRUE(model.Save(disk.path(), ++step).ok());
  EXPECT_EQ(StepOfNewest(real.env(), disk.path()), step);
}

}  // namespace
}  // namespace vigil::stress

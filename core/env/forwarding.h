// Seams that pass every call on: what a decorator begins with, so that it only says what it changes.
//
// The inner seam must outlive the outer one. Thread safety: that of the inner seam.
#ifndef VIGIL_CORE_ENV_FORWARDING_H_
#define VIGIL_CORE_ENV_FORWARDING_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/env/files.h"
#include "vigil/core/env/tasks.h"

namespace vigil {

class ForwardingTasks : public Tasks {
 public:
  explicit ForwardingTasks(Tasks& inner) : inner_(inner) {}
  std::unique_ptr<Task> Spawn(std::string_view name, std::function<void()> body) override {
    return inner_.Spawn(name, std::move(body));
  }
  void SleepUntil(Time deadline) override { inner_.SleepUntil(deadline); }
  std::unique_ptr<Mutex> NewMutex(std::string_view name) override { return inner_.NewMutex(name); }
  std::unique_ptr<Condition> NewCondition(std::string_view name) override { return inner_.NewCondition(name); }
  std::uint64_t CurrentTask() override { return inner_.CurrentTask(); }

 protected:
  Tasks& inner() const { return inner_; }

 private:
  Tasks& inner_;
};

class ForwardingFiles : public Files {
 public:
  explicit ForwardingFiles(Files& inner) : inner_(inner) {}
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    return inner_.Open(path, mode);
  }
  absl::Status Rename(const std::string& from, const std::string& to) override { return inner_.Rename(from, to); }
  absl::Status Remove(const std::string& path) override { return inner_.Remove(path); }
  absl::StatusOr<FileInfo> Stat(const std::string& path) override { return inner_.Stat(path); }
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    return inner_.List(directory);
  }
  absl::Status MakeDirectory(const std::string& path) override { return inner_.MakeDirectory(path); }
  absl::Status SyncDirectory(const std::string& directory) override { return inner_.SyncDirectory(directory); }

 protected:
  Files& inner() const { return inner_; }

 private:
  Files& inner_;
};

// Owns the inner file.
class ForwardingFile : public File {
 public:
  explicit ForwardingFile(std::unique_ptr<File> inner) : inner_(std::move(inner)) {}
  absl::Status Append(std::string_view data) override { return inner_->Append(data); }
  absl::StatusOr<std::string> Read(std::uint64_t offset, std::uint64_t size) override {
    return inner_->Read(offset, size);
  }
  absl::Status Sync() override { return inner_->Sync(); }
  absl::Status Close() override { return inner_->Close(); }

 private:
  const std::unique_ptr<File> inner_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_FORWARDING_H_

#include "vigil/replays/power_cut.h"

#include <utility>

#include "vigil/core/base/status_macros.h"

namespace vigil::replays {
namespace {

class WrittenFile : public ForwardingFile {
 public:
  WrittenFile(std::unique_ptr<File> inner, std::shared_ptr<PowerCutFiles::Survivor> survivor)
      : ForwardingFile(std::move(inner)), survivor_(std::move(survivor)) {}

  absl::Status Append(std::string_view data) override {
    VIGIL_RETURN_IF_ERROR(ForwardingFile::Append(data));
    survivor_->size += data.size();
    return absl::OkStatus();
  }
  absl::Status Sync() override {
    VIGIL_RETURN_IF_ERROR(ForwardingFile::Sync());
    survivor_->synced = survivor_->size;
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<PowerCutFiles::Survivor> survivor_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<File>> PowerCutFiles::Open(const std::string& path, OpenMode mode) {
  VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<File> file, inner().Open(path, mode));
  if (mode == OpenMode::kRead) return file;
  std::shared_ptr<Survivor>& survivor = written_[path];
  if (survivor == nullptr || mode != OpenMode::kAppend) {
    survivor = std::make_shared<Survivor>();
    if (mode == OpenMode::kAppend) {
      VIGIL_ASSIGN_OR_RETURN(const FileInfo info, inner().Stat(path));
      *survivor = {info.size, info.size};
    }
  }
  return std::make_unique<WrittenFile>(std::move(file), survivor);
}

absl::Status PowerCutFiles::Rename(const std::string& from, const std::string& to) {
  VIGIL_RETURN_IF_ERROR(inner().Rename(from, to));
  const auto it = written_.find(from);
  if (it == written_.end()) {
    written_.erase(to);
  } else {
    written_[to] = std::move(it->second);
    written_.erase(from);
  }
  return absl::OkStatus();
}

absl::Status PowerCutFiles::Remove(const std::string& path) {
  VIGIL_RETURN_IF_ERROR(inner().Remove(path));
  written_.erase(path);
  return absl::OkStatus();
}

absl::Status PowerCutFiles::Cut() {
  for (const auto& [path, survivor] : written_) {
    if (survivor->synced == survivor->size) continue;
    VIGIL_ASSIGN_OR_RETURN(std::string data, ReadAll(inner(), path));
    data.resize(survivor->synced);
    VIGIL_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, inner().Open(path, OpenMode::kTruncate));
    VIGIL_RETURN_IF_ERROR(file->Append(data));
    VIGIL_RETURN_IF_ERROR(file->Close());
    survivor->size = survivor->synced;
  }
  return absl::OkStatus();
}

}  // namespace vigil::replays

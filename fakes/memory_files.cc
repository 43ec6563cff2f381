#include "vigil/fakes/memory_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil::fakes {
namespace {

absl::Status Error(Code code, std::string_view action, const std::string& path, std::string_view why) {
  return MakeStatus(code, fmt::format("{} {}: {}", action, path, why));
}

absl::Status NoSuchFile(std::string_view action, const std::string& path) {
  return Error(Code::kNotFound, action, path, "no such file or directory");
}

}  // namespace

std::string_view FileOpName(FileOp op) {
  switch (op) {
    case FileOp::kOpen:
      return "open";
    case FileOp::kAppend:
      return "append";
    case FileOp::kRead:
      return "read";
    case FileOp::kSync:
      return "sync";
    case FileOp::kClose:
      return "close";
    case FileOp::kRename:
      return "rename";
    case FileOp::kRemove:
      return "remove";
    case FileOp::kStat:
      return "stat";
    case FileOp::kList:
      return "list";
    case FileOp::kMakeDirectory:
      return "make_directory";
  }
  return "?";
}

// An open file. Keeps its node, whatever becomes of the name.
class MemoryFile final : public File {
 public:
  MemoryFile(MemoryFiles& files, std::string path, std::shared_ptr<MemoryFiles::Node> node, bool writable)
      : files_(files), path_(std::move(path)), node_(std::move(node)), writable_(writable) {}

  absl::Status Append(std::string_view data) override {
    VIGIL_RETURN_IF_ERROR(Check(FileOp::kAppend));
    if (!writable_) return Error(Code::kFailedPrecondition, "append to", path_, "opened for reading");
    node_->data += data;
    node_->modified = files_.clock_.Now();
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Read(std::uint64_t offset, std::uint64_t size) override {
    VIGIL_RETURN_IF_ERROR(Check(FileOp::kRead));
    if (offset >= node_->data.size()) return std::string();
    return node_->data.substr(offset, size);
  }

  absl::Status Sync() override { return Check(FileOp::kSync); }

  absl::Status Close() override {
    VIGIL_RETURN_IF_ERROR(Check(FileOp::kClose));
    node_ = nullptr;
    return absl::OkStatus();
  }

 private:
  absl::Status Check(FileOp op) const {
    if (node_ == nullptr) return Error(Code::kFailedPrecondition, FileOpName(op), path_, "closed before");
    return files_.Ask(op, path_);
  }

  MemoryFiles& files_;
  const std::string path_;
  std::shared_ptr<MemoryFiles::Node> node_;  // null: closed
  const bool writable_;
};

MemoryFiles::MemoryFiles(Clock& clock) : clock_(clock) {}
MemoryFiles::~MemoryFiles() = default;

absl::StatusOr<std::unique_ptr<File>> MemoryFiles::Open(const std::string& path, OpenMode mode) {
  VIGIL_RETURN_IF_ERROR(Ask(FileOp::kOpen, path));
  const std::string clean = CleanPath(path);
  VIGIL_RETURN_IF_ERROR(CheckParent("open", path));
  std::shared_ptr<Node> node;
  if (const auto found = nodes_.find(clean); found != nodes_.end()) node = found->second;
  if (clean.empty() || (node != nullptr && node->is_directory)) {
    return Error(Code::kFailedPrecondition, "open", path, "is a directory");
  }
  if (node != nullptr && (mode == OpenMode::kNew || mode == OpenMode::kTemporary)) {
    return Error(Code::kAlreadyExists, "create", path, "file exists");
  }
  if (node == nullptr && mode == OpenMode::kRead) return NoSuchFile("open", path);
  if (node == nullptr) {
    node = nodes_[clean] = std::make_shared<Node>();
    node->modified = clock_.Now();
  } else if (mode == OpenMode::kTruncate) {
    node->data.clear();
    node->modified = clock_.Now();
  }
  return std::make_unique<MemoryFile>(*this, path, std::move(node), mode != OpenMode::kRead);
}

bool MemoryFiles::FlipBit(const std::string& path, std::uint64_t bit) {
  Node* const node = Find(CleanPath(path));
  if (node == nullptr || bit / 8 >= node->data.size()) return false;
  char& byte = node->data[bit / 8];
  byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << (bit % 8)));
  return true;
}

absl::Status MemoryFiles::Rename(const std::string& from, const std::string& to) {
  VIGIL_RETURN_IF_ERROR(Ask(FileOp::kRename, from));
  const std::string source = CleanPath(from);
  const std::string target = CleanPath(to);
  const std::string action = fmt::format("rename {} to", from);
  Node* const node = source.empty() ? nullptr : Find(source);
  if (node == nullptr) return NoSuchFile(action, to);
  VIGIL_RETURN_IF_ERROR(CheckParent(action, to));
  if (source == target) return absl::OkStatus();
  if (Node* const old = Find(target); old != nullptr) {
    if (old->is_directory && !node->is_directory) return Error(Code::kFailedPrecondition, action, to, "is a directory");
    if (!old->is_directory && node->is_directory)
      return Error(Code::kFailedPrecondition, action, to, "not a directory");
    if (HasChildren(target)) return Error(Code::kFailedPrecondition, action, to, "directory not empty");
  }
  MoveTree(source, target);
  return absl::OkStatus();
}

absl::Status MemoryFiles::Remove(const std::string& path) {
  VIGIL_RETURN_IF_ERROR(Ask(FileOp::kRemove, path));
  const std::string clean = CleanPath(path);
  if (Find(clean) == nullptr) return NoSuchFile("remove", path);
  if (HasChildren(clean)) return Error(Code::kFailedPrecondition, "remove", path, "directory not empty");
  nodes_.erase(clean);
  return absl::OkStatus();
}

absl::StatusOr<FileInfo> MemoryFiles::Stat(const std::string& path) {
  VIGIL_RETURN_IF_ERROR(Ask(FileOp::kStat, path));
  const std::string clean = CleanPath(path);
  if (clean.empty()) return FileInfo{.is_directory = true};
  VIGIL_RETURN_IF_ERROR(CheckParent("stat", path));
  const Node* const node = Find(clean);
  if (node == nullptr) return NoSuchFile("stat", path);
  return FileInfo{.size = node->data.size(), .modified = node->modified, .is_directory = node->is_directory};
}

absl::StatusOr<std::vector<std::string>> MemoryFiles::List(const std::string& directory) {
  VIGIL_RETURN_IF_ERROR(Ask(FileOp::kList, directory));
  const std::string clean = CleanPath(directory);
  const Node* const node = Find(clean);
  if (!clean.empty() && node == nullptr) return NoSuchFile("list", directory);
  if (node != nullptr && !node->is_directory) {
    return Error(Code::kFailedPrecondition, "list", directory, "not a directory");
  }
  const bool relative_root = clean.empty() && (directory.empty() || directory.front() != '/');
  const std::string prefix = relative_root ? "" : clean + "/";
  std::vector<std::string> names;
  for (auto it = nodes_.lower_bound(prefix); it != nodes_.end() && it->first.starts_with(prefix); ++it) {
    const std::string_view name = std::string_view(it->first).substr(prefix.size());
    if (!name.empty() && name.find('/') == std::string_view::npos) names.emplace_back(name);
  }
  return names;
}

absl::Status MemoryFiles::MakeDirectory(const std::string& path) {
  VIGIL_RETURN_IF_ERROR(Ask(FileOp::kMakeDirectory, path));
  const std::string clean = CleanPath(path);
  std::size_t end = 0;
  while (end < clean.size()) {
    end = std::min(clean.find('/', end + 1), clean.size());
    auto& node = nodes_[clean.substr(0, end)];
    if (node == nullptr)
      node = std::make_shared<Node>(Node{.is_directory = true, .data = {}, .modified = clock_.Now()});
    if (!node->is_directory) return Error(Code::kFailedPrecondition, "make directory", path, "not a directory");
  }
  return absl::OkStatus();
}

absl::Status MemoryFiles::SyncDirectory(const std::string& directory) {
  VIGIL_RETURN_IF_ERROR(Ask(FileOp::kSync, directory));
  const std::string clean = CleanPath(directory);
  if (clean.empty()) return absl::OkStatus();
  const Node* const node = Find(clean);
  if (node == nullptr) return NoSuchFile("sync directory", directory);
  return node->is_directory ? absl::OkStatus()
                            : Error(Code::kFailedPrecondition, "sync directory", directory, "not a directory");
}

void MemoryFiles::FailOnce(FileOp op, int call, absl::Status error) {
  fault_ = [op, left = call, error = std::move(error)](FileOp asked, const std::string&) mutable {
    if (asked != op || --left != 0) return absl::OkStatus();
    return error;
  };
}

void MemoryFiles::Clear() { nodes_.clear(); }

std::map<std::string, std::string> MemoryFiles::Contents() const {
  std::map<std::string, std::string> out;
  for (const auto& [path, node] : nodes_) {
    if (!node->is_directory) out[path] = node->data;
  }
  return out;
}

absl::Status MemoryFiles::Ask(FileOp op, const std::string& path) const {
  return fault_ ? fault_(op, path) : absl::OkStatus();
}

MemoryFiles::Node* MemoryFiles::Find(const std::string& path) {
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : found->second.get();
}

absl::Status MemoryFiles::CheckParent(std::string_view action, const std::string& path) {
  const Node* node = nullptr;
  std::string parent = Dirname(CleanPath(path));
  const bool missing = !parent.empty() && parent != "/" && Find(parent) == nullptr;
  // A file further up explains more than a missing directory.
  for (; node == nullptr && !parent.empty() && parent != "/"; parent = Dirname(parent)) node = Find(parent);
  if (node != nullptr && !node->is_directory) return Error(Code::kFailedPrecondition, action, path, "not a directory");
  return missing ? NoSuchFile(action, path) : absl::OkStatus();
}

bool MemoryFiles::HasChildren(const std::string& directory) const {
  const std::string prefix = directory + "/";
  const auto it = nodes_.lower_bound(prefix);
  return it != nodes_.end() && it->first.starts_with(prefix);
}

void MemoryFiles::MoveTree(const std::string& from, const std::string& to) {
  const std::string prefix = from + "/";
  nodes_[to] = std::move(nodes_[from]);
  nodes_.erase(from);
  for (auto it = nodes_.lower_bound(prefix); it != nodes_.end() && it->first.starts_with(prefix);) {
    nodes_[to + it->first.substr(from.size())] = std::move(it->second);
    it = nodes_.erase(it);
  }
}

}  // namespace vigil::fakes

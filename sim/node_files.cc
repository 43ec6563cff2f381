#include "vigil/sim/node_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/sim/kernel/chooser.h"
#include "vigil/sim/node.h"
#include "vigil/sim/world.h"

namespace vigil::sim {

using fakes::FileOp;

SharedDisk::SharedDisk(Clock& clock) : files(clock) {
  VIGIL_CHECK(files.MakeDirectory(std::string(kSharedMount)).ok());
}

DiskFaultState& DiskFaults::Add(const DiskFault& fault) {
  DiskFaultState& state = faults_.emplace_back();
  state.fault = fault;
  state.on = !fault.at.has_value();
  return state;
}

void DiskFaults::Renamed(const std::string& from, const std::string& to) {
  const auto known = rotten_.find(from);
  if (known == rotten_.end()) return;
  for (const FileDamage& damage : std::vector(known->second)) {
    if (damage.byte.has_value()) Rotten(to, damage);
  }
}

void DiskFaults::HasRead(std::string_view task, const std::string& path, std::uint64_t offset, std::string_view data) {
  const auto known = rotten_.find(path);
  if (known == rotten_.end()) return;
  const bool met = std::ranges::any_of(known->second, [&](const FileDamage& damage) {
    if (!damage.byte.has_value() || *damage.byte < offset || *damage.byte - offset >= data.size()) return false;
    const std::string_view left = std::string_view(damage.content).substr(offset);
    const std::size_t size = std::min(data.size(), left.size());  // more may have been written since
    return data.substr(0, size) == left.substr(0, size);
  });
  if (met) meetings_.push_back({std::string(task), path});
}

void DiskFaults::HasMissed(std::string_view task, const std::string& path) {
  const auto known = rotten_.find(path);
  if (known == rotten_.end()) return;
  const bool lost =
      std::ranges::any_of(known->second, [](const FileDamage& damage) { return !damage.byte.has_value(); });
  if (lost) meetings_.push_back({std::string(task), path});
}

DiskFaultState* DiskFaults::Next(std::string_view task, FileOp op, std::string_view path,
                                 const std::function<bool()>& there) {
  DiskFaultState* first = nullptr;
  for (std::size_t i = live_; i < faults_.size(); ++i) {
    DiskFaultState& state = faults_[i];
    const DiskFault& fault = state.fault;
    if (!state.on || (!fault.task.empty() && fault.task != task)) continue;
    if (!fault.op.empty() && fault.op != fakes::FileOpName(op)) continue;
    if (!fault.path.empty() && path.find(fault.path) == path.npos) continue;
    if (fault.effect == DiskFault::Effect::kGone && !there()) continue;
    ++state.matched;
    if (first == nullptr && (fault.call == 0 || fault.call == state.matched)) first = &state;
  }
  if (first != nullptr) ++first->fired;
  return first;
}

class NodeFile final : public File {
 public:
  NodeFile(NodeFiles& files, std::string path, std::unique_ptr<File> inner)
      : files_(files), path_(std::move(path)), inner_(std::move(inner)) {
    ++files_.open_files_;
  }
  ~NodeFile() override { --files_.open_files_; }

  absl::Status Append(std::string_view data) override {
    const absl::Status status = files_.Ask(FileOp::kAppend, path_, data.size());
    if (status.ok()) return inner_->Append(data);
    // What failed may have written a part of it.
    if (const std::size_t part = files_.WrittenPart(data.size()); part > 0) {
      VIGIL_CHECK(inner_->Append(data.substr(0, part)).ok());
    }
    return status;
  }
  absl::StatusOr<std::string> Read(std::uint64_t offset, std::uint64_t size) override {
    VIGIL_RETURN_IF_ERROR(files_.Ask(FileOp::kRead, path_, files_.BytesFrom(path_, offset, size)));
    absl::StatusOr<std::string> data = inner_->Read(offset, size);
    if (data.ok()) files_.HasRead(path_, offset, *data);
    return data;
  }
  absl::Status Sync() override {
    const absl::Status status = files_.Ask(FileOp::kSync, path_);
    if (status.ok()) return inner_->Sync();
    files_.SyncHasFailed(path_, *inner_);
    return status;
  }
  absl::Status Close() override {
    VIGIL_RETURN_IF_ERROR(files_.Ask(FileOp::kClose, path_));
    return inner_->Close();
  }

 private:
  NodeFiles& files_;
  const std::string path_;
  const std::unique_ptr<File> inner_;
};

NodeFiles::NodeFiles(Node& node, Clock& clock) : node_(node), files_(clock) {}

bool NodeFiles::IsShared(std::string_view path) {
  return path.starts_with(kSharedMount) && (path.size() == kSharedMount.size() || path[kSharedMount.size()] == '/');
}

void NodeFiles::TouchDisk(std::string_view path) {
  Scheduler& scheduler = node_.world_.scheduler();
  if (scheduler.steps() == nullptr) return;
  scheduler.Touch(NamedObject("disk", IsShared(path) ? std::string_view() : node_.name()), Access::kWrite);
  if (node_.world_.disk_faults().any()) scheduler.Touch(NamedObject("disk faults", {}), Access::kWrite);
}

Disk& NodeFiles::DiskOf(std::string_view path) {
  TouchDisk(path);
  if (!IsShared(path)) return disk_;
  if (shared_ == nullptr) {
    SharedDisk& shared = node_.world_.shared_disk();
    shared_ = std::make_unique<Disk>(shared.files, &shared.journal);
  }
  return *shared_;
}

// Whoever reads a whole file asks for far more than there is.
std::uint64_t NodeFiles::BytesFrom(const std::string& path, std::uint64_t offset, std::uint64_t size) {
  if (node_.disk_time_ <= Duration::zero()) return 0;
  const absl::StatusOr<FileInfo> info = (IsShared(path) ? node_.world_.shared_disk().files : files_).Stat(path);
  return !info.ok() || info->size <= offset ? 0 : std::min(size, info->size - offset);
}

void NodeFiles::TakeTime(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 4> kLabels = {"typical", "half", "double", "five times"};
  constexpr std::array<int, 4> kHalves = {2, 1, 4, 10};
  constexpr std::uint64_t kBlock = 4096;
  World& world = node_.world_;
  if (node_.disk_time_ <= Duration::zero() || world.scheduler().current() == nullptr) return;
  const int halves = kHalves[world.Choose(node_.name(), "disk", "time", kLabels)];
  const auto blocks = static_cast<std::int64_t>(bytes / kBlock);
  world.AdvanceBy(node_.disk_time_ * halves / 2 * (1 + blocks));
}

absl::Status NodeFiles::Ask(FileOp op, const std::string& path, std::uint64_t bytes, DiskFaultState** stale) {
  const auto failed = [&](Code code, std::string_view why) {
    return MakeStatus(code, fmt::format("{} {}: {}", fakes::FileOpName(op), path, why));
  };
  if (node_.Dead()) return failed(Code::kUnknown, "the process was killed");
  TakeTime(bytes);
  // The process may have ended meanwhile.
  if (node_.Dead()) return failed(Code::kUnknown, "the process was killed");
  World& world = node_.world_;
  TouchDisk(path);
  world.course().FileOp(node_.name(), fakes::FileOpName(op), path);
  if (node_.Dead()) {
    world.scheduler().KilledCall();  // whose task does not see the failure
    return failed(Code::kUnknown, "the process was killed");
  }
  DiskFaultState* const fault = world.disk_faults().Next(node_.task(), op, path, [&] { return IsThere(path); });
  if (fault == nullptr) return absl::OkStatus();
  if (fault->strikes.size() < DiskFaultState::kMostStrikes)
    fault->strikes.push_back({world.scheduler().now(), node_.task(), world.trace().size()});
  switch (fault->fault.effect) {
    case DiskFault::Effect::kNoSpace:
      ++fault->effective;
      return failed(Code::kResourceExhausted, "no space left on device");
    case DiskFault::Effect::kIoError:
      ++fault->effective;
      return failed(Code::kUnknown, "input/output error");
    case DiskFault::Effect::kSlow:
      if (fault->fault.by <= Duration::zero() || world.scheduler().current() == nullptr) break;
      ++fault->effective;
      world.AdvanceBy(fault->fault.by);
      // The process may have ended meanwhile.
      if (node_.Dead()) return failed(Code::kUnknown, "the process was killed");
      break;
    case DiskFault::Effect::kStale:
      if (stale != nullptr && IsShared(path)) *stale = fault;
      break;
    case DiskFault::Effect::kBitRot:
      if (Rot(path, fault->matched)) ++fault->effective;
      break;
    case DiskFault::Effect::kGone:
      if (Lose(path)) ++fault->effective;
  }
  return absl::OkStatus();
}

std::size_t NodeFiles::WrittenPart(std::size_t bytes) {
  constexpr std::array<std::string_view, 3> kParts = {"nothing", "half", "all"};
  if (node_.Dead()) return 0;
  return bytes * node_.world_.Choose(node_.name(), "disk", "written", kParts) / 2;
}

void NodeFiles::SyncHasFailed(const std::string& path, File& file) {
  if (!node_.Dead()) DiskOf(path).SyncHasFailed(file);
}

bool NodeFiles::Rot(const std::string& path, std::int64_t draw) {
  World& world = node_.world_;
  fakes::MemoryFiles& files = IsShared(path) ? world.shared_disk().files : files_;
  const absl::StatusOr<FileInfo> info = files.Stat(path);
  if (!info.ok() || info->size == 0) return false;
  const std::uint64_t drawn = HashDraw(world.options().seed, path, static_cast<std::uint64_t>(draw));
  const std::uint64_t bit = Bounded(drawn, 8 * info->size);
  if (!files.FlipBit(path, bit)) return false;
  const absl::StatusOr<std::string> content = ReadAll(files, path);
  world.disk_faults().Rotten(path, {.content = content.ok() ? *content : "", .byte = bit / 8});
  return true;
}

// No power cut brings it back, nor what else was just about to be made in that directory.
bool NodeFiles::Lose(const std::string& path) {
  Files& disk = DiskOf(path);
  if (!disk.Remove(path).ok() || !disk.SyncDirectory(path.substr(0, path.rfind('/'))).ok()) return false;
  NoteChange(path, false);
  node_.world_.disk_faults().Rotten(path, {.content = "", .byte = std::nullopt});
  return true;
}

void NodeFiles::HasRead(const std::string& path, std::uint64_t offset, std::string_view data) {
  node_.world_.disk_faults().HasRead(node_.task(), path, offset, data);
}

absl::StatusOr<std::unique_ptr<File>> NodeFiles::Open(const std::string& path, OpenMode mode) {
  VIGIL_RETURN_IF_ERROR(Ask(FileOp::kOpen, path));
  const bool made = mode != OpenMode::kRead && !IsThere(path);
  absl::StatusOr<std::unique_ptr<File>> file = DiskOf(path).Open(path, mode);
  if (CodeOf(file.status()) == Code::kNotFound) node_.world_.disk_faults().HasMissed(node_.task(), path);
  VIGIL_RETURN_IF_ERROR(file.status());
  if (made) NoteChange(path, true);
  return std::unique_ptr<File>(new NodeFile(*this, path, *std::move(file)));
}

absl::Status NodeFiles::Rename(const std::string& from, const std::string& to) {
  VIGIL_RETURN_IF_ERROR(Ask(FileOp::kRename, from));
  if (IsShared(from) != IsShared(to)) {
    return MakeStatus(Code::kUnknown, fmt::format("rename {} to {}: invalid cross-device link", from, to));
  }
  const bool made = !IsThere(to);
  VIGIL_RETURN_IF_ERROR(DiskOf(from).Rename(from, to));
  NoteChange(from, false);
  if (made) NoteChange(to, true);
  node_.world_.disk_faults().Renamed(from, to);
  return absl::OkStatus();
}

absl::Status NodeFiles::Remove(const std::string& path) {
  VIGIL_RETURN_IF_ERROR(Ask(FileOp::kRemove, path));
  VIGIL_RETURN_IF_ERROR(DiskOf(path).Remove(path));
  NoteChange(path, false);
  return absl::OkStatus();
}

absl::StatusOr<FileInfo> NodeFiles::Stat(const std::string& path) {
  VIGIL_RETURN_IF_ERROR(Ask(FileOp::kStat, path));
  return DiskOf(path).Stat(path);
}

absl::StatusOr<std::vector<std::string>> NodeFiles::List(const std::string& directory) {
  DiskFaultState* stale = nullptr;
  VIGIL_RETURN_IF_ERROR(Ask(FileOp::kList, directory, 0, &stale));
  VIGIL_ASSIGN_OR_RETURN(std::vector<std::string> names, DiskOf(directory).List(directory));
  if (stale == nullptr) return names;
  std::vector<std::string> before = AsBefore(stale->fault.by, directory, names);
  if (before != names) ++stale->effective;
  return before;
}

absl::Status NodeFiles::MakeDirectory(const std::string& path) {
  VIGIL_RETURN_IF_ERROR(Ask(FileOp::kMakeDirectory, path));
  const bool made = !IsThere(path);
  VIGIL_RETURN_IF_ERROR(DiskOf(path).MakeDirectory(path));
  if (made) NoteChange(path, true);
  return absl::OkStatus();
}

absl::Status NodeFiles::SyncDirectory(const std::string& directory) {
  VIGIL_RETURN_IF_ERROR(Ask(FileOp::kSync, directory));
  return DiskOf(directory).SyncDirectory(directory);
}

void NodeFiles::NoteChange(const std::string& path, bool made) {
  if (!IsShared(path)) return;
  World& world = node_.world_;
  world.shared_disk().changes.push_back({world.scheduler().now(), &node_, CleanPath(path), made});
}

bool NodeFiles::IsThere(const std::string& path) {
  return (IsShared(path) ? node_.world_.shared_disk().files : files_).Stat(path).ok();
}

// What this node did itself it sees at once.
std::vector<std::string> NodeFiles::AsBefore(Duration by, const std::string& directory,
                                             const std::vector<std::string>& now) {
  const std::string above = CleanPath(directory) + "/";
  const Duration since = node_.world_.scheduler().now() - by;
  std::set<std::string> names(now.begin(), now.end());
  const std::vector<SharedDisk::NameChange>& changes = node_.world_.shared_disk().changes;
  for (auto change = changes.rbegin(); change != changes.rend() && change->at > since; ++change) {
    if (change->by == &node_ || !change->path.starts_with(above)) continue;
    const std::string name = change->path.substr(above.size());
    if (name.find('/') != name.npos) continue;
    if (change->made) {
      names.erase(name);
    } else {
      names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

std::int64_t NodeFiles::Lose(DiskLoss loss) {
  if (loss == DiskLoss::kNothing) return 0;
  World& world = node_.world_;
  Disk::Draw torn;
  if (loss == DiskLoss::kTorn) {
    torn = [&world, this](std::span<const std::string_view> labels) {
      return world.Choose("disk", node_.name(), "torn", labels);
    };
  }
  // These are memory, and nobody makes them fail.
  std::int64_t lost = 0;
  if (shared_ != nullptr) lost += *shared_->Cut(torn);
  if (loss != DiskLoss::kAll) return lost + *disk_.Cut(torn);
  lost += static_cast<std::int64_t>(files_.Contents().size());
  disk_.Forget();
  files_.Clear();
  return lost;
}

}  // namespace vigil::sim

#include "vigil/sim/disk.h"

#include <algorithm>
#include <array>
#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/fakes/memory_files.h"

namespace vigil::sim {
namespace {

// How much of what was not synced survives, in quarters.
constexpr std::array<std::string_view, 5> kTornLabels = {"nothing", "1/4", "2/4", "3/4", "all"};
constexpr std::array<std::string_view, 2> kNameLabels = {"undone", "done"};

// Moves the entries below a directory with it.
template <typename Map>
void MoveBelow(Map& map, const std::string& from, const std::string& to) {
  const std::string prefix = from + "/";
  for (auto it = map.lower_bound(prefix); it != map.end() && it->first.starts_with(prefix);) {
    map[to + it->first.substr(from.size())] = std::move(it->second);
    it = map.erase(it);
  }
}

}  // namespace

class DiskFile final : public File {
 public:
  DiskFile(Disk& disk, std::string clean, std::unique_ptr<File> inner, std::shared_ptr<Disk::Contents> contents,
           OpenMode mode)
      : disk_(disk),
        clean_(std::move(clean)),
        inner_(std::move(inner)),
        contents_(std::move(contents)),
        name_unsynced_(mode != OpenMode::kTemporary && mode != OpenMode::kRead) {}

  absl::Status Append(std::string_view data) override {
    VIGIL_RETURN_IF_ERROR(inner_->Append(data));
    contents_->size += data.size();
    contents_->writer = &disk_;
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Read(std::uint64_t offset, std::uint64_t size) override {
    return inner_->Read(offset, size);
  }
  absl::Status Sync() override {
    VIGIL_RETURN_IF_ERROR(inner_->Sync());
    if (!contents_->sync_failed) {
      contents_->synced = contents_->size;
      contents_->before.reset();
    }
    if (std::exchange(name_unsynced_, false)) disk_.SyncNames(Dirname(clean_));
    return absl::OkStatus();
  }
  absl::Status Close() override { return inner_->Close(); }

  void SyncHasFailed() { contents_->sync_failed = true; }

 private:
  Disk& disk_;
  const std::string clean_;  // when it was opened
  const std::unique_ptr<File> inner_;
  const std::shared_ptr<Disk::Contents> contents_;
  bool name_unsynced_;  // its directory may not know it yet
};

absl::StatusOr<std::unique_ptr<File>> Disk::Open(const std::string& path, OpenMode mode) {
  std::string clean = CleanPath(path);
  if (mode == OpenMode::kRead) {
    const auto known = journal_.contents_.find(clean);
    VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<File> file, inner_.Open(path, mode));
    if (known == journal_.contents_.end()) return file;
    return std::unique_ptr<File>(new DiskFile(*this, std::move(clean), std::move(file), known->second, mode));
  }
  VIGIL_ASSIGN_OR_RETURN(const bool existed, Exists(inner_, path));
  std::optional<std::string> before;
  if (existed && mode == OpenMode::kTruncate) {
    VIGIL_ASSIGN_OR_RETURN(before, Durable(clean));
  }
  VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<File> file, inner_.Open(path, mode));
  if (!existed) MakeNew(clean);
  std::shared_ptr<Contents>& contents = journal_.contents_[clean];
  if (contents == nullptr || mode != OpenMode::kAppend) {
    contents = std::make_shared<Contents>();
    contents->before = std::move(before);
    if (mode == OpenMode::kAppend) {
      VIGIL_ASSIGN_OR_RETURN(const FileInfo info, inner_.Stat(path));
      contents->size = contents->synced = info.size;
    }
  }
  contents->writer = this;
  return std::unique_ptr<File>(new DiskFile(*this, std::move(clean), std::move(file), contents, mode));
}

// A name that was not there: undone by a cut.
void Disk::MakeNew(const std::string& clean) {
  const auto [it, added] = journal_.names_.try_emplace(clean);
  it->second.writer = this;  // what was there before stays what the disk believes
}

// The names in a directory are as the processes see them.
void Disk::SyncNames(const std::string& clean) {
  const std::string prefix = clean == "/" ? clean : clean + "/";
  auto& names = journal_.names_;
  for (auto it = clean.empty() ? names.begin() : names.lower_bound(prefix); it != names.end();) {
    if (!clean.empty() && !it->first.starts_with(prefix)) break;
    it = Dirname(it->first) == clean ? names.erase(it) : std::next(it);
  }
}

void Disk::SyncHasFailed(File& file) {
  // One that was opened to be read before anything was written is the inner files' own.
  if (auto* const own = dynamic_cast<DiskFile*>(&file); own != nullptr) own->SyncHasFailed();
}

absl::Status Disk::SyncDirectory(const std::string& directory) {
  VIGIL_RETURN_IF_ERROR(inner_.SyncDirectory(directory));
  const std::string clean = CleanPath(directory);
  SyncNames(clean.empty() && directory.starts_with('/') ? "/" : clean);
  return absl::OkStatus();
}

absl::Status Disk::Rename(const std::string& from, const std::string& to) {
  const std::string source = CleanPath(from);
  const std::string target = CleanPath(to);
  const absl::StatusOr<FileInfo> info = inner_.Stat(from);
  if (source == target || !info.ok()) return inner_.Rename(from, to);
  VIGIL_ASSIGN_OR_RETURN(const bool replaces, Exists(inner_, to));
  std::optional<std::string> replaced;
  if (replaces && !info->is_directory) {
    VIGIL_ASSIGN_OR_RETURN(const FileInfo there, inner_.Stat(to));
    if (!there.is_directory) {
      VIGIL_ASSIGN_OR_RETURN(replaced, Durable(target));
    }
  }
  std::optional<std::string> moved_away;
  if (!info->is_directory && !journal_.names_.contains(source)) {
    VIGIL_ASSIGN_OR_RETURN(moved_away, Durable(source));
  }
  VIGIL_RETURN_IF_ERROR(inner_.Rename(from, to));
  const auto moved = journal_.contents_.find(source);
  if (moved == journal_.contents_.end()) {
    journal_.contents_.erase(target);
  } else {
    journal_.contents_[target] = std::move(moved->second);
    journal_.contents_.erase(moved);
  }
  if (info->is_directory) {
    MoveBelow(journal_.contents_, source, target);
    MoveBelow(journal_.names_, source, target);
    SyncNames(Dirname(target));
    SyncNames(Dirname(source));
    return absl::OkStatus();
  }
  // What the disk believes of either name is what it believed before the first change since its last sync.
  journal_.names_.try_emplace(target, Name{.writer = this, .removed = std::move(replaced)});
  if (moved_away.has_value()) {
    journal_.names_[source] = Name{.writer = this, .removed = std::move(moved_away)};
  } else if (const auto known = journal_.names_.find(source); !known->second.removed.has_value()) {
    journal_.names_.erase(known);  // the disk never heard of it
  }
  return absl::OkStatus();
}

absl::Status Disk::Remove(const std::string& path) {
  const std::string clean = CleanPath(path);
  const absl::StatusOr<FileInfo> info = inner_.Stat(path);
  const auto known = journal_.names_.find(clean);
  std::optional<Name> removed;
  if (info.ok() && known == journal_.names_.end()) {
    removed = Name{.writer = this, .removed = std::string(), .directory = info->is_directory};
    if (!info->is_directory) {
      VIGIL_ASSIGN_OR_RETURN(removed->removed, Durable(clean));
    }
  }
  VIGIL_RETURN_IF_ERROR(inner_.Remove(path));
  journal_.contents_.erase(clean);
  if (removed.has_value()) {
    journal_.names_.insert_or_assign(clean, *std::move(removed));
  } else if (known != journal_.names_.end() && !known->second.removed.has_value()) {
    journal_.names_.erase(known);  // the disk never heard of it
  }
  return absl::OkStatus();
}

absl::Status Disk::MakeDirectory(const std::string& path) {
  const std::string clean = CleanPath(path);
  std::vector<std::string> made;
  for (std::size_t end = 0; end < clean.size();) {
    end = std::min(clean.find('/', end + 1), clean.size());
    std::string part = clean.substr(0, end);
    VIGIL_ASSIGN_OR_RETURN(const bool there, Exists(inner_, part));
    if (!there) made.push_back(std::move(part));
  }
  VIGIL_RETURN_IF_ERROR(inner_.MakeDirectory(path));
  for (const std::string& part : made) MakeNew(part);
  return absl::OkStatus();
}

// What a cut would leave of a file that is there.
absl::StatusOr<std::string> Disk::Durable(const std::string& clean) {
  const auto found = journal_.contents_.find(clean);
  if (found == journal_.contents_.end()) return ReadAll(inner_, clean);
  const Contents& contents = *found->second;
  if (contents.before.has_value()) return *contents.before;
  VIGIL_ASSIGN_OR_RETURN(std::string data, ReadAll(inner_, clean));
  data.resize(std::min<std::size_t>(data.size(), contents.synced));
  return data;
}

absl::Status Disk::Put(const std::string& clean, std::string_view data) {
  VIGIL_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, inner_.Open(clean, OpenMode::kTruncate));
  VIGIL_RETURN_IF_ERROR(file->Append(data));
  return file->Close();
}

absl::StatusOr<std::int64_t> Disk::Cut(const Draw& torn) {
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t files, CutContents(torn));
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t names, CutNames(torn));
  return files + names;
}

absl::StatusOr<std::string> Disk::Torn(const std::string& clean, const Contents& contents, const Draw& torn) {
  const std::size_t quarters = torn == nullptr ? 0 : torn(kTornLabels);
  if (quarters == 0) return Durable(clean);
  VIGIL_ASSIGN_OR_RETURN(std::string data, ReadAll(inner_, clean));
  const std::uint64_t unsynced = data.size() - std::min<std::uint64_t>(data.size(), contents.synced);
  data.resize(data.size() - unsynced + unsynced * quarters / 4);
  return data;
}

absl::StatusOr<std::int64_t> Disk::CutContents(const Draw& torn) {
  std::int64_t changed = 0;
  for (auto it = journal_.contents_.begin(); it != journal_.contents_.end();) {
    const auto& [clean, contents] = *it;
    const bool mine = contents->writer == this;
    if (mine && (contents->synced < contents->size || contents->before.has_value())) {
      VIGIL_ASSIGN_OR_RETURN(const std::string left, Torn(clean, *contents, torn));
      VIGIL_RETURN_IF_ERROR(Put(clean, left));
      changed += left.size() != contents->size || contents->before.has_value() ? 1 : 0;
      contents->size = contents->synced = left.size();
      contents->before.reset();
    }
    it = mine ? journal_.contents_.erase(it) : std::next(it);
  }
  return changed;
}

// How many names went. None: it is not there.
absl::StatusOr<std::int64_t> Disk::RemoveTree(const std::string& clean) {
  const absl::StatusOr<FileInfo> info = inner_.Stat(clean);
  if (!info.ok()) return 0;
  std::int64_t gone = 1;
  if (info->is_directory) {
    VIGIL_ASSIGN_OR_RETURN(const std::vector<std::string> names, inner_.List(clean));
    for (const std::string& name : names) {
      VIGIL_ASSIGN_OR_RETURN(const std::int64_t below, RemoveTree(JoinPath(clean, name)));
      gone += below;
    }
  }
  VIGIL_RETURN_IF_ERROR(inner_.Remove(clean));
  journal_.contents_.erase(clean);
  return gone;
}

absl::StatusOr<std::int64_t> Disk::CutNames(const Draw& torn) {
  std::int64_t changed = 0;
  std::vector<std::string> undone;
  for (const auto& [clean, name] : journal_.names_) {
    if (name.writer == this && (torn == nullptr || torn(kNameLabels) == 0)) undone.push_back(clean);
  }
  // New names go, directories with all that is in them.
  for (auto clean = undone.rbegin(); clean != undone.rend(); ++clean) {
    if (journal_.names_[*clean].removed.has_value()) continue;
    VIGIL_ASSIGN_OR_RETURN(const std::int64_t gone, RemoveTree(*clean));
    changed += gone;
  }
  for (const std::string& clean : undone) {
    const Name& name = journal_.names_[clean];
    if (!name.removed.has_value()) continue;
    const std::string above = Dirname(clean);
    // The directory is gone, and that is durable.
    VIGIL_ASSIGN_OR_RETURN(const bool has_place, Exists(inner_, above));
    if (!has_place) continue;
    ++changed;
    journal_.contents_.erase(clean);
    VIGIL_RETURN_IF_ERROR(name.directory ? inner_.MakeDirectory(clean) : Put(clean, *name.removed));
  }
  std::erase_if(journal_.names_, [this](const auto& entry) { return entry.second.writer == this; });
  return changed;
}

void Disk::Forget() {
  std::erase_if(journal_.contents_, [this](const auto& entry) { return entry.second->writer == this; });
  std::erase_if(journal_.names_, [this](const auto& entry) { return entry.second.writer == this; });
}

}  // namespace vigil::sim

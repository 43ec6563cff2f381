// Order is everything here: data before the index, claims before data, the old data last.
#include "vigil/core/io/bundle_publishing.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {
namespace {

void RemoveAll(Files& files, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) files.Remove(path).IgnoreError();
}

// The files of data that an index speaks of.
std::vector<std::string> DataOf(const BundleIndex& index, const std::string& prefix) {
  std::set<int> shards;
  for (const auto& [name, entry] : index.entries) {
    if (entry.slices.empty()) shards.insert(entry.shard);
  }
  std::vector<std::string> out;
  for (const int shard : shards) out.push_back(DataFileName(prefix, shard, index.shards));
  return out;
}

// Whether both say the same of the same bytes, under whatever names those are.
bool SameBundle(const BundleIndex& standing, const BundleIndex& index) {
  const int first = standing.shards - index.shards;
  const auto same = [first](const auto& a, const auto& b) {
    BundleEntry moved = b.second;
    moved.shard += first;
    return a.first == b.first && a.second == moved;
  };
  return first >= 0 && standing.format == index.format && std::ranges::equal(standing.entries, index.entries, same);
}

// Names of files of data that are one writer's alone, and the empty files that say so until they are there. Those have
// names of their own: what is renamed over a file is written out at once by ext4, which takes longer than all the rest.
// They are temporary ones to whoever clears up after a crash (unfinished_saves.h).
struct Claimed {
  std::vector<std::string> names;
  std::vector<std::string> claims;
};

absl::Status ClaimOne(Files& files, const std::string& name, Claimed* out) {
  const std::string claim = name + ".tmp";
  VIGIL_RETURN_IF_ERROR(files.Open(claim, OpenMode::kTemporary).status());
  out->claims.push_back(claim);
  VIGIL_ASSIGN_OR_RETURN(const bool there, Exists(files, name));
  if (there) return MakeStatus(Code::kAlreadyExists, fmt::format("{} is there already.", name));
  out->names.push_back(name);
  return absl::OkStatus();
}

// Claims the files of the first shards from `first` on that nobody has.
absl::StatusOr<Claimed> Claim(Files& files, const std::string& prefix, int first, BundleIndex* index) {
  constexpr int kAttempts = 1000;
  const int count = index->shards;
  absl::Status status;
  for (int attempt = first / count; attempt < first / count + kAttempts; ++attempt) {
    if ((attempt + 1) * count > kMaxShards) break;
    Claimed claimed;
    status = absl::OkStatus();
    for (int shard = 0; shard < count && status.ok(); ++shard) {
      status = ClaimOne(files, DataFileName(prefix, attempt * count + shard, (attempt + 1) * count), &claimed);
    }
    if (status.ok()) {
      for (auto& [key, entry] : index->entries) entry.shard += attempt * count;
      index->shards = (attempt + 1) * count;
      return claimed;
    }
    RemoveAll(files, claimed.claims);
    if (CodeOf(status) != Code::kAlreadyExists) return status;
  }
  // All numbers are used up; the first ones have been free for long.
  return first == 0 ? status : Claim(files, prefix, 0, index);
}

// Another process may think that the checkpoint is too many, and delete it while it is written.
absl::Status CheckIsThere(Files& files, const std::vector<std::string>& data, const std::string& prefix) {
  for (const std::string& path : data) {
    VIGIL_ASSIGN_OR_RETURN(const bool there, Exists(files, path));
    if (there) continue;
    // Or it has written the same one again since.
    const absl::Status whole = VerifyBundle(files, prefix);
    if (whole.ok()) return absl::OkStatus();
    return MakeStatus(Code::kAborted,
                      fmt::format("Checkpoint {} was deleted by another writer while it was saved: {}; save it again.",
                                  prefix, MessageOf(whole)));
  }
  return absl::OkStatus();
}

// What stands there is on the disk, whoever wrote it, and whoever may write to it. What another process deletes
// meanwhile is not made anew, empty, by being opened.
absl::Status SyncStanding(Files& files, std::vector<std::string> all, const std::string& prefix) {
  all.push_back(IndexFileName(prefix));
  for (const std::string& path : all) {
    const absl::StatusOr<std::unique_ptr<File>> file = files.Open(path, OpenMode::kRead);
    if (CodeOf(file.status()) == Code::kNotFound) break;
    VIGIL_RETURN_IF_ERROR(file.status());
    VIGIL_RETURN_IF_ERROR((*file)->Sync());
  }
  VIGIL_RETURN_IF_ERROR(files.SyncDirectory(Dirname(prefix)));
  return CheckIsThere(files, all, prefix);
}

}  // namespace

absl::StatusOr<TemporaryFile> TemporaryFile::OpenAs(Files& files, const std::string& path) {
  TemporaryFile out;
  out.files_ = &files;
  out.path_ = path;
  VIGIL_ASSIGN_OR_RETURN(out.file_, files.Open(path, OpenMode::kTemporary));
  return out;
}

absl::StatusOr<TemporaryFile> TemporaryFile::Open(const Env& env, const std::string& path) {
  constexpr int kAttempts = 10;  // processes that were given the same seed draw the same numbers
  absl::StatusOr<TemporaryFile> out;
  for (int i = 0; i < kAttempts; ++i) {
    out = OpenAs(*env.files, fmt::format("{}.tempstate{}", path, env.random->Unique("checkpoint/tempstate")));
    if (CodeOf(out.status()) != Code::kAlreadyExists) break;
  }
  return out;
}

absl::Status TemporaryFile::Finish(bool synced) {
  if (synced) VIGIL_RETURN_IF_ERROR(Checked(file_->Sync()));
  return Checked(file_->Close());
}

absl::Status WriteBundleIndex(const Env& env, const std::string& prefix, const BundleIndex& index, Syncing syncing) {
  VIGIL_ASSIGN_OR_RETURN(const std::string bytes, EncodeIndex(index));
  VIGIL_ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::Open(env, IndexFileName(prefix)));
  VIGIL_RETURN_IF_ERROR(file.Append(bytes));
  VIGIL_RETURN_IF_ERROR(file.Finish(syncing == Syncing::kYes));
  const absl::Status renamed = env.files->Rename(file.path(), IndexFileName(prefix));
  if (!renamed.ok()) env.files->Remove(file.path()).IgnoreError();
  return renamed;
}

absl::StatusOr<BundleIndex> ReadBundleIndex(Files& files, const std::string& prefix) {
  const std::string path = IndexFileName(prefix);
  VIGIL_ASSIGN_OR_RETURN(const std::string bytes, ReadAll(files, path));
  return DecodeIndex(bytes, path);
}

absl::Status PublishBundle(const Env& env, const std::vector<std::string>& data, BundleIndex index,
                           const std::string& prefix, Syncing syncing) {
  Files& files = *env.files;
  const auto failed = [&files, &data](absl::Status status) {
    RemoveAll(files, data);
    return status;
  };
  const absl::StatusOr<BundleIndex> standing = ReadBundleIndex(files, prefix);
  const Code read = CodeOf(standing.status());
  // What nothing here can read is replaced, too, but for its data, which are not known.
  if (!standing.ok() && read != Code::kNotFound && read != Code::kDataLoss && read != Code::kInvalidArgument) {
    return failed(standing.status());
  }
  std::vector<std::string> replaced;
  if (standing.ok()) {
    replaced = DataOf(*standing, prefix);
    if (SameBundle(*standing, index) && VerifyBundle(files, prefix).ok()) {
      RemoveAll(files, data);
      return syncing == Syncing::kYes ? SyncStanding(files, replaced, prefix) : absl::OkStatus();
    }
  }
  // Never numbers that were used before: a slow writer may be about to remove those files.
  const int first = standing.ok() ? standing->shards : 0;
  const absl::StatusOr<Claimed> claimed = Claim(files, prefix, first, &index);
  if (!claimed.ok()) return failed(claimed.status());
  absl::Status status;
  std::vector<std::string> published;  // nobody else's: a name that was not taken is anybody's once its claim is gone
  for (std::size_t i = 0; i < data.size() && status.ok(); ++i) {
    status = files.Rename(data[i], claimed->names[i]);
    if (status.ok()) published.push_back(claimed->names[i]);
  }
  RemoveAll(files, claimed->claims);
  if (status.ok() && syncing == Syncing::kYes) status = files.SyncDirectory(Dirname(prefix));
  if (status.ok()) status = WriteBundleIndex(env, prefix, index, syncing);
  if (!status.ok()) {
    RemoveAll(files, published);
    return failed(status);
  }
  if (syncing == Syncing::kYes) VIGIL_RETURN_IF_ERROR(files.SyncDirectory(Dirname(prefix)));
  RemoveAll(files, replaced);
  return CheckIsThere(files, claimed->names, prefix);
}

}  // namespace vigil

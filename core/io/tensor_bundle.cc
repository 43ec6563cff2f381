#include "vigil/core/io/tensor_bundle.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/bundle_publishing.h"

namespace vigil {
namespace {

// As TensorFlow: one level, so that a mistyped path is still an error.
absl::Status MakeDirectoryOf(Files& files, const std::string& prefix) {
  const std::string directory = Dirname(prefix);
  if (directory.empty()) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(const bool there, Exists(files, directory));
  if (there) return absl::OkStatus();
  const std::string above = Dirname(directory);
  if (above.empty()) return files.MakeDirectory(directory);
  VIGIL_ASSIGN_OR_RETURN(const bool has_place, Exists(files, above));
  // Where that is missing too, opening the file says so.
  return has_place ? files.MakeDirectory(directory) : absl::OkStatus();
}

// All tensors in that file; `index` says where each is in it.
absl::Status WriteData(TemporaryFile& data, const std::map<std::string, Tensor>& tensors, bool synced,
                       BundleIndex* index) {
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::string packed = tensor.dtype() == DType::kString ? PackStrings(tensor) : std::string();
    const std::string_view bytes = tensor.dtype() == DType::kString ? std::string_view(packed) : tensor.bytes();
    VIGIL_RETURN_IF_ERROR(data.Append(bytes));
    index->entries.emplace(name, BundleEntry{.dtype = tensor.dtype(),
                                             .shape = tensor.shape(),
                                             .offset = offset,
                                             .size = bytes.size(),
                                             .checksum = BundleChecksum(bytes)});
    offset += bytes.size();
  }
  return data.Finish(synced);
}

// What becomes of an error about a part: its writer has said that it is there, or was just writing it. A disk has lost
// it, or a half of it, with its machine, or somebody has deleted it; it comes back with another save.
absl::Status OfPart(const absl::Status& status, const std::string& prefix) {
  if (CodeOf(status) != Code::kNotFound && CodeOf(status) != Code::kDataLoss) return status;
  return MakeStatus(Code::kAborted,
                    fmt::format("A part of checkpoint {} was lost while it was saved: {}; save it again.", prefix,
                                MessageOf(status)));
}

}  // namespace

std::string IndexFileName(std::string_view prefix) { return fmt::format("{}.index", prefix); }

std::string DataFileName(std::string_view prefix, int shard, int shards) {
  return fmt::format("{}.data-{:05}-of-{:05}", prefix, shard, shards);
}

absl::Status WriteBundle(const Env& env, const std::string& prefix, const std::map<std::string, Tensor>& tensors,
                         Syncing syncing) {
  VIGIL_RETURN_IF_ERROR(MakeDirectoryOf(*env.files, prefix));
  VIGIL_ASSIGN_OR_RETURN(TemporaryFile data, TemporaryFile::Open(env, DataFileName(prefix, 0, 1)));
  BundleIndex index;
  VIGIL_RETURN_IF_ERROR(WriteData(data, tensors, syncing == Syncing::kYes, &index));
  return PublishBundle(env, {data.path()}, std::move(index), prefix, syncing);
}

absl::Status WriteBundlePart(const Env& env, const std::string& prefix, const std::map<std::string, Tensor>& tensors,
                             Syncing syncing) {
  constexpr int kAttempts = 3;  // who was given the same seed may have had the directory, and have removed it
  absl::StatusOr<TemporaryFile> data;
  for (int i = 0; i < kAttempts; ++i) {
    VIGIL_RETURN_IF_ERROR(MakeDirectoryOf(*env.files, prefix));
    data = TemporaryFile::OpenAs(*env.files, DataFileName(prefix, 0, 1));
    if (CodeOf(data.status()) != Code::kNotFound) break;
  }
  VIGIL_RETURN_IF_ERROR(data.status());
  BundleIndex index;
  absl::Status status = WriteData(*data, tensors, syncing == Syncing::kYes, &index);
  if (status.ok()) status = WriteBundleIndex(env, prefix, index, Syncing::kNo);
  return OfPart(status, prefix);
}

absl::Status MergeBundles(const Env& env, const std::vector<std::string>& parts, const std::string& prefix,
                          Syncing syncing) {
  if (parts.empty()) {
    return MakeStatus(Code::kInvalidArgument, fmt::format("Checkpoint {} cannot be made of no parts", prefix));
  }
  Files& files = *env.files;
  BundleIndex merged;
  merged.shards = static_cast<int>(parts.size());
  std::vector<std::string> data;
  for (int shard = 0; shard < merged.shards; ++shard) {
    const std::string& part = parts[static_cast<std::size_t>(shard)];
    absl::StatusOr<BundleIndex> read = ReadBundleIndex(files, part);
    if (!read.ok()) return OfPart(read.status(), prefix);
    BundleIndex& index = *read;
    if (index.shards != 1) return DataLoss("a part of a checkpoint has shards itself", IndexFileName(part));
    for (auto& [name, entry] : index.entries) {
      entry.shard = shard;
      if (!merged.entries.emplace(name, std::move(entry)).second) {
        return MakeStatus(Code::kInvalidArgument, fmt::format("Two parts of checkpoint {} have key {}", prefix, name));
      }
    }
    data.push_back(DataFileName(part, 0, 1));
  }
  const absl::Status published = OfPart(PublishBundle(env, data, std::move(merged), prefix, syncing), prefix);
  // What cannot be cleaned up does no harm.
  std::set<std::string> directories;
  for (const std::string& part : parts) {
    files.Remove(IndexFileName(part)).IgnoreError();
    if (Dirname(part) != Dirname(prefix)) directories.insert(Dirname(part));
  }
  for (const std::string& directory : directories) files.Remove(directory).IgnoreError();
  return published;
}

absl::Status VerifyBundle(Files& files, const std::string& prefix) {
  VIGIL_ASSIGN_OR_RETURN(BundleReader reader, BundleReader::Open(files, prefix));
  for (const auto& [key, entry] : reader.entries()) VIGIL_RETURN_IF_ERROR(reader.Read(key).status());
  return absl::OkStatus();
}

absl::StatusOr<BundleReader> BundleReader::Open(Files& files, const std::string& prefix) {
  VIGIL_ASSIGN_OR_RETURN(BundleIndex index, ReadBundleIndex(files, prefix));
  return BundleReader(files, prefix, std::move(index));
}

// True: the checkpoint was written again since the index was read, and nothing was read of the one before.
absl::StatusOr<bool> BundleReader::TakeNewerIndex() {
  for (const auto& [shard, file] : data_) {
    if (file != nullptr) return false;
  }
  VIGIL_ASSIGN_OR_RETURN(BundleIndex index, ReadBundleIndex(*files_, prefix_));
  if (EncodeIndex(index) == EncodeIndex(index_)) return false;
  data_.clear();
  index_ = std::move(index);
  return true;
}

absl::StatusOr<Tensor> BundleReader::Read(const std::string& key) {
  const auto it = index_.entries.find(key);
  if (it == index_.entries.end()) {
    return MakeStatus(Code::kNotFound, fmt::format("Key {} not found in checkpoint", key));
  }
  const BundleEntry& entry = it->second;
  const std::string path = DataFileName(prefix_, entry.shard, index_.shards);
  std::unique_ptr<File>& data = data_[entry.shard];
  if (data == nullptr) {
    absl::StatusOr<std::unique_ptr<File>> opened = files_->Open(path, OpenMode::kRead);
    if (CodeOf(opened.status()) == Code::kNotFound) {
      VIGIL_ASSIGN_OR_RETURN(const bool replaced, TakeNewerIndex());
      if (replaced) return Read(key);
    }
    VIGIL_ASSIGN_OR_RETURN(data, std::move(opened));
  }
  VIGIL_ASSIGN_OR_RETURN(const std::string bytes, data->Read(entry.offset, entry.size));
  if (bytes.size() != entry.size) return DataLoss(fmt::format("the file ends before the value of {}", key), path);
  if (BundleChecksum(bytes) != entry.checksum) {
    return DataLoss(fmt::format("the value of {} does not match its checksum", key), path);
  }
  std::optional<Tensor> value = Unpack(entry, bytes);
  if (!value.has_value()) return DataLoss(fmt::format("the value of {} does not have its size", key), path);
  return *std::move(value);
}

}  // namespace vigil

#include "vigil/core/io/tensor_bundle.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {
namespace {

// Writes under a temporary name and renames. What goes away unfinished takes its file along.
class TemporaryFile {
 public:
  static absl::StatusOr<TemporaryFile> Open(const Env& env, const std::string& path) {
    TemporaryFile out;
    out.files_ = env.files;
    out.path_ = path;
    out.temporary_ = fmt::format("{}.tempstate{}", path, env.random->Draw("checkpoint/tempstate"));
    VIGIL_ASSIGN_OR_RETURN(out.file_, env.files->Open(out.temporary_, OpenMode::kTruncate));
    return out;
  }
  TemporaryFile(TemporaryFile&&) = default;
  TemporaryFile& operator=(TemporaryFile&&) = default;

  absl::Status Append(std::string_view bytes) { return Checked(file_->Append(bytes)); }
  absl::Status Finish(Syncing syncing) {
    if (syncing == Syncing::kYes) VIGIL_RETURN_IF_ERROR(Checked(file_->Sync()));
    VIGIL_RETURN_IF_ERROR(Checked(file_->Close()));
    return Checked(files_->Rename(temporary_, path_));
  }

 private:
  TemporaryFile() = default;
  absl::Status Checked(absl::Status status) {
    // Why it could not be written is the error to tell.
    if (!status.ok()) files_->Remove(temporary_).IgnoreError();
    return status;
  }

  Files* files_ = nullptr;
  std::string path_;
  std::string temporary_;
  std::unique_ptr<File> file_;
};

// As TensorFlow: one level, so that a mistyped path is still an error.
absl::Status MakeDirectoryOf(Files& files, const std::string& prefix) {
  const std::string directory = Dirname(prefix);
  if (directory.empty() || Exists(files, directory)) return absl::OkStatus();
  const std::string above = Dirname(directory);
  // Where that is missing too, opening the file says so.
  return above.empty() || Exists(files, above) ? files.MakeDirectory(directory) : absl::OkStatus();
}

absl::Status WriteIndex(const Env& env, const std::string& prefix, const BundleIndex& index, Syncing syncing) {
  VIGIL_ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::Open(env, IndexFileName(prefix)));
  VIGIL_RETURN_IF_ERROR(file.Append(EncodeIndex(index)));
  return file.Finish(syncing);
}

absl::StatusOr<BundleIndex> ReadIndex(Files& files, const std::string& prefix) {
  const std::string path = IndexFileName(prefix);
  VIGIL_ASSIGN_OR_RETURN(const std::string bytes, ReadAll(files, path));
  return DecodeIndex(bytes, path);
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
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::string packed = tensor.dtype() == DType::kString ? PackStrings(tensor) : std::string();
    const std::string_view bytes = tensor.dtype() == DType::kString ? std::string_view(packed) : tensor.bytes();
    VIGIL_RETURN_IF_ERROR(data.Append(bytes));
    index.entries.emplace(name, BundleEntry{.dtype = tensor.dtype(),
                                            .shape = tensor.shape(),
                                            .offset = offset,
                                            .size = bytes.size(),
                                            .checksum = BundleChecksum(bytes)});
    offset += bytes.size();
  }
  VIGIL_RETURN_IF_ERROR(data.Finish(syncing));
  return WriteIndex(env, prefix, index, syncing);
}

absl::Status MergeBundles(const Env& env, const std::vector<std::string>& parts, const std::string& prefix,
                          Syncing syncing) {
  Files& files = *env.files;
  BundleIndex merged;
  merged.shards = static_cast<int>(parts.size());
  for (int shard = 0; shard < merged.shards; ++shard) {
    const std::string& part = parts[static_cast<std::size_t>(shard)];
    VIGIL_ASSIGN_OR_RETURN(BundleIndex index, ReadIndex(files, part));
    if (index.shards != 1) return DataLoss("a part of a checkpoint has shards itself", IndexFileName(part));
    for (auto& [name, entry] : index.entries) {
      entry.shard = shard;
      if (!merged.entries.emplace(name, std::move(entry)).second) {
        return MakeStatus(Code::kInvalidArgument, fmt::format("Two parts of checkpoint {} have key {}", prefix, name));
      }
    }
  }
  for (int shard = 0; shard < merged.shards; ++shard) {
    const std::string& part = parts[static_cast<std::size_t>(shard)];
    VIGIL_RETURN_IF_ERROR(files.Rename(DataFileName(part, 0, 1), DataFileName(prefix, shard, merged.shards)));
  }
  VIGIL_RETURN_IF_ERROR(WriteIndex(env, prefix, merged, syncing));
  // The checkpoint is complete; what cannot be cleaned up does no harm.
  std::set<std::string> directories;
  for (const std::string& part : parts) {
    files.Remove(IndexFileName(part)).IgnoreError();
    if (Dirname(part) != Dirname(prefix)) directories.insert(Dirname(part));
  }
  for (const std::string& directory : directories) files.Remove(directory).IgnoreError();
  return absl::OkStatus();
}

absl::Status VerifyBundle(Files& files, const std::string& prefix) {
  VIGIL_ASSIGN_OR_RETURN(BundleReader reader, BundleReader::Open(files, prefix));
  for (const auto& [key, entry] : reader.entries()) VIGIL_RETURN_IF_ERROR(reader.Read(key).status());
  return absl::OkStatus();
}

absl::StatusOr<BundleReader> BundleReader::Open(Files& files, const std::string& prefix) {
  VIGIL_ASSIGN_OR_RETURN(BundleIndex index, ReadIndex(files, prefix));
  return BundleReader(files, prefix, std::move(index));
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
    VIGIL_ASSIGN_OR_RETURN(data, files_->Open(path, OpenMode::kRead));
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

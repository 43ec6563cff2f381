#include "vigil/core/io/tensor_bundle.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/bundle_data.h"
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

template <typename... Args>
absl::Status BadItem(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(Code::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

// A piece that is all of its tensor is a tensor.
bool IsPart(const BundleItem& item) { return item.piece.has_value() && item.piece->shape != item.piece->whole; }

std::string KeyOf(const BundleItem& item) { return IsPart(item) ? SliceKey(item.name, item.piece->slice) : item.name; }

absl::Status CheckItem(const BundleItem& item) {
  if (item.name.empty()) return BadItem("A tensor of a checkpoint needs a name");
  if (item.value.dtype() != DType::kString && DTypeSize(item.value.dtype()) == 0) {
    return BadItem("{} cannot be saved: it has no elements of its own ({})", item.name, item.value.Describe());
  }
  if (item.piece.has_value() && item.piece->shape != item.value.shape()) {
    return BadItem(
        "Slice in shape_and_slice specification does not match the shape of the tensor to save: {} {}, "
        "tensor: {}",
        item.piece->whole.ToString(), item.piece->slice.ToString(), item.value.shape().ToString());
  }
  return absl::OkStatus();
}

// An index with the entries of tensors that are stored in pieces, if the keys of all items are fine; those of values
// are yet to come.
absl::StatusOr<BundleIndex> CheckItems(const BundleItems& items) {
  BundleIndex index;
  std::set<std::string> keys;
  for (const BundleItem& item : items) {
    VIGIL_RETURN_IF_ERROR(CheckItem(item));
    if (IsPart(item)) {
      const auto [it, is_new] =
          index.entries.try_emplace(item.name, BundleEntry{.dtype = item.value.dtype(), .shape = item.piece->whole});
      BundleEntry& whole = it->second;
      if (whole.dtype != item.value.dtype() || whole.shape != item.piece->whole) {
        return BadItem("Pieces of {} differ on its type or shape: {} {} and {} {}", item.name, DTypeName(whole.dtype),
                       whole.shape.ToString(), DTypeName(item.value.dtype()), item.piece->whole.ToString());
      }
      whole.slices.push_back(item.piece->slice);
    }
    if (!keys.insert(KeyOf(item)).second) {
      return BadItem("Adding duplicate key: {}{}{}", item.name, IsPart(item) ? ", piece " : "",
                     IsPart(item) ? item.piece->slice.ToString() : "");
    }
  }
  for (const auto& [name, entry] : index.entries) {
    if (keys.contains(name)) return BadItem("Adding duplicate key: {}", name);
  }
  return index;
}

// All values in that file; `index` says where each is in it.
absl::Status WriteData(TemporaryFile& data, const BundleItems& items, bool synced, BundleIndex* index) {
  BundleDataWriter writer(data);
  for (const BundleItem& item : items) {
    VIGIL_ASSIGN_OR_RETURN(BundleEntry entry, writer.Add(item.value));
    index->entries.emplace(KeyOf(item), std::move(entry));
  }
  VIGIL_RETURN_IF_ERROR(writer.Flush());
  return data.Finish(synced);
}

// Takes the entries of another part, whose values are in `shard`.
absl::Status MergeEntries(BundleIndex part, int shard, const std::string& prefix, BundleIndex* merged) {
  for (auto& [name, entry] : part.entries) {
    entry.shard = shard;
    const auto [it, is_new] = merged->entries.try_emplace(name, entry);
    if (is_new) continue;
    BundleEntry& known = it->second;
    if (known.slices.empty() || entry.slices.empty()) {
      return BadItem("Two parts of checkpoint {} have key {}", prefix, name);
    }
    if (known.dtype != entry.dtype || known.shape != entry.shape) {
      return BadItem("Two parts of checkpoint {} differ on the type or the shape of {}", prefix, name);
    }
    known.slices.insert(known.slices.end(), entry.slices.begin(), entry.slices.end());
  }
  return absl::OkStatus();
}

// What becomes of an error about a part: its writer has said that it is there, or was just writing it. A disk has lost
// it, or a half of it, with its machine, or somebody has deleted it; it comes back with another save.
absl::Status OfPart(const absl::Status& status, const std::string& prefix) {
  if (CodeOf(status) != Code::kNotFound && CodeOf(status) != Code::kDataLoss) return status;
  return MakeStatus(Code::kAborted,
                    fmt::format("A part of checkpoint {} was lost while it was saved: {}; save it again.", prefix,
                                MessageOf(status)));
}

// The index of all parts together: the values of each are a shard.
absl::StatusOr<BundleIndex> IndexOfParts(Files& files, const std::vector<std::string>& parts,
                                         const std::string& prefix) {
  BundleIndex merged;
  merged.shards = static_cast<int>(parts.size());
  for (int shard = 0; shard < merged.shards; ++shard) {
    const std::string& part = parts[static_cast<std::size_t>(shard)];
    absl::StatusOr<BundleIndex> read = ReadBundleIndex(files, part);
    if (!read.ok()) return OfPart(read.status(), prefix);
    if (read->shards != 1) return DataLoss("a part of a checkpoint has shards itself", IndexFileName(part));
    if (read->format != BundleFormat::kTensorFlow) {
      return BadItem(
          "{} was written by an earlier version of this library, and cannot be a part of checkpoint {}: all "
          "tasks must run one version when they save",
          IndexFileName(part), prefix);
    }
    VIGIL_RETURN_IF_ERROR(MergeEntries(*std::move(read), shard, prefix, &merged));
  }
  return merged;
}

}  // namespace

std::string IndexFileName(std::string_view prefix) { return fmt::format("{}.index", prefix); }

std::string DataFileName(std::string_view prefix, int shard, int shards) {
  return fmt::format("{}.data-{:05}-of-{:05}", prefix, shard, shards);
}

BundleItems ItemsOf(const std::map<std::string, Tensor>& tensors) {
  BundleItems out;
  for (const auto& [name, tensor] : tensors) out.push_back({.name = name, .value = tensor});
  return out;
}

absl::Status WriteBundleItems(const Env& env, const std::string& prefix, const BundleItems& items, Syncing syncing) {
  VIGIL_ASSIGN_OR_RETURN(BundleIndex index, CheckItems(items));
  VIGIL_RETURN_IF_ERROR(MakeDirectoryOf(*env.files, prefix));
  VIGIL_ASSIGN_OR_RETURN(TemporaryFile data, TemporaryFile::Open(env, DataFileName(prefix, 0, 1)));
  VIGIL_RETURN_IF_ERROR(WriteData(data, items, syncing == Syncing::kYes, &index));
  return PublishBundle(env, {data.path()}, std::move(index), prefix, syncing);
}

absl::Status WriteBundlePartItems(const Env& env, const std::string& prefix, const BundleItems& items,
                                  Syncing syncing) {
  VIGIL_ASSIGN_OR_RETURN(BundleIndex index, CheckItems(items));
  constexpr int kAttempts = 3;  // who was given the same seed may have had the directory, and have removed it
  absl::StatusOr<TemporaryFile> data;
  for (int i = 0; i < kAttempts; ++i) {
    VIGIL_RETURN_IF_ERROR(MakeDirectoryOf(*env.files, prefix));
    data = TemporaryFile::OpenAs(*env.files, DataFileName(prefix, 0, 1));
    if (CodeOf(data.status()) != Code::kNotFound) break;
  }
  VIGIL_RETURN_IF_ERROR(data.status());
  absl::Status status = WriteData(*data, items, syncing == Syncing::kYes, &index);
  if (status.ok()) {
    status = WriteBundleIndex(env, prefix, index, Syncing::kNo);
    if (!status.ok()) env.files->Remove(data->path()).IgnoreError();
  }
  return OfPart(status, prefix);
}

absl::Status MergeBundles(const Env& env, const std::vector<std::string>& parts, const std::string& prefix,
                          Syncing syncing) {
  if (parts.empty()) {
    return MakeStatus(Code::kInvalidArgument, fmt::format("Checkpoint {} cannot be made of no parts", prefix));
  }
  Files& files = *env.files;
  std::vector<std::string> data;
  for (const std::string& part : parts) data.push_back(DataFileName(part, 0, 1));
  // What cannot be merged stays: it may be somebody's checkpoints. Of parts of a save the next ones clean up.
  VIGIL_ASSIGN_OR_RETURN(BundleIndex merged, IndexOfParts(files, parts, prefix));
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
  return reader.Verify();
}

}  // namespace vigil

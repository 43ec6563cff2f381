// Reading checkpoints: tensors as they are stored, put together of pieces, and parts of them.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/bundle_data.h"
#include "vigil/core/io/bundle_publishing.h"
#include "vigil/core/io/tensor_bundle.h"

namespace vigil {
namespace {

// In which parts a tensor is stored, in numbers.
std::vector<TensorSlice> PartsOf(const BundleEntry& entry) {
  if (entry.slices.empty()) return {TensorSlice::Whole(entry.shape.rank()).Explicit(entry.shape)};
  std::vector<TensorSlice> out;
  for (const TensorSlice& each : entry.slices) out.push_back(each.Explicit(entry.shape));
  return out;
}

// A file whose small pieces are read one after the other: many at once. Others pass.
class ReadAhead final : public File {
 public:
  explicit ReadAhead(std::unique_ptr<File> file) : file_(std::move(file)) {}
  absl::StatusOr<std::size_t> ReadInto(std::uint64_t offset, std::span<char> out) override {
    const bool goes_on = offset == end_;
    end_ = offset + out.size();
    if (out.size() > kPieceBytes / 4) return file_->ReadInto(offset, out);
    if (!IsBuffered(offset, out.size())) {
      if (!goes_on) return file_->ReadInto(offset, out);
      buffer_.resize(kPieceBytes);
      VIGIL_ASSIGN_OR_RETURN(const std::size_t got, file_->ReadInto(offset, buffer_));
      buffer_.resize(got);
      at_ = offset;
    }
    const std::size_t size = std::min(out.size(), buffer_.size() - static_cast<std::size_t>(offset - at_));
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(offset - at_), size, out.begin());
    return size;
  }
  absl::StatusOr<std::string> Read(std::uint64_t offset, std::uint64_t size) override {
    return file_->Read(offset, size);
  }
  absl::Status Append(std::string_view data) override { return file_->Append(data); }
  absl::Status Sync() override { return file_->Sync(); }
  absl::Status Close() override { return file_->Close(); }

 private:
  bool IsBuffered(std::uint64_t offset, std::size_t size) const {
    return offset >= at_ && offset - at_ <= buffer_.size() && size <= buffer_.size() - (offset - at_);
  }

  std::unique_ptr<File> file_;
  std::string buffer_;
  std::uint64_t at_ = 0;   // where the buffer begins
  std::uint64_t end_ = 0;  // of what was read last
};

}  // namespace

absl::StatusOr<BundleReader> BundleReader::Open(Files& files, const std::string& prefix) {
  absl::StatusOr<BundleIndex> index = ReadBundleIndex(files, prefix);
  if (index.ok()) return BundleReader(files, prefix, *std::move(index));
  if (CodeOf(index.status()) != Code::kNotFound) return index.status();
  absl::StatusOr<V1Checkpoint> v1 = V1Checkpoint::Open(files, prefix);
  // Nothing there, or a directory of that name.
  const Code code = CodeOf(v1.status());
  if (code == Code::kNotFound || code == Code::kFailedPrecondition) return index.status();
  VIGIL_RETURN_IF_ERROR(v1.status());
  BundleReader out(files, prefix, BundleIndex());
  out.v1_ = *std::move(v1);
  return out;
}

// True: the checkpoint was written again since the index was read, and nothing was read of the one before.
absl::StatusOr<bool> BundleReader::TakeNewerIndex() {
  if (!data_.empty() || v1_.has_value()) return false;
  VIGIL_ASSIGN_OR_RETURN(BundleIndex index, ReadBundleIndex(*files_, prefix_));
  if (index == index_) return false;
  index_ = std::move(index);
  return true;
}

absl::StatusOr<const BundleReader::DataFile*> BundleReader::DataOf(int shard) {
  const auto known = data_.find(shard);
  if (known != data_.end()) return &known->second;
  const std::string path = DataFileName(prefix_, shard, index_.shards);
  VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<File> opened, files_->Open(path, OpenMode::kRead));
  return &data_.emplace(shard, DataFile{path, std::make_unique<ReadAhead>(std::move(opened))}).first->second;
}

absl::StatusOr<Tensor> BundleReader::ReadStored(std::string_view key, const BundleEntry& entry) {
  VIGIL_ASSIGN_OR_RETURN(const DataFile* const data, DataOf(entry.shard));
  return ReadElements(*data->file, entry, {key, data->path, index_.format});
}

absl::StatusOr<Tensor> BundleReader::Read(const std::string& key) { return ReadPart(key, nullptr); }

absl::StatusOr<Tensor> BundleReader::Read(const std::string& key, const TensorPiece& piece) {
  return ReadPart(key, &piece);
}

absl::StatusOr<Tensor> BundleReader::ReadPart(const std::string& key, const TensorPiece* piece) {
  while (true) {
    const auto it = entries().find(key);
    if (it == entries().end()) {
      return MakeStatus(Code::kNotFound, fmt::format("Key {} not found in checkpoint", key));
    }
    const BundleEntry& entry = it->second;
    if (piece != nullptr && piece->whole != entry.shape) {
      return MakeStatus(Code::kInvalidArgument,
                        fmt::format("tensor_name = {}; shape in shape_and_slice spec {} does not "
                                    "match the shape stored in checkpoint: {}",
                                    key, piece->whole.ToString(), entry.shape.ToString()));
    }
    absl::StatusOr<Tensor> value;
    if (piece != nullptr) {
      value = Assemble(*it, piece->slice, piece->shape);
    } else if (entry.slices.empty()) {
      value = ReadStored(key, entry);
    } else {
      value = Assemble(*it, TensorSlice::Whole(entry.shape.rank()), entry.shape);
    }
    if (CodeOf(value.status()) != Code::kNotFound) return value;
    VIGIL_ASSIGN_OR_RETURN(const bool replaced, TakeNewerIndex());
    if (!replaced) return value;
  }
}

// The entry of a piece's values: the tensor's own, if it is not stored in pieces.
absl::StatusOr<const BundleReader::Entry*> BundleReader::EntryOfPiece(const Entry& of, const TensorSlice& slice) const {
  const std::string& key = of.first;
  const BundleEntry& whole = of.second;
  if (whole.slices.empty()) return &of;
  const auto it = index_.entries.find(SliceKey(key, slice));
  const auto wrong = [&](std::string_view what) {
    return DataLoss(fmt::format("piece {} of {} {}", slice.ToString(), key, what), IndexFileName(prefix_));
  };
  if (it == index_.entries.end()) return wrong("has no entry");
  VIGIL_ASSIGN_OR_RETURN(const Shape shape, slice.ShapeIn(whole.shape));
  const BundleEntry& entry = it->second;
  if (!entry.slices.empty() || entry.dtype != whole.dtype || entry.shape != shape) {
    return wrong("has another type or shape than its tensor says");
  }
  return &*it;
}

absl::StatusOr<Tensor> BundleReader::ReadPiece(const Entry& of, const TensorSlice& slice) {
  if (v1_.has_value()) return v1_->Read(of.first, of.second, slice);
  VIGIL_ASSIGN_OR_RETURN(const Entry* const stored, EntryOfPiece(of, slice));
  return ReadStored(of.first, stored->second);
}

// Before memory is taken for what they make up: each is there, and together they have all of it once.
absl::Status BundleReader::CheckPieces(const Entry& of, const std::vector<TensorSlice>& parts, const TensorSlice& part,
                                       const Shape& shape) {
  const auto& [key, entry] = of;
  std::int64_t covered = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t common = CommonElements(parts[i], part);
    covered += common;
    if (common == 0) continue;
    const TensorSlice& slice = entry.slices.empty() ? parts[i] : entry.slices[i];
    if (v1_.has_value()) {
      VIGIL_RETURN_IF_ERROR(v1_->Read(key, entry, slice).status());
      continue;
    }
    VIGIL_ASSIGN_OR_RETURN(const Entry* const stored, EntryOfPiece(of, slice));
    VIGIL_ASSIGN_OR_RETURN(const DataFile* const data, DataOf(stored->second.shard));
    VIGIL_RETURN_IF_ERROR(CheckElementsAreThere(*data->file, stored->second, {key, data->path, index_.format}));
  }
  if (!AreDisjoint(parts)) {
    return DataLoss(fmt::format("the {} pieces of {} overlap, or are too many", parts.size(), key),
                    IndexFileName(prefix_));
  }
  if (covered == shape.num_elements()) return absl::OkStatus();
  const TensorSlice whole = TensorSlice::Whole(entry.shape.rank());
  return MakeStatus(
      Code::kInvalidArgument,
      fmt::format("{}: Does not have sufficient slices for partitioned tensor {} to restore in slice_spec: {}",
                  IndexFileName(prefix_), key, (part == whole.Explicit(entry.shape) ? whole : part).ToString()));
}

absl::StatusOr<Tensor> BundleReader::Assemble(const Entry& of, const TensorSlice& part, const Shape& shape) {
  const BundleEntry& entry = of.second;
  const std::vector<TensorSlice> parts = PartsOf(entry);
  const TensorSlice wanted = part.Explicit(entry.shape);
  const auto slice_at = [&](std::size_t i) { return entry.slices.empty() ? parts[i] : entry.slices[i]; };
  const auto exact = std::ranges::find(parts, wanted);
  if (exact != parts.end()) return ReadPiece(of, slice_at(static_cast<std::size_t>(exact - parts.begin())));
  VIGIL_RETURN_IF_ERROR(CheckPieces(of, parts, wanted, shape));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(entry.dtype, shape.dims()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (CommonElements(parts[i], wanted) == 0) continue;
    VIGIL_ASSIGN_OR_RETURN(const Tensor piece, ReadPiece(of, slice_at(i)));
    CopyCommonPart(parts[i], piece, wanted, &out);
  }
  return out;
}

absl::Status BundleReader::Verify() {
  if (v1_.has_value()) return v1_->Verify();
  while (true) {
    absl::Status status;
    for (auto it = index_.entries.begin(); it != index_.entries.end() && status.ok(); ++it) status = VerifyEntry(*it);
    if (CodeOf(status) != Code::kNotFound) return status;
    VIGIL_ASSIGN_OR_RETURN(const bool replaced, TakeNewerIndex());
    if (!replaced) return status;
  }
}

absl::Status BundleReader::VerifyEntry(const Entry& of) {
  const auto& [key, entry] = of;
  for (const TensorSlice& slice : entry.slices) VIGIL_RETURN_IF_ERROR(EntryOfPiece(of, slice).status());
  if (!entry.slices.empty()) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(const DataFile* const data, DataOf(entry.shard));
  return VerifyElements(*data->file, entry, {key, data->path, index_.format});
}

}  // namespace vigil

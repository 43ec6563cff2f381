#include "vigil/core/io/v1_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/tensor_bundle.pb.h"
#include "vigil/core/tensor/tensor_proto.h"

namespace vigil {
namespace {

constexpr char kAnyCharacter = '?';

bool Matches(std::string_view name, std::string_view pattern) {
  return std::ranges::equal(name, pattern, [](char c, char wanted) { return wanted == kAnyCharacter || c == wanted; });
}

bool Parse(std::string_view bytes, proto::SavedTensorSlices* out) {
  return bytes.size() <= std::size_t{std::numeric_limits<int>::max()} &&
         out->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// What is wrong with it; nullopt: nothing.
std::optional<std::string> DecodeMeta(const proto::SavedSliceMeta& meta, BundleEntry* out) {
  if (meta.type() <= 0 || meta.type() > std::numeric_limits<std::uint8_t>::max()) return "a type that is none";
  out->dtype = static_cast<DType>(meta.type());
  absl::StatusOr<Shape> shape = FromProto(meta.shape());
  if (!shape.ok()) return "a shape that cannot be";
  out->shape = *std::move(shape);
  for (const proto::TensorSliceProto& each : meta.slice()) {
    const std::optional<TensorSlice> slice = TensorSlice::FromProto(each);
    if (!slice.has_value() || !slice->ShapeIn(out->shape).ok()) return "a piece that is not inside its tensor";
    out->slices.push_back(*slice);
  }
  return out->slices.empty() ? std::optional<std::string>("no pieces") : std::nullopt;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> V1ShardsOf(Files& files, const std::string& name) {
  if (name.find(kAnyCharacter) == name.npos) return std::vector<std::string>{name};
  const std::string directory = Dirname(name);
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(directory.empty() ? "." : directory));
  std::vector<std::string> out;
  for (const std::string& each : names) {
    if (Matches(each, Basename(name))) out.push_back(JoinPath(directory, each));
  }
  if (out.empty()) return MakeStatus(Code::kNotFound, fmt::format("There are no files {}", name));
  return out;
}

absl::StatusOr<V1Checkpoint> V1Checkpoint::Open(Files& files, const std::string& name) {
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::string> paths, V1ShardsOf(files, name));
  V1Checkpoint out;
  for (const std::string& path : paths) VIGIL_RETURN_IF_ERROR(out.AddShard(files, path));
  return out;
}

absl::Status V1Checkpoint::AddShard(Files& files, const std::string& path) {
  VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<File> opened, files.Open(path, OpenMode::kRead));
  VIGIL_ASSIGN_OR_RETURN(const FileInfo info, files.Stat(path));
  const auto read = [file = std::shared_ptr<File>(std::move(opened))](std::uint64_t offset, std::uint64_t size) {
    return file->Read(offset, size);
  };
  VIGIL_ASSIGN_OR_RETURN(TableReader table, TableReader::Open(read, info.size, path));
  VIGIL_ASSIGN_OR_RETURN(const std::optional<std::string> value, table.Find(""));
  proto::SavedTensorSlices message;
  if (!value.has_value() || !Parse(*value, &message) || !message.has_meta()) {
    return DataLoss("the table is no checkpoint: it has no list of tensors", path);
  }
  for (const proto::SavedSliceMeta& meta : message.meta().tensor()) {
    BundleEntry entry;
    if (const std::optional<std::string> wrong = DecodeMeta(meta, &entry); wrong.has_value()) {
      return DataLoss(fmt::format("the entry of {} says what cannot be: {}", meta.name(), *wrong), path);
    }
    for (const TensorSlice& slice : entry.slices) {
      if (!shard_of_.emplace(SliceKey(meta.name(), slice), shards_.size()).second) {
        return DataLoss(fmt::format("a piece of {} is there twice", meta.name()), path);
      }
    }
    const auto [known, is_new] = entries_.emplace(meta.name(), entry);
    if (is_new) continue;
    if (known->second.dtype != entry.dtype || known->second.shape != entry.shape) {
      return DataLoss(fmt::format("two shards differ on the type or the shape of {}", meta.name()), path);
    }
    known->second.slices.insert(known->second.slices.end(), entry.slices.begin(), entry.slices.end());
  }
  shards_.push_back({path, std::move(table)});
  return absl::OkStatus();
}

absl::StatusOr<Tensor> V1Checkpoint::Read(const std::string& key, const BundleEntry& entry,
                                          const TensorSlice& slice) const {
  const std::string slice_key = SliceKey(key, slice);
  const Shard& shard = shards_[shard_of_.find(slice_key)->second];
  VIGIL_ASSIGN_OR_RETURN(const std::optional<std::string> value, shard.table.Find(slice_key));
  const auto wrong = [&](std::string_view what) {
    return DataLoss(fmt::format("the value of {} (piece {}) {}", key, slice.ToString(), what), shard.path);
  };
  proto::SavedTensorSlices message;
  if (!value.has_value()) return wrong("is not there");
  if (!Parse(*value, &message)) return wrong("is malformed");
  proto::TensorProto& data = *message.mutable_data()->mutable_data();
  if (data.dtype() != ToProto(entry.dtype) && data.dtype() != proto::DT_INVALID) return wrong("has another type");
  VIGIL_ASSIGN_OR_RETURN(const Shape shape, slice.ShapeIn(entry.shape));
  data.set_dtype(ToProto(entry.dtype));
  data.clear_tensor_shape();
  ToProto(shape, data.mutable_tensor_shape());
  std::int64_t may_fill = 0;
  absl::StatusOr<Tensor> out = FromProto(data, &may_fill);
  if (CodeOf(out.status()) == Code::kInvalidArgument) return wrong(MessageOf(out.status()));
  if (!out.ok()) return MakeStatus(CodeOf(out.status()), fmt::format("{}: {}", key, MessageOf(out.status())));
  return out;
}

absl::Status V1Checkpoint::Verify() const {
  for (const auto& [key, entry] : entries_) {
    for (const TensorSlice& slice : entry.slices) VIGIL_RETURN_IF_ERROR(Read(key, entry, slice).status());
  }
  return absl::OkStatus();
}

}  // namespace vigil

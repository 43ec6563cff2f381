#include "vigil/core/io/bundle_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/crc32c.h"
#include "vigil/core/io/earlier_bundle.h"
#include "vigil/core/io/table_reader.h"
#include "vigil/core/io/table_writer.h"
#include "vigil/core/io/tensor_bundle.pb.h"
#include "vigil/core/tensor/proto_util.h"
#include "vigil/core/tensor/tensor_proto.h"

namespace vigil {
namespace {

constexpr int kBundleVersion = 1;
constexpr int kMaxRank = 254;  // as TensorFlow

// What is wrong with it; nullopt: nothing.
std::optional<std::string> DecodeEntry(const proto::BundleEntryProto& in, int shards, BundleEntry* out) {
  // Every type of TensorFlow fits; what is greater is none.
  if (in.dtype() <= 0 || in.dtype() > std::numeric_limits<std::uint8_t>::max()) return "a type that is none";
  out->dtype = static_cast<DType>(in.dtype());
  absl::StatusOr<Shape> shape = FromProto(in.shape());
  if (!shape.ok() || shape->rank() > kMaxRank) return "a shape that cannot be";
  out->shape = *std::move(shape);
  for (const proto::TensorSliceProto& each : in.slices()) {
    const std::optional<TensorSlice> slice = TensorSlice::FromProto(each);
    if (!slice.has_value() || !slice->ShapeIn(out->shape).ok()) return "a piece that is not inside its tensor";
    out->slices.push_back(*slice);
  }
  if (in.shard_id() < 0 || in.shard_id() >= shards) {
    return fmt::format("shard {}, of {}", in.shard_id(), shards);
  }
  out->shard = in.shard_id();
  if (!out->slices.empty()) return std::nullopt;
  if (in.offset() < 0 || in.size() < 0 || !CheckedSum(in.offset(), in.size()).has_value()) {
    return fmt::format("{} bytes from offset {}", in.size(), in.offset());
  }
  out->offset = static_cast<std::uint64_t>(in.offset());
  out->size = static_cast<std::uint64_t>(in.size());
  out->checksum = UnmaskCrc(in.crc32c());
  if (!FitsItsSize(*out, BundleFormat::kTensorFlow)) {
    return fmt::format("{} bytes for {} {}", out->size, TypeText(out->dtype), out->shape.ToString());
  }
  return std::nullopt;
}

absl::Status CheckHeader(std::string_view value, const std::string& path, int* shards) {
  proto::BundleHeaderProto header;
  if (!header.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return DataLoss("the index's header is malformed", path);
  }
  if (header.num_shards() < 1 || header.num_shards() > kMaxShards) {
    return DataLoss(fmt::format("the index speaks of {} data files", header.num_shards()), path);
  }
  const auto refused = [&path](std::string_view why) {
    return MakeStatus(Code::kInvalidArgument, fmt::format("{}: {}", path, why));
  };
  if (header.endianness() != proto::BundleHeaderProto::LITTLE) {
    return refused("written by a machine of another byte order; write it again by one that has this one's");
  }
  const auto& bad = header.version().bad_consumers();
  if (header.version().min_consumer() > kBundleVersion || std::count(bad.begin(), bad.end(), kBundleVersion) > 0) {
    return refused(fmt::format("the checkpoint's format is newer (it needs version {}) than what is read here ({})",
                               header.version().min_consumer(), kBundleVersion));
  }
  *shards = header.num_shards();
  return absl::OkStatus();
}

absl::StatusOr<std::string> EncodeEntry(const BundleEntry& entry) {
  proto::BundleEntryProto out;
  out.set_dtype(ToProto(entry.dtype));
  ToProto(entry.shape, out.mutable_shape());
  for (const TensorSlice& slice : entry.slices) slice.ToProto(out.add_slices());
  out.set_shard_id(entry.shard);
  if (entry.slices.empty()) {
    out.set_offset(static_cast<std::int64_t>(entry.offset));
    out.set_size(static_cast<std::int64_t>(entry.size));
    out.set_crc32c(MaskCrc(static_cast<std::uint32_t>(entry.checksum)));
  }
  return SerializeDeterministically(out);
}

}  // namespace

absl::Status DataLoss(std::string_view what, const std::string& path) {
  return MakeStatus(Code::kDataLoss, fmt::format("{}: {}", path, what));
}

std::string TypeText(DType dtype) {
  if (DTypeSize(dtype) > 0 || dtype == DType::kString) return std::string(DTypeName(dtype));
  const std::string& name = proto::DataType_Name(ToProto(dtype));
  return name.empty() ? fmt::format("type {}", static_cast<int>(dtype)) : name;
}

bool FitsItsSize(const BundleEntry& entry, BundleFormat format) {
  if (entry.dtype == DType::kString) {
    // Of each string there is at least its length; of all, the checksum of the lengths.
    const bool earlier = format == BundleFormat::kEarlier;
    const std::optional<std::int64_t> lengths =
        CheckedProduct(entry.shape.num_elements(), earlier ? sizeof(std::uint64_t) : 1);
    if (!lengths.has_value()) return false;
    const auto least = static_cast<std::uint64_t>(*lengths);
    if (least == 0) return earlier ? entry.size == 0 : entry.size == 0 || entry.size == sizeof(std::uint32_t);
    return entry.size >= least && (earlier || entry.size - least >= sizeof(std::uint32_t));
  }
  const std::size_t each = DTypeSize(entry.dtype);
  if (each == 0) return true;
  const std::optional<std::int64_t> bytes = CheckedProduct(entry.shape.num_elements(), static_cast<std::int64_t>(each));
  return bytes.has_value() && static_cast<std::uint64_t>(*bytes) == entry.size;
}

absl::StatusOr<std::string> EncodeIndex(const BundleIndex& index) {
  proto::BundleHeaderProto header;
  header.set_num_shards(index.shards);
  header.mutable_version()->set_producer(kBundleVersion);
  VIGIL_ASSIGN_OR_RETURN(const std::string first, SerializeDeterministically(header));
  TableWriter table;
  table.Add("", first);
  for (const auto& [key, entry] : index.entries) {
    VIGIL_ASSIGN_OR_RETURN(const std::string value, EncodeEntry(entry));
    table.Add(key, value);
  }
  return table.Finish();
}

absl::StatusOr<BundleIndex> DecodeIndex(std::string_view bytes, const std::string& path) {
  if (IsEarlierIndex(bytes)) return DecodeEarlierIndex(bytes, path);
  const auto read = [bytes](std::uint64_t offset, std::uint64_t size) -> absl::StatusOr<std::string> {
    return std::string(bytes.substr(offset, size));
  };
  VIGIL_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(read, bytes.size(), path));
  BundleIndex index;
  bool has_header = false;
  VIGIL_RETURN_IF_ERROR(table.ForEach([&](std::string_view key, std::string_view value) {
    if (!has_header) {
      if (!key.empty()) return DataLoss("the index has no header", path);
      has_header = true;
      return CheckHeader(value, path, &index.shards);
    }
    proto::BundleEntryProto entry;
    BundleEntry decoded;
    if (!entry.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
      return DataLoss(fmt::format("the entry of {} is malformed", key), path);
    }
    if (const std::optional<std::string> wrong = DecodeEntry(entry, index.shards, &decoded); wrong.has_value()) {
      return DataLoss(fmt::format("the entry of {} says what cannot be: {}", key, *wrong), path);
    }
    index.entries.emplace_hint(index.entries.end(), key, std::move(decoded));
    return absl::OkStatus();
  }));
  if (!has_header) return DataLoss("the index is empty", path);
  return index;
}

}  // namespace vigil

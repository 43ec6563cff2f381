#include "vigil/core/io/bundle_index.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <bit>
#include <cstring>
#include <utility>

#include "vigil/core/base/code.h"

namespace vigil {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the files are little-endian; big-endian machines need swaps here");

constexpr std::string_view kMagic = "vigil-bundle-2\n";
constexpr std::uint64_t kMaxRank = 254;  // as TensorFlow

// Numbers and strings one after the other.
class Packer {
 public:
  void Number(std::uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value)); }
  void Text(std::string_view text) {
    Number(text.size());
    bytes_ += text;
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  bool Number(std::uint64_t* value) {
    if (rest_.size() < sizeof(*value)) return false;
    std::memcpy(value, rest_.data(), sizeof(*value));
    rest_.remove_prefix(sizeof(*value));
    return true;
  }
  bool Text(std::string* text) {
    std::uint64_t size = 0;
    if (!Number(&size) || rest_.size() < size) return false;
    text->assign(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return true;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

bool IsKnown(std::uint64_t dtype) {
  return dtype == static_cast<std::uint64_t>(DType::kString) ||
         (dtype <= 255 && DTypeSize(static_cast<DType>(dtype)) > 0);
}

// Whether a tensor of that type and shape can have that many bytes; then it can be made without asking for absurd
// memory.
bool FitsItsSize(const BundleEntry& entry) {
  const bool strings = entry.dtype == DType::kString;
  const auto element = static_cast<std::int64_t>(strings ? sizeof(std::uint64_t) : DTypeSize(entry.dtype));
  const std::optional<std::int64_t> bytes = CheckedProduct(entry.shape.num_elements(), element);
  if (!bytes.has_value()) return false;
  const auto least = static_cast<std::uint64_t>(*bytes);
  return strings && least > 0 ? least <= entry.size : least == entry.size;
}

bool DecodeEntry(Unpacker& in, std::uint64_t shards, BundleEntry* entry) {
  std::uint64_t dtype = 0;
  std::uint64_t rank = 0;
  std::uint64_t shard = 0;
  if (!in.Number(&dtype) || !in.Number(&rank) || !IsKnown(dtype) || rank > kMaxRank) return false;
  std::vector<std::int64_t> dims;
  for (std::uint64_t d = 0; d < rank; ++d) {
    std::uint64_t dim = 0;
    if (!in.Number(&dim)) return false;
    dims.push_back(static_cast<std::int64_t>(dim));
  }
  if (!in.Number(&shard) || !in.Number(&entry->offset) || !in.Number(&entry->size) || !in.Number(&entry->checksum)) {
    return false;
  }
  entry->dtype = static_cast<DType>(dtype);
  absl::StatusOr<Shape> shape = Shape::Make(std::move(dims));
  if (!shape.ok()) return false;
  entry->shape = *std::move(shape);
  entry->shard = static_cast<int>(shard);
  return shard < shards && FitsItsSize(*entry);
}

}  // namespace

absl::Status DataLoss(std::string_view what, const std::string& path) {
  return MakeStatus(Code::kDataLoss, fmt::format("{}: {}", path, what));
}

std::uint64_t BundleChecksum(std::string_view bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

std::string PackStrings(const Tensor& tensor) {
  Packer packer;
  for (const std::string& text : tensor.flat<std::string>()) packer.Text(text);
  return std::move(packer.bytes());
}

std::optional<Tensor> Unpack(const BundleEntry& entry, std::string_view bytes) {
  absl::StatusOr<Tensor> out = Tensor::MakeUnwritten(entry.dtype, entry.shape.dims());
  if (!out.ok()) return std::nullopt;
  if (entry.dtype == DType::kString) {
    Unpacker in(bytes);
    for (std::string& text : out->mutable_flat<std::string>()) {
      if (!in.Text(&text)) return std::nullopt;
    }
    return in.done() ? std::optional<Tensor>(*std::move(out)) : std::nullopt;
  }
  if (out->bytes().size() != bytes.size()) return std::nullopt;
  if (!bytes.empty()) std::memcpy(out->mutable_bytes().data(), bytes.data(), bytes.size());
  return *std::move(out);
}

std::string EncodeIndex(const BundleIndex& index) {
  Packer out;
  out.bytes() = kMagic;
  out.Number(static_cast<std::uint64_t>(index.shards));
  out.Number(index.entries.size());
  for (const auto& [name, entry] : index.entries) {
    out.Text(name);
    out.Number(static_cast<std::uint64_t>(entry.dtype));
    out.Number(entry.shape.dims().size());
    for (const std::int64_t dim : entry.shape.dims()) out.Number(static_cast<std::uint64_t>(dim));
    out.Number(static_cast<std::uint64_t>(entry.shard));
    out.Number(entry.offset);
    out.Number(entry.size);
    out.Number(entry.checksum);
  }
  out.Number(BundleChecksum(out.bytes()));
  return std::move(out.bytes());
}

absl::StatusOr<BundleIndex> DecodeIndex(std::string_view bytes, const std::string& path) {
  std::uint64_t number = 0;
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + sizeof(number)) {
    return DataLoss("not a bundle's index", path);
  }
  const std::size_t end = bytes.size() - sizeof(number);
  Unpacker(bytes.substr(end)).Number(&number);
  if (number != BundleChecksum(bytes.substr(0, end))) return DataLoss("the index does not match its checksum", path);

  BundleIndex index;
  Unpacker in(bytes.substr(kMagic.size(), end - kMagic.size()));
  std::uint64_t shards = 0;
  std::uint64_t count = 0;
  bool fine = in.Number(&shards) && shards > 0 && shards <= kMaxShards && in.Number(&count);
  for (std::uint64_t i = 0; fine && i < count; ++i) {
    std::string name;
    BundleEntry entry;
    fine = in.Text(&name) && DecodeEntry(in, shards, &entry);
    index.entries.emplace(std::move(name), std::move(entry));
  }
  if (!fine || !in.done()) return DataLoss("the index is malformed", path);
  index.shards = static_cast<int>(shards);
  return index;
}

}  // namespace vigil

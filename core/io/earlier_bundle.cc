#include "vigil/core/io/earlier_bundle.h"

#include <xxhash.h>

#include <utility>
#include <vector>

#include "vigil/core/io/varint.h"

namespace vigil {
namespace {

constexpr std::string_view kEarlierMagic = "vigil-bundle-2\n";
constexpr std::uint64_t kMostDims = 254;  // as TensorFlow

// Numbers and strings one after the other.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  bool Number(std::uint64_t* value) {
    if (rest_.size() < sizeof(*value)) return false;
    *value = FixedAt<std::uint64_t>(rest_);
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

bool IsKnownType(std::uint64_t dtype) {
  return dtype == static_cast<std::uint64_t>(DType::kString) ||
         (dtype <= 255 && DTypeSize(static_cast<DType>(dtype)) > 0);
}

bool DecodeEarlierEntry(Unpacker& in, std::uint64_t shards, BundleEntry* entry) {
  std::uint64_t dtype = 0;
  std::uint64_t rank = 0;
  std::uint64_t shard = 0;
  if (!in.Number(&dtype) || !in.Number(&rank) || !IsKnownType(dtype) || rank > kMostDims) return false;
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
  return shard < shards && FitsItsSize(*entry, BundleFormat::kEarlier);
}

}  // namespace

bool IsEarlierIndex(std::string_view bytes) { return bytes.starts_with(kEarlierMagic); }

absl::StatusOr<BundleIndex> DecodeEarlierIndex(std::string_view bytes, const std::string& path) {
  std::uint64_t number = 0;
  if (bytes.size() < kEarlierMagic.size() + sizeof(number)) return DataLoss("not a bundle's index", path);
  const std::size_t end = bytes.size() - sizeof(number);
  if (FixedAt<std::uint64_t>(bytes.substr(end)) != XXH64(bytes.data(), end, 0)) {
    return DataLoss("the index does not match its checksum", path);
  }
  BundleIndex index;
  index.format = BundleFormat::kEarlier;
  Unpacker in(bytes.substr(kEarlierMagic.size(), end - kEarlierMagic.size()));
  std::uint64_t shards = 0;
  std::uint64_t count = 0;
  bool fine = in.Number(&shards) && shards > 0 && shards <= kMaxShards && in.Number(&count);
  for (std::uint64_t i = 0; fine && i < count; ++i) {
    std::string name;
    BundleEntry entry;
    fine = in.Text(&name) && DecodeEarlierEntry(in, shards, &entry);
    index.entries.emplace(std::move(name), std::move(entry));
  }
  if (!fine || !in.done()) return DataLoss("the index is malformed", path);
  index.shards = static_cast<int>(shards);
  return index;
}

bool UnpackEarlierStrings(std::string_view bytes, Tensor* out) {
  Unpacker in(bytes);
  for (std::string& text : out->mutable_flat<std::string>()) {
    if (!in.Text(&text)) return false;
  }
  return in.done();
}

}  // namespace vigil

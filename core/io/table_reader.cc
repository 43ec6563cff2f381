#include "vigil/core/io/table_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/crc32c.h"
#include "vigil/core/io/table_writer.h"
#include "vigil/core/io/varint.h"

namespace vigil {
namespace {

constexpr std::uint64_t kMostKeysForBytes = 64;  // how much longer keys may be in full than the file is

// The entries of a block, one after the other.
class BlockEntries {
 public:
  // False: these are no block's bytes.
  bool Start(std::string_view block) {
    if (block.size() < sizeof(std::uint32_t)) return false;
    const std::size_t end = block.size() - sizeof(std::uint32_t);
    const std::uint64_t restarts = FixedAt<std::uint32_t>(block.substr(end));
    if (restarts > end / sizeof(std::uint32_t)) return false;
    rest_ = block.substr(0, end - restarts * sizeof(std::uint32_t));
    return true;
  }
  bool done() const { return rest_.empty(); }
  bool Next() {
    std::uint64_t shared = 0;
    std::uint64_t own = 0;
    std::uint64_t size = 0;
    if (!TakeVarint64(&rest_, &shared) || !TakeVarint64(&rest_, &own) || !TakeVarint64(&rest_, &size)) return false;
    if (shared > key_.size() || own > rest_.size() || size > rest_.size() - own) return false;
    key_.resize(shared);
    key_ += rest_.substr(0, own);
    value_ = rest_.substr(own, size);
    rest_.remove_prefix(own + size);
    return true;
  }
  const std::string& key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  std::string_view rest_;
  std::string key_;
  std::string_view value_;
};

}  // namespace

absl::Status TableReader::Damaged(std::uint64_t offset, std::string_view what) const {
  return MakeStatus(Code::kDataLoss, fmt::format("{}: at offset {}: {}", path_, offset, what));
}

// The one form of it, so that every other byte is noticed.
std::string TableReader::FooterOf(const Block& meta, const Block& index) {
  std::string out;
  for (const Block* block : {&meta, &index}) {
    AppendVarint64(block->offset, &out);
    AppendVarint64(block->size, &out);
  }
  out.resize(kTableFooterSize - sizeof(kTableMagic));
  AppendFixed(kTableMagic, &out);
  return out;
}

absl::StatusOr<TableReader> TableReader::Open(ReadBytes read, std::uint64_t size, std::string path) {
  TableReader out(std::move(read), size, std::move(path));
  VIGIL_RETURN_IF_ERROR(out.ReadFooter());
  return out;
}

absl::Status TableReader::ReadFooter() {
  if (size_ < kTableFooterSize) return Damaged(0, fmt::format("a file of {} bytes is no table", size_));
  const std::uint64_t at = size_ - kTableFooterSize;
  VIGIL_ASSIGN_OR_RETURN(const std::string footer, read_(at, kTableFooterSize));
  if (footer.size() != kTableFooterSize) return Damaged(at, "the file ends before its footer");
  std::string_view rest = footer;
  if (FixedAt<std::uint64_t>(rest.substr(kTableFooterSize - sizeof(kTableMagic))) != kTableMagic) {
    return Damaged(at, "not a table (wrong magic number)");
  }
  rest.remove_suffix(sizeof(kTableMagic));
  Block meta;
  Block index;
  if (!TakeVarint64(&rest, &meta.offset) || !TakeVarint64(&rest, &meta.size) || !TakeVarint64(&rest, &index.offset) ||
      !TakeVarint64(&rest, &index.size) || footer != FooterOf(meta, index)) {
    return Damaged(at, "the footer is malformed");
  }
  // Nothing is needed of this block (it names filters), but it is there if the footer is right.
  VIGIL_RETURN_IF_ERROR(VisitBlock(meta, [](std::string_view, std::string_view) { return absl::OkStatus(); }));
  std::uint64_t keys = 0;
  return VisitBlock(index, [&](std::string_view key, std::string_view value) {
    Block block;
    block.last_key = key;
    const bool fine = TakeVarint64(&value, &block.offset) && TakeVarint64(&value, &block.size) && value.empty();
    keys += key.size();
    if (!fine || keys > kMostKeysForBytes * size_ || (!blocks_.empty() && key < blocks_.back().last_key)) {
      return Damaged(index.offset, "the index of blocks is malformed");
    }
    blocks_.push_back(std::move(block));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::string> TableReader::ReadBlock(const Block& block) const {
  if (block.offset > size_ || block.size > size_ - block.offset ||
      size_ - block.offset - block.size < kTableTrailerSize)
    return Damaged(block.offset, fmt::format("a block of {} bytes is not inside the file", block.size));
  VIGIL_ASSIGN_OR_RETURN(std::string bytes, read_(block.offset, block.size + kTableTrailerSize));
  if (bytes.size() != block.size + kTableTrailerSize) return Damaged(block.offset, "the file ends inside a block");
  const auto stored = FixedAt<std::uint32_t>(std::string_view(bytes).substr(block.size + 1));
  if (UnmaskCrc(stored) != Crc32c(std::string_view(bytes).substr(0, block.size + 1))) {
    return Damaged(block.offset, "a block does not match its checksum");
  }
  const auto compression = static_cast<unsigned char>(bytes[block.size]);
  bytes.resize(block.size);
  if (compression == 0) return bytes;
  return MakeStatus(Code::kInvalidArgument,
                    fmt::format("{}: at offset {}: a block is compressed as type {}, which cannot "
                                "be read here; write the file again without compression",
                                path_, block.offset, compression));
}

absl::Status TableReader::VisitBlock(const Block& block, const Visit& visit) const {
  VIGIL_ASSIGN_OR_RETURN(const std::string bytes, ReadBlock(block));
  BlockEntries entries;
  if (!entries.Start(bytes)) return Damaged(block.offset, "a block is malformed");
  while (!entries.done()) {
    if (!entries.Next()) return Damaged(block.offset, "an entry of a block is malformed");
    VIGIL_RETURN_IF_ERROR(visit(entries.key(), entries.value()));
  }
  return absl::OkStatus();
}

absl::Status TableReader::ForEach(const Visit& visit) const {
  std::optional<std::string> last;
  std::uint64_t keys = 0;
  for (const Block& block : blocks_) {
    VIGIL_RETURN_IF_ERROR(VisitBlock(block, [&](std::string_view key, std::string_view value) {
      if (last.has_value() && key <= *last) {
        return Damaged(block.offset, key == *last ? "two entries have one key" : "keys are out of order");
      }
      keys += key.size();
      if (keys > kMostKeysForBytes * size_) return Damaged(block.offset, "keys are longer than a file of its size has");
      last = key;
      return visit(key, value);
    }));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> TableReader::Find(std::string_view key) const {
  std::optional<std::string> found;
  const auto block = std::ranges::lower_bound(blocks_, key, {}, &Block::last_key);
  if (block == blocks_.end()) return found;
  VIGIL_RETURN_IF_ERROR(VisitBlock(*block, [&](std::string_view each, std::string_view value) {
    if (each == key) found = value;
    return absl::OkStatus();
  }));
  return found;
}

}  // namespace vigil

#include "vigil/core/io/table_writer.h"

#include <algorithm>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/io/crc32c.h"
#include "vigil/core/io/varint.h"

namespace vigil {
namespace {

constexpr char kNotCompressed = 0;

std::size_t SharedBeginning(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t shared = 0;
  while (shared < most && a[shared] == b[shared]) ++shared;
  return shared;
}

bool CanGrow(char byte) { return static_cast<unsigned char>(byte) < 0xff; }

// A short key from `key` on and before `limit`.
std::string Separator(const std::string& key, std::string_view limit) {
  const std::size_t at = SharedBeginning(key, limit);
  if (at >= key.size() || at >= limit.size() || !CanGrow(key[at])) return key;
  if (static_cast<unsigned char>(key[at]) + 1 >= static_cast<unsigned char>(limit[at])) return key;
  std::string out = key.substr(0, at + 1);
  ++out.back();
  return out;
}

// A short key from `key` on.
std::string Successor(const std::string& key) {
  const auto grows = std::ranges::find_if(key, CanGrow);
  if (grows == key.end()) return key;
  std::string out(key.begin(), grows + 1);
  ++out.back();
  return out;
}

}  // namespace

void TableBlock::Add(std::string_view key, std::string_view value) {
  std::size_t shared = 0;
  if (since_restart_ < interval_) {
    shared = SharedBeginning(last_key_, key);
  } else {
    restarts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    since_restart_ = 0;
  }
  AppendVarint64(shared, &bytes_);
  AppendVarint64(key.size() - shared, &bytes_);
  AppendVarint64(value.size(), &bytes_);
  bytes_ += key.substr(shared);
  bytes_ += value;
  last_key_ = key;
  ++since_restart_;
}

std::string TableBlock::Finish() {
  for (const std::uint32_t at : restarts_) AppendFixed(at, &bytes_);
  AppendFixed(static_cast<std::uint32_t>(restarts_.size()), &bytes_);
  std::string out = std::move(bytes_);
  *this = TableBlock(interval_);
  return out;
}

void TableWriter::Add(std::string_view key, std::string_view value) {
  VIGIL_CHECK(!any_ || key > last_key_);
  if (!pending_.empty()) {
    index_.Add(Separator(last_key_, key), pending_);
    pending_.clear();
  }
  any_ = true;
  last_key_ = key;
  data_.Add(key, value);
  if (data_.size() >= options_.block_size) CloseBlock();
}

std::string TableWriter::AppendBlock(TableBlock& block) {
  std::string bytes = block.Finish();
  std::string handle;
  AppendVarint64(out_.size(), &handle);
  AppendVarint64(bytes.size(), &handle);
  bytes.push_back(kNotCompressed);
  AppendFixed(MaskCrc(Crc32c(bytes)), &bytes);
  out_ += bytes;
  return handle;
}

void TableWriter::CloseBlock() {
  if (!data_.empty()) pending_ = AppendBlock(data_);
}

std::string TableWriter::Finish() {
  CloseBlock();
  TableBlock none(options_.restart_interval);
  std::string footer = AppendBlock(none);
  if (!pending_.empty()) index_.Add(Successor(last_key_), pending_);
  footer += AppendBlock(index_);
  footer.resize(kTableFooterSize - sizeof(kTableMagic));
  AppendFixed(kTableMagic, &footer);
  out_ += footer;
  return std::move(out_);
}

}  // namespace vigil

// Keys and values, sorted, as the bytes of a table file: LevelDB's format, which TensorFlow's checkpoints are
// indexed in.
//
// Blocks of entries (a key shares its beginning with the one before), a block that says where they are, a footer.
// The bytes are those that TensorFlow writes: no compression, blocks of 256 KiB, every 16th key in full.
// Not LevelDB's own library: files go through the file seam, and what a reader meets may be anything (table_reader.h).
// Thread safety: one task at a time. Errors: none; all is in memory.
// Source: LevelDB's doc/table_format.md.
#ifndef VIGIL_CORE_IO_TABLE_WRITER_H_
#define VIGIL_CORE_IO_TABLE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vigil {

inline constexpr std::uint64_t kTableMagic = 0xdb4775248b80fb57ULL;  // the last eight bytes
inline constexpr std::size_t kTableFooterSize = 48;
inline constexpr std::size_t kTableTrailerSize = 5;  // of a block: how it is compressed, and the masked checksum

// One block. Part of TableWriter.
class TableBlock {
 public:
  explicit TableBlock(int restart_interval) : interval_(restart_interval) {}
  void Add(std::string_view key, std::string_view value);
  bool empty() const { return bytes_.empty(); }
  std::size_t size() const { return bytes_.size() + (restarts_.size() + 1) * sizeof(std::uint32_t); }
  // The block's bytes; it is empty then.
  std::string Finish();

 private:
  int interval_;
  std::string bytes_;
  std::vector<std::uint32_t> restarts_ = {0};  // where keys stand in full
  int since_restart_ = 0;
  std::string last_key_;
};

struct TableOptions {
  std::size_t block_size = std::size_t{256} << 10;  // from which on a block is closed
  int restart_interval = 16;
};

class TableWriter {
 public:
  explicit TableWriter(TableOptions options = {}) : options_(options), data_(options.restart_interval) {}
  // REQUIRES: `key` is greater than all before (as bytes).
  void Add(std::string_view key, std::string_view value);
  // The whole file. REQUIRES: called once, last.
  std::string Finish();

 private:
  // Where a block lies, as its bytes say it to a reader.
  std::string AppendBlock(TableBlock& block);
  void CloseBlock();

  TableOptions options_;
  std::string out_;
  TableBlock data_;
  TableBlock index_{1};
  std::string last_key_;
  bool any_ = false;
  std::string pending_;  // where the last block lies, if the index does not have it yet
};

}  // namespace vigil

#endif  // VIGIL_CORE_IO_TABLE_WRITER_H_

// Reads a table file (table_writer.h) that anybody may have written: blocks of any size, with filters (which it passes
// by). Compressed blocks are refused.
//
// Nothing that the bytes say is believed before it is checked: a size asks for no more memory than the file has, and 64
// times as much for keys that share their beginnings; keys ascend, so none is there twice.
// Errors: DATA_LOSS, naming the file and the offset of the block, for bytes that are no table or not those that were
// written; INVALID_ARGUMENT for compression; those of `read`.
// Thread safety: one task at a time.
#ifndef VIGIL_CORE_IO_TABLE_READER_H_
#define VIGIL_CORE_IO_TABLE_READER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vigil {

// A table's bytes: up to `size` from `offset` on; fewer only at the end.
using ReadBytes = std::function<absl::StatusOr<std::string>(std::uint64_t offset, std::uint64_t size)>;

class TableReader {
 public:
  // Reads the footer and the index. `size`: of the whole file; `path` is for messages.
  static absl::StatusOr<TableReader> Open(ReadBytes read, std::uint64_t size, std::string path);

  // All entries in the order of their keys, until one is refused. Every block is read and checked.
  using Visit = std::function<absl::Status(std::string_view key, std::string_view value)>;
  absl::Status ForEach(const Visit& visit) const;
  // nullopt: there is none.
  absl::StatusOr<std::optional<std::string>> Find(std::string_view key) const;

 private:
  struct Block {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::string last_key;  // no key in it is greater
  };

  TableReader(ReadBytes read, std::uint64_t size, std::string path)
      : read_(std::move(read)), size_(size), path_(std::move(path)) {}
  static std::string FooterOf(const Block& meta, const Block& index);
  absl::Status ReadFooter();
  absl::StatusOr<std::string> ReadBlock(const Block& block) const;
  absl::Status VisitBlock(const Block& block, const Visit& visit) const;
  absl::Status Damaged(std::uint64_t offset, std::string_view what) const;

  ReadBytes read_;
  std::uint64_t size_;
  std::string path_;
  std::vector<Block> blocks_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_IO_TABLE_READER_H_

// Helpers of the tests of replays/.
#ifndef VIGIL_REPLAYS_TESTING_H_
#define VIGIL_REPLAYS_TESTING_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/env/files.h"
#include "vigil/replays/input.h"

namespace vigil::replays {

// Read-only files in memory. A name that ends in '/' is an empty folder; "a/b" makes the folder "a".
class MemoryFiles : public Files {
 public:
  std::map<std::string, std::string> content;
  std::map<std::string, absl::Status> unreadable;      // Open and List of this path fail so
  std::map<std::string, std::uint64_t> broken_behind;  // Read from this offset on fails

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  absl::StatusOr<FileInfo> Stat(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status MakeDirectory(const std::string& path) override;
};

// The path of a recording of this repository.
std::string RecordedPath(std::string_view name);
// Its bytes; fails the test if it cannot be read.
std::string ReadDisk(const std::string& path);
// The records of all files under replays/tensorflow, as text, in order.
const std::vector<RawRecord>& RecordedRecords();

std::string PackXz(std::string_view data);
// Whoever unpacks it needs about `dictionary_bytes` of memory.
std::string PackXzWithDictionary(std::string_view data, std::uint32_t dictionary_bytes);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_TESTING_H_

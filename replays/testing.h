// Helpers of the tests of replays/.
#ifndef VIGIL_REPLAYS_TESTING_H_
#define VIGIL_REPLAYS_TESTING_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/replays/input.h"

namespace vigil::replays {

// Files in memory with this content, by path; folders come with what is in them.
class FilesWith {
 public:
  FilesWith(std::initializer_list<std::pair<std::string, std::string>> content);
  operator Files&() { return files_; }
  fakes::MemoryFiles* operator->() { return &files_; }

 private:
  fakes::ManualClock clock_;
  fakes::MemoryFiles files_{clock_};
};

// The folder with the recordings of TensorFlow.
std::string RecordedFolder();
// The records of all its files, in order of the names.
const std::vector<RawRecord>& RecordedRecords();

std::string PackXz(std::string_view data);
// Whoever unpacks it needs about `dictionary_bytes` of memory.
std::string PackXzWithDictionary(std::string_view data, std::uint32_t dictionary_bytes);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_TESTING_H_

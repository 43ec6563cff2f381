// Helpers of the tests of replays/.
#ifndef VIGIL_REPLAYS_PLAY_TESTING_H_
#define VIGIL_REPLAYS_PLAY_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/fakes/traces/trace_parts.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/judge/result.h"
#include "vigil/replays/traces/input.h"

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

// Of the recordings of sessions in files of such a name those of supervisors, or all others, in that behaviour.
std::vector<Recording> RecordedSessions(std::string_view file, const std::string& behaviour, bool supervisors = false);

// What a replay of a trace gives.
Result Replayed(std::string_view trace);
std::string WhyNot(const Result& result);
// Plays every so many of them traced, then their traces, which must pass: how many were traced.
int ReplayTracesOf(const std::vector<Recording>& recordings, std::size_t every);

// Torn anywhere (behind every so many bytes), it plays what is whole, and says that it was torn.
void ExpectToPlayTorn(const std::string& trace, std::size_t every = 1);

// One decision of a trace is made another than the core's.
struct Forgery {
  const char* name;
  std::function<void(fakes::TraceParts&)> forge;
  const char* expected;  // what is shown as the first difference; "" = nothing more
  const char* played;
};
// Each of them, done to the trace, is found and shown at its place.
void ExpectFound(const std::string& trace, std::span<const Forgery> forgeries);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAY_TESTING_H_

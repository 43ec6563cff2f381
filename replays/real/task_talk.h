// What a job that is played by processes and its processes tell one another: orders, by standard input, and what
// happens there, word by word, by standard output.
//
// A word is what it is as a whole or not at all: of a process that is killed the last one may be missing.
// Both ends are of one build (packed.h). Thread safety: data; a WordReader belongs to one thread.
#ifndef VIGIL_REPLAYS_REAL_TASK_TALK_H_
#define VIGIL_REPLAYS_REAL_TASK_TALK_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/time.h"
#include "vigil/sim/cluster/job_facts.h"
#include "vigil/sim/cluster/job_history.h"

namespace vigil::replays {

struct TaskOrders {
  std::string scenario;                                     // as a record
  std::string task;                                         // "chief:0"
  int number = 0;                                           // of the task among all
  std::map<std::string, std::vector<std::string>> cluster;  // where it finds the others, and itself
  std::string target;                                       // of its sessions, where that is not its own server
  std::string checkpoint_dir;
  Duration boot{0};      // how long its start takes
  std::string plant;     // the planted bug that is on in it; "" = none
  sim::TaskFacts facts;  // of its earlier lives
};
std::string PackOrders(const TaskOrders& orders);
// INVALID_ARGUMENT: these are none of this build's.
absl::StatusOr<TaskOrders> UnpackOrders(std::string_view bytes);

struct TaskWord {
  std::optional<sim::JobMoment> moment;  // one of the two
  std::optional<sim::TaskFacts> facts;   // of all its lives, as of now
};
std::string PackWord(const TaskWord& word);

class WordReader {
 public:
  void Add(std::string_view bytes) { bytes_ += bytes; }
  // The next one that is whole. A stream that is none is an error, and of no use any more.
  absl::StatusOr<std::optional<TaskWord>> Next();

 private:
  std::string bytes_;
  std::size_t at_ = 0;  // what is before it was read
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_REAL_TASK_TALK_H_

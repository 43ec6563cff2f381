// The checkpoint directory of a modelled scenario, and the saver that looks after it: which checkpoints are there,
// which of them the state file names. At most five are kept.
//
// Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_DIRECTORY_H_
#define VIGIL_PROPERTIES_MODEL_DIRECTORY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::properties::model {

class Directory {
 public:
  // `limits_hold`: the keep limit holds across restarts, and all that is too many goes.
  Directory(const replays::CheckpointSpec& spec, bool limits_hold);

  enum class State { kNone, kNamesCheckpoints, kInvalid, kGarbage };
  State state() const { return state_; }
  // REQUIRES: the state names checkpoints.
  std::int64_t latest() const { return all_.back(); }

  bool HasIndex(std::int64_t step) const;
  // Of those that the state file lists; where it is unreadable, of those that are there.
  std::vector<std::int64_t> NewestFirst() const;
  // What is missing of it, in words; "" = nothing.
  std::string DamageOf(std::int64_t name) const;
  // What restoring that checkpoint gives; its index is there. What an earlier process saved has the global step alone.
  Code Restore(std::int64_t name, bool global_step_alone, std::int64_t& step) const;

  // The save operation: files appear.
  void Write(std::int64_t name, std::int64_t step);
  // What follows a save that worked: it is recorded, named in the state file, and what is too old is deleted.
  void Record(std::int64_t name);
  // After a restore of that one: those that the state file names and that are still there are the ones to keep. Where
  // it is unreadable, that one alone.
  void RecoverLast(std::int64_t name);

  replays::FinalState Final() const;

 private:
  void RecordWithinLimits(std::int64_t name);
  struct File {
    std::int64_t step = 0;  // that it holds
    bool index = true;
    bool data = true;
    bool whole = true;  // has all variables
  };
  const bool limits_hold_;
  bool taken_over_ = false;  // what the state file listed before the first save
  bool restored_ = false;
  std::map<std::int64_t, File> files_;  // by the number in the name
  State state_ = State::kNone;
  std::vector<std::int64_t> all_;   // in the state file; the last is the latest
  std::vector<std::int64_t> last_;  // the saver's list, oldest first
};

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_DIRECTORY_H_

// What the tests of this folder share.
#ifndef VIGIL_STRESS_TESTING_H_
#define VIGIL_STRESS_TESTING_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/session.h"

namespace vigil::stress {

// A different while in each round, the same in each run; its time on the processor is what makes the moment.
void Dawdle(int round, std::uint32_t longest);

// What a test did, printed at its end for .ci/kill, which adds up all of them: "stress: kills=100 restarts=101".
class Tally {
 public:
  Tally() = default;
  ~Tally();
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;
  std::int64_t& operator[](const std::string& name) { return counts_[name]; }

 private:
  std::map<std::string, std::int64_t> counts_;
};

// A folder of one's own where GoogleTest has its temporary files, gone with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A model in two shards, whose values are all one number, and its sharded saver ("<folder>/m", the newest 3 kept).
class Model {
 public:
  Model(const Env& env, std::int64_t value, std::int64_t weights = 1000);
  // Every value one more.
  void Train();
  absl::Status Save(const std::string& folder, std::int64_t step);

 private:
  Graph graph_;
  Saver saver_;
  std::unique_ptr<Session> session_;
  NodeId train_ = kNoNode;
};

// What the state file names, read whole: "5: 7" where the values of step 5 are all 7; "none"; or what is wrong with it.
std::string Newest(const Env& env, const std::string& folder);
// The step in that, -1 for anything else.
std::int64_t StepOfNewest(const Env& env, const std::string& folder);

// "OK", or the first events file of which a record is neither whole nor cut off at the end.
std::string CheckEvents(const Env& env, const std::string& folder);

}  // namespace vigil::stress

#endif  // VIGIL_STRESS_TESTING_H_

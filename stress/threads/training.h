// A program that trains, for the tests of this folder: its input comes from two queue runners, each step takes one item
// of it.
#ifndef VIGIL_STRESS_THREADS_TRAINING_H_
#define VIGIL_STRESS_THREADS_TRAINING_H_

#include <gmock/gmock.h>

#include <cstdint>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/ops/ops.h"

namespace vigil::stress {

struct Training {
  explicit Training(const Env& env);

  Graph graph;
  Output step;   // the global step
  Output total;  // how many items were taken
  Output train;  // both one more
};

// What the newest checkpoint of a training holds: its step; 0 if there is none. Fails the test if it cannot be read, or
// (`exact`) if it is not the state between two steps.
std::int64_t SavedStep(const Env& env, const std::string& folder, bool exact);

// OK, or an error of one of the codes.
MATCHER_P(OkOr, codes, "") {
  *result_listener << arg;
  if (arg.ok()) return true;
  for (const Code code : codes) {
    if (CodeOf(arg) == code) return true;
  }
  return false;
}

}  // namespace vigil::stress

#endif  // VIGIL_STRESS_THREADS_TRAINING_H_

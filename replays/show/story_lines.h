// What happened in a world, in order, each thing in one line: what columns (job_text.h), timelines (timeline.h) and
// comparisons of two runs are made from.
//
// Thread safety: a pure function.
#ifndef VIGIL_REPLAYS_SHOW_STORY_LINES_H_
#define VIGIL_REPLAYS_SHOW_STORY_LINES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/replays/stage/played.h"

namespace vigil::replays {

struct StoryLine {
  enum class Source { kEvent, kJob, kFault };
  Duration at;       // since the start of the world
  int rank;          // among what happens at the same time: nobody knows, but a life begins and ends in this order
  std::string node;  // its machine (machines.h); "" = across all
  std::string task;  // of an event: the task without its node, "" = the main one
  std::string text;  // escaped
  Source source = Source::kEvent;
  std::size_t place = 0;  // in its source
};

// By time, then by rank. Events that no node emitted are left out.
std::vector<StoryLine> StoryLines(const Played& played);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_SHOW_STORY_LINES_H_

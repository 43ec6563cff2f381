// Plays a graph that was recorded with TensorFlow (replays/recorder/graphs.py): imports it, runs what was run, and
// holds each answer against TensorFlow's.
#ifndef VIGIL_REPLAYS_GRAPHS_GRAPH_PLAYER_H_
#define VIGIL_REPLAYS_GRAPHS_GRAPH_PLAYER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/graph/meta_graph.pb.h"
#include "vigil/core/session/session.h"

namespace vigil {

struct RecordedPlay {
  struct Run {
    proto::RunStepRequest request;
    proto::RunStepResponse response;
  };
  proto::MetaGraphDef graph;
  std::vector<Run> runs;
};

// What a file of records holds: a meta graph, then a request and the answer to it, in turns. DATA_LOSS for a file that
// is none.
absl::StatusOr<RecordedPlay> ReadPlay(const std::string& path);
// The reverse, into `files`. Its errors.
absl::Status WritePlay(Files& files, const std::string& path, const RecordedPlay& play);

// Runs everything, in direct sessions (one for each session of the recording) or in those of `sessions`. Gives what
// differs, a line each; "" if nothing does. Floating-point numbers may differ by `tolerance`, relative to those above
// 1; 0: not by a bit. Of errors the code must be the same.
std::string Differences(const Env& env, const RecordedPlay& play, double tolerance, SessionFactory* sessions = nullptr,
                        const std::string& master = "");

}  // namespace vigil

#endif  // VIGIL_REPLAYS_GRAPHS_GRAPH_PLAYER_H_

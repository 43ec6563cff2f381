// Where the recordings of this folder are, for its tests.
#ifndef VIGIL_REPLAYS_GRAPHS_TESTING_H_
#define VIGIL_REPLAYS_GRAPHS_TESTING_H_

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vigil/replays/graphs/graph_player.h"

namespace vigil {

inline absl::StatusOr<RecordedPlay> ReadNamedPlay(std::string_view name) {
  return ReadPlay(fmt::format("{}/replays/graphs/tensorflow/{}.play", VIGIL_SOURCE_DIR, name));
}

}  // namespace vigil

#endif  // VIGIL_REPLAYS_GRAPHS_TESTING_H_

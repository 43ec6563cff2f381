// A recorded graph whose gradients are made here, in the place of those that TensorFlow has put into it.
#ifndef VIGIL_REPLAYS_GRAPHS_OWN_GRADIENTS_H_
#define VIGIL_REPLAYS_GRAPHS_OWN_GRADIENTS_H_

#include "absl/status/statusor.h"
#include "vigil/replays/graphs/graph_player.h"

namespace vigil {

// The node "theirs/V" of the graph is the gradient of "loss" by the variable V. In the play that is returned the graph
// has our gradient besides, as "ours/V", and whoever fetches TensorFlow's fetches that.
// Errors: those of the import and of Gradients(); USAGE: no gradient of a variable of which TensorFlow has one.
absl::StatusOr<RecordedPlay> WithOwnGradients(const RecordedPlay& play);

}  // namespace vigil

#endif  // VIGIL_REPLAYS_GRAPHS_OWN_GRADIENTS_H_

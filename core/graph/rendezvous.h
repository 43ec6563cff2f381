// Where the values of a step pass that cross from one partition of a graph to another (_Send and _Recv).
//
// One for each step and partition. A _Send and the _Recv of the same tensor_name, devices and step belong together;
// each pair passes one value a step.
// Thread safety: one task at a time (the one that runs the partition).
#ifndef VIGIL_CORE_GRAPH_RENDEZVOUS_H_
#define VIGIL_CORE_GRAPH_RENDEZVOUS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/time.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

struct Node;

class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  // Of the step: the same for all its partitions, and no other step's.
  virtual std::int64_t step_id() const = 0;
  // The value of a _Send node, once a step; it is shared, not copied; an invalid one if it is dead. Never waits for the
  // receiver. Error: why the step ends early.
  virtual absl::Status Send(const Node& send, const Tensor& value) = 0;
  // The value for a _Recv node, once a step: waits until it has been sent; an invalid one if it is dead. Errors: why
  // the step ends early, a lost or restarted sender, DEADLINE_EXCEEDED.
  virtual absl::StatusOr<Tensor> Recv(const Node& recv, Time deadline) = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_RENDEZVOUS_H_

// Ops that take time: by how much they are given.
//
// It is a registry of ops like any other, for a server to run; sessions and graphs know nothing of it.
// Thread safety: as the function that is called.
#ifndef VIGIL_SIM_CLUSTER_OP_COSTS_H_
#define VIGIL_SIM_CLUSTER_OP_COSTS_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "vigil/core/graph/op.h"

namespace vigil::sim {

// The same ops; before each that computes anything `work` is called with the bytes of the values that it is given. It
// may block its task, as a kernel may.
std::unique_ptr<OpRegistry> WithCosts(const OpRegistry& ops, std::function<void(std::uint64_t bytes)> work);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_OP_COSTS_H_

// A few ops for the tests of this folder, which know nothing of core/ops.
//
//   Value            attr "value": that int64 (a constant)
//   Input            a placeholder: an error unless fed
//   Add(a, b), Copy(a)
//   Cell             an int64 variable; Set(ref, value), Bump(ref, by) give the new value
//   Gate             a handle; Wait(ref) blocks until Open(ref) was run
//   SharedGate       the same, of several sessions
//   Fail             attr "code": that error; Throw throws (bad_alloc, if it is called "no_memory")
//   Big(a)           a vector of 1000 int64 that begins with a
#ifndef VIGIL_CORE_SESSION_TEST_OPS_H_
#define VIGIL_CORE_SESSION_TEST_OPS_H_

#include <string>
#include <vector>

#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/op.h"

namespace vigil {

OpRegistry TestOps();

// A graph of these ops, and functions that add to it. Check b.status() in the end.
struct TestGraph {
  TestGraph() : ops(TestOps()), graph(ops), b(graph) {}

  Output Value(const std::string& name, std::int64_t value);
  Output Node(const std::string& op, const std::string& name, std::vector<Output> inputs = {},
              std::vector<NodeId> after = {});

  const OpRegistry ops;
  Graph graph;
  Builder b;
};

}  // namespace vigil

#endif  // VIGIL_CORE_SESSION_TEST_OPS_H_

// What a call on a raw session is for, told from its feeds, fetches and targets.
//
// The scaffold and the savers note in the graph which nodes are which (WellKnownCalls); events and fault injection both
// ask ClassifyCall, so they cannot disagree. A call with hooks is kRun whatever it fetches.
// Thread safety: a pure function. Errors: none; what nobody has noted is kRawRun.
#ifndef VIGIL_CORE_SESSION_CLASSIFY_H_
#define VIGIL_CORE_SESSION_CLASSIFY_H_

#include "vigil/core/base/event.h"
#include "vigil/core/session/session.h"

namespace vigil {

// A node and what a run of exactly that node (as the only fetch or target) is for. A fed run of some of the nodes that
// a restore op groups is a restore, too.
struct WellKnownCall {
  NodeId node = kNoNode;
  CallKind kind = CallKind::kRawRun;
};
inline constexpr CollectionKey<WellKnownCall> kWellKnownCalls{"vigil/well_known_calls"};

CallKind ClassifyCall(const RunCall& call, const Graph& graph);

}  // namespace vigil

#endif  // VIGIL_CORE_SESSION_CLASSIFY_H_

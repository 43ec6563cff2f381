// The contexts of branches that TensorFlow's Python made (the collection "cond_context"): kept for whoever exports the
// graph again, since TensorFlow adds gradients through a tf.cond only where it finds its context. Nothing here needs
// them.
// Thread safety: as the graph's. Source: control_flow.proto; CondContext.to_proto and from_proto (control_flow_ops.py).
#ifndef VIGIL_CORE_OPS_COND_CONTEXT_H_
#define VIGIL_CORE_OPS_COND_CONTEXT_H_

#include "vigil/core/ops/meta_graph.h"

namespace vigil {

// INVALID_ARGUMENT for an item that is no CondContextDef. That what it names is in the graph is not looked at.
CollectionCodec CondContextCodec();

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_COND_CONTEXT_H_

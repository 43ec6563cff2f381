// What a master of TensorFlow's has cut out of a graph for a task, in the words of ours: so both run the same.
//
// Thread safety: pure functions. Source: TensorFlow's graph_partition.cc.
#ifndef VIGIL_CORE_CLUSTER_WORKER_TENSORFLOW_PARTITION_H_
#define VIGIL_CORE_CLUSTER_WORKER_TENSORFLOW_PARTITION_H_

namespace vigil {

namespace proto {
class GraphDef;
}  // namespace proto

// Edges into the host's memory are edges: here there is no other. Names that begin with "_", which TensorFlow keeps for
// what it adds to a graph itself, begin with "tensorflow_"; a number behind them if one is called so. What one of our
// masters has cut stays as it is.
void NameAsOurs(proto::GraphDef& partition);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_WORKER_TENSORFLOW_PARTITION_H_

// A graph cut up by task: what each task has to do for one combination of feeds, fetches and targets.
//
// Placement: every node that is needed goes to the task that its device names; one without device to the task of the
// master; what takes a reference goes to its variable (or queue), whatever its device. Constants are copied to who
// wants them. Fed values are those of the master's own task, where they are fed. Every other edge between two tasks
// becomes a _Send on the one and a _Recv on the other; so a task that wants a fed value must be able to reach the
// master's, not only to be reached by it. What is fetched from a task of TensorFlow's goes over such an edge, too.
//
// Order: tasks run their partition in the order of its GraphDef. All these orders are parts of one order of the whole
// graph (that of node ids), in which a _Send comes before its _Recv, so partitions never wait for each other in a
// circle. A _Send stands right after its node; that of a variable's value stands where the one stands who wants the
// value, since that is when it is to be read. Who reads a variable behind an Identity on its task (read_behind.h) is
// given the variable. Fetched variables are read last (as in core/session/plan.h).
// A control edge is cut only if the order of the tasks that is known by then does not imply it; nodes without work
// (NoOp) are no stops for it.
//
// Thread safety: pure functions. Source: TensorFlow's graph_partition.h, placer.h (their ideas, not their algorithms).
#ifndef VIGIL_CORE_CLUSTER_PARTITION_PARTITION_H_
#define VIGIL_CORE_CLUSTER_PARTITION_PARTITION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/session/session.h"

namespace vigil {

// A device of a task; each has one.
struct TaskDevice {
  std::string job;
  int task = 0;
  std::uint64_t incarnation = 0;
  bool of_tensorflow = false;       // it gives what is fetched to tasks alone, by edges; ours to the master, by name
  std::string task_name() const;    // "/job:ps/replica:0/task:0"
  std::string device_name() const;  // "/job:ps/replica:0/task:0/device:CPU:0"
  friend bool operator==(const TaskDevice&, const TaskDevice&) = default;
};

struct PartitionFeed {
  int feed = 0;      // of the spec
  std::string name;  // in the partition: "node:0"
};
struct PartitionFetch {
  std::vector<int> fetches;  // of the spec; more than one if it is fetched more than once
  std::string name;          // "node:index"
};

struct Partition {
  int device = 0;  // a place in the list of devices
  proto::GraphDef graph;
  std::vector<PartitionFeed> feeds;
  std::vector<PartitionFetch> fetches;
};

struct PartitionedGraph {
  std::vector<Partition> parts;                  // in the order of the devices; only of those that have something to do
  std::vector<std::pair<int, int>> fed_fetches;  // a fetch, and the feed that is its value
};

// `own`: the device of the master's task. Errors: what FindNeeded gives; INVALID_ARGUMENT for a device that is not
// among the `devices`, for references to two tasks in one node and for feeding what is taken as a reference.
absl::StatusOr<PartitionedGraph> PartitionGraph(const Graph& graph, const RunSpec& spec,
                                                const std::vector<TaskDevice>& devices, int own);

// Where a device string leads: the master's own device if that fits, else the first that does; -1 if none.
int FindDevice(const std::vector<TaskDevice>& devices, int own, const std::string& device);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_PARTITION_PARTITION_H_

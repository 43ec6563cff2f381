// What can be asked of a run beside its values, and what comes back beside them.
// Field names and meanings are those of TensorFlow's RunOptions and RunMetadata. Plain values.
//
// What a session cannot do it refuses by name (CheckRunOptions). It takes what says nothing about results: TensorFlow
// accepts the number of any pool of threads and a reset of disk usage that nobody measures, here there are none of
// either; a watch without debug ops watches nothing, there as well.
#ifndef VIGIL_CORE_SESSION_RUN_OPTIONS_H_
#define VIGIL_CORE_SESSION_RUN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace vigil {

enum class TraceLevel { kNoTrace = 0, kSoftwareTrace = 1, kHardwareTrace = 2, kFullTrace = 3 };

struct DebugTensorWatch {
  std::string node_name;
  std::int32_t output_slot = 0;
  std::vector<std::string> debug_ops;
  std::vector<std::string> debug_urls;
  friend bool operator==(const DebugTensorWatch&, const DebugTensorWatch&) = default;
};

struct RunOptions {
  TraceLevel trace_level = TraceLevel::kNoTrace;
  std::int64_t timeout_in_ms = 0;  // of the whole run: then DEADLINE_EXCEEDED; 0 = none
  std::int32_t inter_op_thread_pool = 0;
  bool output_partition_graphs = false;
  bool report_tensor_allocations_upon_oom = false;
  std::vector<DebugTensorWatch> debug_tensor_watch_opts;
  bool reset_disk_byte_usage = false;
  friend bool operator==(const RunOptions&, const RunOptions&) = default;
};

// One node's share of a traced run. Since the epoch, so that tasks on several machines can be laid side by side; a node
// took end - start, whatever the clock of the day did meanwhile.
struct NodeStats {
  std::string node_name;
  std::string op;
  std::vector<std::string> inputs = {};  // as a NodeDef has them: "node", "node:1", "^node"
  // Where it ran, in full: "/job:ps/replica:0/task:0/device:CPU:0". Empty: the one device that there is without a
  // cluster.
  std::string device = {};
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t output_bytes = 0;  // of the values that it made
};

struct RunMetadata {
  std::vector<NodeStats> step_stats;  // of a run that is traced: see below
  // Only with output_partition_graphs: a serialized GraphDef of the nodes that the run needed, for each device (a
  // direct session has one).
  std::vector<std::string> partition_graphs;
  void Clear() {
    step_stats.clear();
    partition_graphs.clear();
  }
};

// Whether a run is traced (recorded): in a session of its own with any trace level, and with
// report_tensor_allocations_upon_oom; in a session on a server with FULL_TRACE only. Null: no options.
bool IsTracedAlone(const RunOptions* options);
bool IsTracedOnServer(const RunOptions* options);

// UNIMPLEMENTED, naming the option, for a watch with debug ops, and for output_partition_graphs unless
// `gives_partition_graphs`. Null: no options.
absl::Status CheckRunOptions(const RunOptions* options, bool gives_partition_graphs);

}  // namespace vigil

#endif  // VIGIL_CORE_SESSION_RUN_OPTIONS_H_

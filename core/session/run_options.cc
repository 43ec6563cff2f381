#include "vigil/core/session/run_options.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"

namespace vigil {

bool IsTracedAlone(const RunOptions* options) {
  return options != nullptr &&
         (options->trace_level != TraceLevel::kNoTrace || options->report_tensor_allocations_upon_oom);
}

bool IsTracedOnServer(const RunOptions* options) {
  return options != nullptr && options->trace_level == TraceLevel::kFullTrace;
}

absl::Status CheckRunOptions(const RunOptions* options, bool gives_partition_graphs) {
  if (options == nullptr) return absl::OkStatus();
  for (const DebugTensorWatch& watch : options->debug_tensor_watch_opts) {
    if (watch.debug_ops.empty()) continue;
    return MakeStatus(
        Code::kUnimplemented,
        fmt::format("RunOptions.debug_tensor_watch_opts: '{}:{}' is to be watched by '{}', but there are no debug ops "
                    "here: fetch the tensor, or leave debug_ops empty.",
                    watch.node_name, watch.output_slot, fmt::join(watch.debug_ops, "', '")));
  }
  if (!options->output_partition_graphs || gives_partition_graphs) return absl::OkStatus();
  return MakeStatus(
      Code::kUnimplemented,
      "RunOptions.output_partition_graphs: a session on a cluster does not give the graphs of its partitions.");
}

}  // namespace vigil

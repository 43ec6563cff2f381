// What a traced run tells, to and from TensorFlow's RunMetadata.
//
// A node's values are told as one output of so many bytes: which of its outputs had how many is not known here.
// Thread safety: pure functions. Source: step_stats.proto, config.proto; common_runtime/step_stats_collector.cc.
#ifndef VIGIL_CORE_SESSION_RUN_METADATA_H_
#define VIGIL_CORE_SESSION_RUN_METADATA_H_

#include <string_view>

#include "vigil/core/session/run_options.h"

namespace vigil {

namespace proto {
class RunMetadata;
}  // namespace proto

// Where a node without a device ran.
inline constexpr std::string_view kLocalDevice = "/job:localhost/replica:0/task:0/device:CPU:0";

// A list for each device, the devices in the order in which they come first. Graphs of partitions are left out.
proto::RunMetadata ToProto(const RunMetadata& metadata);
// Whoever has written it: op and inputs are read out of the label "node = Op(input, input)", and are empty if it is
// another one.
RunMetadata FromProto(const proto::RunMetadata& metadata);

}  // namespace vigil

#endif  // VIGIL_CORE_SESSION_RUN_METADATA_H_

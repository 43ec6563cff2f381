// Device strings: "/job:ps/replica:0/task:1/device:GPU:0", any part of which may be missing.
//
//   VIGIL_ASSIGN_OR_RETURN(DeviceSpec outer, DeviceSpec::Parse("/job:worker/cpu:0"));
//   VIGIL_ASSIGN_OR_RETURN(DeviceSpec inner, DeviceSpec::Parse("/task:3/gpu:*"));
//   outer.MergedWith(inner).ToString();   // "/job:worker/task:3/device:GPU:*"
//
// Only names are dealt with here: whether there is such a device is for who runs the graph.
// A plain value. Source: tensorflow/python/framework/device_spec.py.
#ifndef VIGIL_CORE_GRAPH_DEVICE_SPEC_H_
#define VIGIL_CORE_GRAPH_DEVICE_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace vigil {

struct DeviceSpec {
  std::optional<std::string> job;
  std::optional<std::int64_t> replica;
  std::optional<std::int64_t> task;
  std::optional<std::string> device_type;    // "CPU", "GPU", ...
  std::optional<std::int64_t> device_index;  // none: any ("*")

  // Parts in any order, each at most once but the device (of others the last counts); the device as "device:GPU:0" or,
  // of a type known to TensorFlow, as "gpu:0" or "gpu". Errors are USAGE in TensorFlow's words: "Unknown attribute 'x'
  // is encountered while parsing the device spec: ...", "Multiple device types are not allowed ...", "invalid literal
  // for int() with base 10: ...".
  static absl::StatusOr<DeviceSpec> Parse(std::string_view text);

  // What `inner` says wins; the rest stays.
  DeviceSpec MergedWith(const DeviceSpec& inner) const;

  // The parts that there are, in canonical order; a device without index is ":*".
  std::string ToString() const;

  friend bool operator==(const DeviceSpec&, const DeviceSpec&) = default;
};

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_DEVICE_SPEC_H_

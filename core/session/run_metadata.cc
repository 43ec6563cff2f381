#include "vigil/core/session/run_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "vigil/core/session/run_metadata.pb.h"

namespace vigil {
namespace {

constexpr std::string_view kBetweenInputs = ", ";
constexpr std::int64_t kNanosInAMicro = 1000;

proto::DeviceStepStats& StatsOf(std::string_view device, proto::StepStats& stats) {
  const auto it = std::ranges::find(*stats.mutable_dev_stats(), device, &proto::DeviceStepStats::device);
  if (it != stats.mutable_dev_stats()->end()) return *it;
  proto::DeviceStepStats& added = *stats.add_dev_stats();
  added.set_device(std::string(device));
  return added;
}

void ToProto(const NodeStats& stats, proto::NodeExecStats* out) {
  const std::int64_t took = stats.end_ns - stats.start_ns;
  out->set_node_name(stats.node_name);
  out->set_timeline_label(
      fmt::format("{} = {}({})", stats.node_name, stats.op, fmt::join(stats.inputs, kBetweenInputs)));
  out->set_all_start_micros(stats.start_ns / kNanosInAMicro);
  out->set_op_end_rel_micros(took / kNanosInAMicro);
  out->set_all_end_rel_micros(took / kNanosInAMicro);
  out->set_all_start_nanos(stats.start_ns);
  out->set_op_end_rel_nanos(took);
  out->set_all_end_rel_nanos(took);
  if (stats.output_bytes == 0) return;
  proto::AllocationDescription& memory =
      *out->add_output()->mutable_tensor_description()->mutable_allocation_description();
  memory.set_requested_bytes(stats.output_bytes);
  memory.set_allocated_bytes(stats.output_bytes);
  memory.set_allocator_name("cpu");
}

// "node = Op(input, input)".
void ReadLabel(std::string_view label, NodeStats& stats) {
  const std::string before = stats.node_name + " = ";
  const std::size_t at = label.find(before);
  if (at == std::string_view::npos || !label.ends_with(')')) return;
  label.remove_prefix(at + before.size());
  label.remove_suffix(1);
  const std::size_t open = label.find('(');
  if (open == std::string_view::npos) return;
  stats.op = std::string(label.substr(0, open));
  for (label.remove_prefix(open + 1); !label.empty();) {
    const std::size_t end = std::min(label.find(kBetweenInputs), label.size());
    stats.inputs.emplace_back(label.substr(0, end));
    label.remove_prefix(std::min(end + kBetweenInputs.size(), label.size()));
  }
}

NodeStats FromProto(const proto::NodeExecStats& node, const std::string& device) {
  NodeStats stats{.node_name = node.node_name(), .op = "", .device = device};
  ReadLabel(node.timeline_label(), stats);
  stats.start_ns = node.all_start_nanos() != 0 ? node.all_start_nanos() : node.all_start_micros() * kNanosInAMicro;
  const std::int64_t took =
      node.all_end_rel_nanos() != 0 ? node.all_end_rel_nanos() : node.all_end_rel_micros() * kNanosInAMicro;
  stats.end_ns = stats.start_ns + took;
  for (const proto::NodeOutput& output : node.output()) {
    stats.output_bytes += output.tensor_description().allocation_description().requested_bytes();
  }
  return stats;
}

}  // namespace

proto::RunMetadata ToProto(const RunMetadata& metadata) {
  proto::RunMetadata out;
  for (const NodeStats& stats : metadata.step_stats) {
    const std::string_view device = stats.device.empty() ? kLocalDevice : std::string_view(stats.device);
    ToProto(stats, StatsOf(device, *out.mutable_step_stats()).add_node_stats());
  }
  return out;
}

RunMetadata FromProto(const proto::RunMetadata& metadata) {
  RunMetadata out;
  for (const proto::DeviceStepStats& device : metadata.step_stats().dev_stats()) {
    for (const proto::NodeExecStats& node : device.node_stats()) {
      out.step_stats.push_back(FromProto(node, device.device()));
    }
  }
  return out;
}

}  // namespace vigil

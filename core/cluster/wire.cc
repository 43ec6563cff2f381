#include "vigil/core/cluster/wire.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {
namespace {

constexpr std::int64_t kLargestElement = 16;  // complex128

std::int64_t BytesOfValues(const Tensor& tensor) {
  if (tensor.dtype() != DType::kString) return Tensor::BytesOf(tensor.dtype(), tensor.shape()).value_or(0);
  std::int64_t bytes = 0;
  for (const std::string& each : tensor.flat<std::string>()) bytes += static_cast<std::int64_t>(each.size());
  return bytes;
}

using google::protobuf::UnknownField;

// A field of a message of TensorFlow's that the message here does not have.
struct OtherField {
  int number;
  std::string_view name;
  bool taken;  // whatever it says makes no difference here
};

constexpr OtherField kOfConfig[] = {
    {1, "device_count", false},
    {2, "intra_op_parallelism_threads", true},
    {3, "placement_period", true},
    {6, "gpu_options", true},
    {7, "allow_soft_placement", true},
    {8, "log_device_placement", false},
    {9, "use_per_session_threads", true},
    {10, "graph_options", false},
    {12, "session_inter_op_thread_pool", true},
    {13, "rpc_options", false},
    {14, "cluster_def", false},
    {15, "isolate_session_state", false},
    {16, "experimental", false},
    {17, "share_cluster_devices_in_session", false},
    {18, "pluggable_device_options", false},
};
constexpr OtherField kOfRunOptions[] = {
    {3, "inter_op_thread_pool", true},
    {5, "output_partition_graphs", false},
    {6, "debug_options", false},
    {8, "experimental", false},
};
constexpr int kFirstOfOurs = 1001;  // what later versions of this library say

bool SaysSomething(const UnknownField& field) {
  switch (field.type()) {
    case UnknownField::TYPE_VARINT:
      return field.varint() != 0;
    case UnknownField::TYPE_LENGTH_DELIMITED:
      return !field.length_delimited().empty();
    default:
      return true;
  }
}

absl::Status CheckOtherFields(std::string_view name, const google::protobuf::Message& message,
                              std::span<const OtherField> known) {
  const google::protobuf::UnknownFieldSet& others = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < others.field_count(); ++i) {
    const UnknownField& field = others.field(i);
    if (field.number() >= kFirstOfOurs || !SaysSomething(field)) continue;
    const auto it = std::ranges::find(known, field.number(), &OtherField::number);
    if (it != known.end() && it->taken) continue;
    const std::string what = it == known.end() ? fmt::format("field {}", field.number()) : std::string(it->name);
    return MakeStatus(Code::kUnimplemented, fmt::format("{}.{} cannot be obeyed here: leave it out.", name, what));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> Serialize(std::string_view method, const google::protobuf::MessageLite& message) {
  const auto bytes = static_cast<std::int64_t>(message.ByteSizeLong());
  if (bytes > kMostMessageBytes) return TooLarge("A message", method, bytes, kMostMessageBytes);
  std::string out(static_cast<std::size_t>(bytes), '\0');
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(out.data()));
  return out;
}

absl::Status CheckFits(const Env& env, std::string_view method, std::string_view name, const Tensor& tensor) {
  if (env.network == nullptr || !tensor.valid()) return absl::OkStatus();
  const std::int64_t most = env.network->limits().message_bytes;
  if (tensor.dtype() != DType::kString && tensor.num_elements() <= most / kLargestElement) return absl::OkStatus();
  const std::int64_t bytes = BytesOfValues(tensor);
  if (bytes <= most) return absl::OkStatus();
  return TooLarge(fmt::format("The tensor '{}'", name), method, bytes, most);
}

void ToProto(const NodeStats& stats, proto::NodeStatsProto* out) {
  out->set_node_name(stats.node_name);
  out->set_op(stats.op);
  out->set_start_ns(stats.start_ns);
  out->set_end_ns(stats.end_ns);
  out->set_output_bytes(stats.output_bytes);
}

NodeStats FromProto(const proto::NodeStatsProto& stats) {
  return {.node_name = stats.node_name(),
          .op = stats.op(),
          .start_ns = stats.start_ns(),
          .end_ns = stats.end_ns(),
          .output_bytes = stats.output_bytes()};
}

void ToProto(const SessionConfig& config, proto::ConfigProto* out) {
  for (const std::string& filter : config.device_filters) out->add_device_filters(filter);
  out->set_operation_timeout_in_ms(config.operation_timeout_in_ms);
  out->set_inter_op_parallelism_threads(config.inter_op_parallelism_threads);
  out->set_create_timeout_ns(config.create_timeout.count());
  out->set_keepalive_ns(config.keepalive.count());
}

absl::StatusOr<SessionConfig> FromProto(const proto::ConfigProto& config) {
  VIGIL_RETURN_IF_ERROR(CheckOtherFields("ConfigProto", config, kOfConfig));
  return SessionConfig{.device_filters = {config.device_filters().begin(), config.device_filters().end()},
                       .operation_timeout_in_ms = config.operation_timeout_in_ms(),
                       .inter_op_parallelism_threads = config.inter_op_parallelism_threads(),
                       .create_timeout = Duration(config.create_timeout_ns()),
                       .keepalive = Duration(config.keepalive_ns())};
}

absl::StatusOr<RunOptions> FromProto(const proto::RunOptionsProto& options) {
  VIGIL_RETURN_IF_ERROR(CheckOtherFields("RunOptions", options, kOfRunOptions));
  return RunOptions{.trace_level = static_cast<TraceLevel>(options.trace_level()),
                    .timeout_in_ms = options.timeout_in_ms(),
                    .report_tensor_allocations_upon_oom = options.report_tensor_allocations_upon_oom()};
}

void PutStatus(const absl::Status& status, proto::RunStepResponse* response) {
  // Our own codes are UNKNOWN with a payload.
  const Code code = CodeOf(status);
  response->set_status_code(static_cast<int>(code <= Code::kUnauthenticated ? code : Code::kUnknown));
  response->set_status_error_message(std::string(MessageOf(status)));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& value) {
    proto::StatusPayload& payload = *response->add_status_payload();
    payload.set_type_url(std::string(url));
    payload.set_value(std::string(value));
  });
  // In an order of its own: theirs is none.
  std::ranges::sort(*response->mutable_status_payload(), {}, [](const auto& payload) { return payload.type_url(); });
}

absl::Status GetStatusOf(const proto::RunStepResponse& response) {
  if (response.status_code() == 0) return absl::OkStatus();
  absl::Status status(static_cast<absl::StatusCode>(response.status_code()), response.status_error_message());
  for (const proto::StatusPayload& payload : response.status_payload()) {
    status.SetPayload(payload.type_url(), absl::Cord(payload.value()));
  }
  return status;
}

std::string GraphHandle(std::int64_t id) { return fmt::format("{:016x}", id); }

std::int64_t GraphIdOf(const std::string& handle) {
  std::int64_t id = 0;
  const char* const end = handle.data() + handle.size();
  const std::from_chars_result read = std::from_chars(handle.data(), end, id, 16);
  return read.ec == std::errc() && read.ptr == end ? id : 0;
}

}  // namespace vigil

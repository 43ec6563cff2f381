#include "vigil/core/cluster/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace vigil {

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

SessionConfig FromProto(const proto::ConfigProto& config) {
  return {.device_filters = {config.device_filters().begin(), config.device_filters().end()},
          .operation_timeout_in_ms = config.operation_timeout_in_ms(),
          .inter_op_parallelism_threads = config.inter_op_parallelism_threads(),
          .create_timeout = Duration(config.create_timeout_ns()),
          .keepalive = Duration(config.keepalive_ns())};
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

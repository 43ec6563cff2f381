#include "vigil/core/cluster/wire.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/cord.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/cluster/worker.pb.h"
#include "vigil/core/tensor/tensor_proto.h"
#include "vigil/core/tensor/tensor_wire.h"

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
using NamedTensors = google::protobuf::RepeatedPtrField<proto::NamedTensorProto>;

// A field of a message of TensorFlow's that the message here does not have.
struct OtherField {
  int number;
  std::string_view name;
  bool taken;                               // whatever it says makes no difference here
  std::span<const OtherField> within = {};  // a message, of which some may be
};

// What only makes TensorFlow faster, or its graphs smaller.
constexpr OtherField kOfRewriteOptions[] = {
    {2, "disable_model_pruning", true},
    {12, "meta_optimizer_iterations", true},
    {19, "disable_meta_optimizer", true},
};
constexpr OtherField kOfGraphOptions[] = {
    {2, "enable_recv_scheduling", true},
    {3, "optimizer_options", true},
    {4, "build_cost_model", false},
    {5, "infer_shapes", false},
    {6, "place_pruned_graph", true},
    {7, "enable_bfloat16_sendrecv", false},
    {8, "timeline_step", false},
    {9, "build_cost_model_after", false},
    {10, "rewrite_options", false, kOfRewriteOptions},
};
// Python's client says disable_optimize_for_static_graph of every graph that is not finalized.
constexpr OtherField kOfExperimental[] = {
    {1, "collective_group_leader", false},
    {3, "executor_type", true},
    {4, "recv_buf_max_chunk", true},
    {5, "use_numa_affinity", true},
    {6, "collective_deterministic_sequential_execution", false},
    {7, "collective_nccl", false},
    {8, "share_session_state_in_clusterspec_propagation", false},
    {9, "disable_thread_spinning", true},
    {10, "share_cluster_devices_in_session", false},
    {11, "session_metadata", true},
    {12, "optimize_for_static_graph", true},
    {13, "enable_mlir_bridge", true},
    {14, "disable_output_partition_graphs", true},
    {16, "enable_mlir_graph_optimization", true},
    {17, "mlir_bridge_rollout", true},
    {24, "disable_optimize_for_static_graph", true},
};
constexpr OtherField kOfConfig[] = {
    {1, "device_count", true},
    {2, "intra_op_parallelism_threads", true},
    {3, "placement_period", true},
    {6, "gpu_options", true},
    {7, "allow_soft_placement", true},
    {8, "log_device_placement", false},
    {9, "use_per_session_threads", true},
    {10, "graph_options", false, kOfGraphOptions},
    {12, "session_inter_op_thread_pool", true},
    {13, "rpc_options", false},
    {14, "cluster_def", false},
    {15, "isolate_session_state", false},
    {16, "experimental", false, kOfExperimental},
    {17, "share_cluster_devices_in_session", false},
    {18, "pluggable_device_options", true},
};
constexpr OtherField kOfRunOptions[] = {
    {3, "inter_op_thread_pool", true},
    {5, "output_partition_graphs", false},
    {6, "debug_options", false},
    {8, "experimental", false},
};
constexpr int kFirstOfOurs = 1001;  // what later versions of this library say

// A body, for protobuf to read.
class PiecesStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit PiecesStream(const absl::Cord& body) : next_(body.chunk_begin()), end_(body.chunk_end()) {}

  bool Next(const void** data, int* size) override {
    if (rest_.empty()) {
      if (next_ == end_) return false;
      rest_ = *next_;
      ++next_;
    }
    *data = rest_.data();
    *size = static_cast<int>(rest_.size());
    read_ += *size;
    last_ = std::exchange(rest_, {});
    return true;
  }
  void BackUp(int count) override {
    rest_ = last_.substr(last_.size() - static_cast<std::size_t>(count));
    read_ -= count;
  }
  bool Skip(int count) override {
    const void* data = nullptr;
    for (int size = 0; count > 0; count -= size) {
      if (!Next(&data, &size)) return false;
      if (size > count) {
        BackUp(size - count);
        return true;
      }
    }
    return true;
  }
  std::int64_t ByteCount() const override { return read_; }

 private:
  absl::Cord::ChunkIterator next_;
  const absl::Cord::ChunkIterator end_;
  absl::string_view last_;
  absl::string_view rest_;  // of the last piece: what was given back
  std::int64_t read_ = 0;
};

bool Split(const absl::Cord& body, int number, std::vector<absl::Cord>* contents, std::string* others) {
  using google::protobuf::internal::WireFormatLite;
  PiecesStream pieces(body);
  google::protobuf::io::CodedInputStream in(&pieces);
  google::protobuf::io::StringOutputStream rest(others);
  google::protobuf::io::CodedOutputStream out(&rest);
  while (const std::uint32_t tag = in.ReadTag()) {
    if (tag != WireFormatLite::MakeTag(number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      if (!WireFormatLite::SkipField(&in, tag, &out)) return false;
      continue;
    }
    int size = 0;
    if (!in.ReadVarintSizeAsInt(&size)) return false;
    const auto at = static_cast<std::size_t>(in.CurrentPosition());
    if (!in.Skip(size)) return false;
    contents->push_back(body.Subcord(at, static_cast<std::size_t>(size)));
  }
  return in.ConsumedEntireMessage();
}

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

absl::Status CheckOtherFields(std::string_view name, const google::protobuf::UnknownFieldSet& others,
                              std::span<const OtherField> known) {
  for (int i = 0; i < others.field_count(); ++i) {
    const UnknownField& field = others.field(i);
    if (field.number() >= kFirstOfOurs || !SaysSomething(field)) continue;
    const auto it = std::ranges::find(known, field.number(), &OtherField::number);
    if (it != known.end() && it->taken) continue;
    const std::string what = it == known.end() ? fmt::format("field {}", field.number()) : std::string(it->name);
    google::protobuf::UnknownFieldSet within;
    if (it != known.end() && !it->within.empty() && field.type() == UnknownField::TYPE_LENGTH_DELIMITED &&
        within.ParseFromString(field.length_delimited())) {
      VIGIL_RETURN_IF_ERROR(CheckOtherFields(fmt::format("{}.{}", name, what), within, it->within));
      continue;
    }
    return MakeStatus(Code::kUnimplemented, fmt::format("{}.{} cannot be obeyed here: leave it out.", name, what));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<absl::Cord> Serialize(std::string_view method, const google::protobuf::MessageLite& message) {
  const auto bytes = static_cast<std::int64_t>(message.ByteSizeLong());
  if (bytes > kMostMessageBytes) return TooLarge("A message", method, bytes, kMostMessageBytes);
  std::string out(static_cast<std::size_t>(bytes), '\0');
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(out.data()));
  return CordOf(std::move(out));
}

bool ParseBody(const absl::Cord& body, google::protobuf::MessageLite* message) {
  if (body.size() > std::size_t{std::numeric_limits<int>::max()}) return false;
  if (const std::optional<std::string_view> flat = FlatOf(body)) {
    return message->ParseFromArray(flat->data(), static_cast<int>(flat->size()));
  }
  PiecesStream stream(body);
  return message->ParseFromZeroCopyStream(&stream);
}

absl::Status ParseRequest(const absl::Cord& body, google::protobuf::MessageLite* request) {
  return ParseBody(body, request) ? absl::OkStatus() : NotParsed();
}

absl::Status NotParsed() { return MakeStatus(Code::kInvalidArgument, "The request cannot be parsed."); }

bool SplitLarge(const absl::Cord& body, int number, std::vector<absl::Cord>* contents, std::string* others) {
  if (body.size() < kSharedTensorBytes) return false;
  return Split(body, number, contents, others);
}

absl::Status TakeTensors(const std::vector<absl::Cord>& split, NamedTensors* field, std::vector<Tensor>* tensors) {
  const auto take = [tensors](const std::string& name, absl::StatusOr<Tensor> tensor) {
    if (!tensor.ok()) {
      return WithMessage(tensor.status(),
                         fmt::format("The tensor '{}' cannot be read: {}", name, MessageOf(tensor.status())));
    }
    tensors->push_back(*std::move(tensor));
    return absl::OkStatus();
  };
  for (const proto::NamedTensorProto& named : *field) {
    VIGIL_RETURN_IF_ERROR(take(named.name(), FromProto(named.tensor())));
  }
  for (const absl::Cord& each : split) {
    std::string name;
    std::vector<absl::Cord> tensor;
    if (!Split(each, proto::NamedTensorProto::kTensorFieldNumber, &tensor, &name) || tensor.size() > 1 ||
        !field->Add()->ParseFromString(name)) {
      return NotParsed();
    }
    const std::string& named = field->rbegin()->name();
    VIGIL_RETURN_IF_ERROR(take(named, ParseTensorPieces(tensor.empty() ? absl::Cord() : tensor[0])));
  }
  return absl::OkStatus();
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
  for (const std::string& input : stats.inputs) out->add_input(input);
  out->set_device(stats.device);
}

NodeStats FromProto(const proto::NodeStatsProto& stats) {
  return {.node_name = stats.node_name(),
          .op = stats.op(),
          .inputs = {stats.input().begin(), stats.input().end()},
          .device = stats.device(),
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
  out->set_waits_for_tasks(config.waits_for_tasks);
}

absl::StatusOr<SessionConfig> FromProto(const proto::ConfigProto& config) {
  VIGIL_RETURN_IF_ERROR(CheckOtherFields("ConfigProto", config.GetReflection()->GetUnknownFields(config), kOfConfig));
  return SessionConfig{.device_filters = {config.device_filters().begin(), config.device_filters().end()},
                       .operation_timeout_in_ms = config.operation_timeout_in_ms(),
                       .inter_op_parallelism_threads = config.inter_op_parallelism_threads(),
                       .create_timeout = Duration(config.create_timeout_ns()),
                       .keepalive = Duration(config.keepalive_ns()),
                       .waits_for_tasks = config.waits_for_tasks()};
}

absl::StatusOr<RunOptions> FromProto(const proto::RunOptionsProto& options) {
  VIGIL_RETURN_IF_ERROR(
      CheckOtherFields("RunOptions", options.GetReflection()->GetUnknownFields(options), kOfRunOptions));
  return RunOptions{.trace_level = static_cast<TraceLevel>(options.trace_level()),
                    .timeout_in_ms = options.timeout_in_ms(),
                    .report_tensor_allocations_upon_oom = options.report_tensor_allocations_upon_oom()};
}

namespace {

// Of the character of UTF-8 at the beginning; 0: there is none.
std::size_t BytesOfCharacter(std::string_view text) {
  const auto at = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  // More bytes than it needs, half of a pair, or beyond the last one.
  const unsigned second = at(1);
  const bool none = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                    (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return none ? 0 : bytes;
}

// A message with anything else in a text could not be read: '?' in its place.
std::string AsUtf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = BytesOfCharacter(text);
    out += bytes == 0 ? std::string_view("?") : text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out;
}

}  // namespace

void PutStatus(const absl::Status& status, proto::RunStepResponse* response) {
  // Our own codes are UNKNOWN with a payload.
  const Code code = CodeOf(status);
  response->set_status_code(static_cast<int>(code <= Code::kUnauthenticated ? code : Code::kUnknown));
  response->set_status_error_message(AsUtf8(MessageOf(status)));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& value) {
    proto::StatusPayload& payload = *response->add_status_payload();
    payload.set_type_url(AsUtf8(std::string_view(url.data(), url.size())));
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

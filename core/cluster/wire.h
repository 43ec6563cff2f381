// What master and worker services put on the wire beside tensors and graphs.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_CLUSTER_WIRE_H_
#define VIGIL_CORE_CLUSTER_WIRE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/env.h"
#include "vigil/core/session/run_options.h"
#include "vigil/core/session/session.h"
#include "vigil/core/tensor/tensor.h"

namespace google::protobuf {
class MessageLite;
template <typename Element>
class RepeatedPtrField;
}  // namespace google::protobuf

namespace vigil {

namespace proto {
class ConfigProto;
class NamedTensorProto;
class NodeStatsProto;
class RunOptionsProto;
class RunStepResponse;
}  // namespace proto

// The bytes of a request or an answer of that method. RESOURCE_EXHAUSTED, which names it, for what protobuf cannot
// write (2 GiB and more): never nothing, which would be read as another message.
absl::StatusOr<absl::Cord> Serialize(std::string_view method, const google::protobuf::MessageLite& message);
// The message that a body is, in however many pieces; false: it is none.
bool ParseBody(const absl::Cord& body, google::protobuf::MessageLite* message);
// RESOURCE_EXHAUSTED, which names the method and the tensor, for one whose values alone are more than env's network
// carries. Asked before it is copied into a message.
absl::Status CheckFits(const Env& env, std::string_view method, std::string_view name, const Tensor& tensor);

// INVALID_ARGUMENT instead.
absl::Status ParseRequest(const absl::Cord& body, google::protobuf::MessageLite* request);

// Parts of ParseWithTensors. ------------------------------------------------------------------------------------------

// False: the body is small, or no message, and is to be read as a whole. Else the contents of each field `number`, and
// the bytes of all other fields.
bool SplitLarge(const absl::Cord& body, int number, std::vector<absl::Cord>* contents, std::string* others);
// What was split off, or else the message has itself.
absl::Status TakeTensors(const std::vector<absl::Cord>& split,
                         google::protobuf::RepeatedPtrField<proto::NamedTensorProto>* field,
                         std::vector<Tensor>* tensors);
absl::Status NotParsed();  // INVALID_ARGUMENT

// Reads a message whose field `number`, `field`, is of named tensors, and the tensors: large ones go straight from the
// body into their own memory, and the message has their names only. NotParsed(): it is no message, and is left empty.
// FromProto's errors (tensor_proto.h), which name the tensor: one cannot be read.
template <typename Message>
absl::Status ParseWithTensors(const absl::Cord& body, int number,
                              google::protobuf::RepeatedPtrField<proto::NamedTensorProto>* (Message::*field)(),
                              Message* message, std::vector<Tensor>* tensors) {
  std::string others;
  std::vector<absl::Cord> named;
  const bool is_split = SplitLarge(body, number, &named, &others);
  if (!(is_split ? message->ParseFromString(others) : ParseBody(body, message))) {
    message->Clear();
    return NotParsed();
  }
  return TakeTensors(named, (message->*field)(), tensors);
}

void ToProto(const NodeStats& stats, proto::NodeStatsProto* out);
NodeStats FromProto(const proto::NodeStatsProto& stats);

void ToProto(const SessionConfig& config, proto::ConfigProto* out);
// UNIMPLEMENTED, naming the field, for one of TensorFlow's ConfigProto that asks for what is not done here. Taken are
// those that change nothing where there is no pool of threads and no device but the CPU; docs/training.md lists them.
absl::StatusOr<SessionConfig> FromProto(const proto::ConfigProto& config);
// The same of RunOptions.
absl::StatusOr<RunOptions> FromProto(const proto::RunOptionsProto& options);

// "4a0c...", what a registered graph is called by, and back: 0 if it is none.
std::string GraphHandle(std::int64_t id);
std::int64_t GraphIdOf(const std::string& handle);

// An error in the body of a response, with its payloads.
void PutStatus(const absl::Status& status, proto::RunStepResponse* response);
absl::Status GetStatusOf(const proto::RunStepResponse& response);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_WIRE_H_

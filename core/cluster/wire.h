// What master and worker services put on the wire beside tensors and graphs.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_CLUSTER_WIRE_H_
#define VIGIL_CORE_CLUSTER_WIRE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/code.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/env/env.h"
#include "vigil/core/session/run_options.h"
#include "vigil/core/session/session.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

// The bytes of a request or an answer of that method. RESOURCE_EXHAUSTED, which names it, for what protobuf cannot
// write (2 GiB and more): never nothing, which would be read as another message.
absl::StatusOr<std::string> Serialize(std::string_view method, const google::protobuf::MessageLite& message);
// RESOURCE_EXHAUSTED, which names the method and the tensor, for one whose values alone are more than env's network
// carries. Asked before it is copied into a message.
absl::Status CheckFits(const Env& env, std::string_view method, std::string_view name, const Tensor& tensor);

template <typename Request>
absl::Status ParseRequest(const std::string& body, Request* request) {
  if (request->ParseFromString(body)) return absl::OkStatus();
  return MakeStatus(Code::kInvalidArgument, "The request cannot be parsed.");
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

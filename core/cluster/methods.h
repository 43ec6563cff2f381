// What masters and workers can be asked, each request with its path and its messages. The table is in method_names.h.
//
//   network.Start({.to = task, .method = methods::kGetStatus.text()}, ...);    // who asks
//   if (call.method() == methods::kGetStatus.path) return GetStatus();         // who answers
//
// Thread safety: constants. Source: TensorFlow's master_service.proto, worker_service.proto.
#ifndef VIGIL_CORE_CLUSTER_METHODS_H_
#define VIGIL_CORE_CLUSTER_METHODS_H_

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/cluster/method_names.h"
#include "vigil/core/cluster/wire.h"
#include "vigil/core/cluster/worker.pb.h"
#include "vigil/core/env/network.h"

namespace vigil {

template <typename RequestMessage, typename ResponseMessage>
struct RpcMethod {
  using Request = RequestMessage;
  using Response = ResponseMessage;

  std::string_view name;  // "RunStep"
  std::string_view path;  // "/tensorflow.MasterService/RunStep", as it goes over the wire
  std::string text() const { return std::string(path); }
};

namespace methods {

#define VIGIL_RPC_METHOD(service, name)                                               \
  inline constexpr RpcMethod<proto::name##Request, proto::name##Response> k##name = { \
      #name, "/tensorflow." #service "Service/" #name};
VIGIL_RPC_METHODS(VIGIL_RPC_METHOD)
VIGIL_RPC_METHODS_OF_TENSORFLOW(VIGIL_RPC_METHOD)
#undef VIGIL_RPC_METHOD

}  // namespace methods

// Answers a call of that method: `serve` gets the request, and gives the response, or a status if the response is
// empty. Errors: INVALID_ARGUMENT for bytes that are no such request; those of `serve`.
template <typename Request, typename Response, typename Serve>
NetworkReply ServeMethod(const RpcMethod<Request, Response>& method, const IncomingCall& call, const Serve& serve) {
  Request request;
  VIGIL_RETURN_IF_ERROR(ParseRequest(call.body(), &request));
  if constexpr (std::is_same_v<decltype(serve(request)), absl::Status>) {
    VIGIL_RETURN_IF_ERROR(serve(request));
    return absl::Cord();
  } else {
    VIGIL_ASSIGN_OR_RETURN(const Response response, serve(request));
    return Serialize(method.path, response);
  }
}

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_METHODS_H_

// What masters and workers can be asked: the one table of requests, with TensorFlow's names and messages.
// KeepSession is our own.
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
#include "vigil/core/cluster/wire.h"
#include "vigil/core/cluster/worker.pb.h"
#include "vigil/core/env/network.h"

// The table: service and name. The messages are called as the method: RunStepRequest, RunStepResponse.
#define VIGIL_RPC_METHODS(METHOD) \
  METHOD(Master, CreateSession)   \
  METHOD(Master, ExtendSession)   \
  METHOD(Master, RunStep)         \
  METHOD(Master, MakeCallable)    \
  METHOD(Master, RunCallable)     \
  METHOD(Master, ReleaseCallable) \
  METHOD(Master, CloseSession)    \
  METHOD(Master, Reset)           \
  METHOD(Master, ListDevices)     \
  METHOD(Master, KeepSession)     \
  METHOD(Worker, GetStatus)       \
  METHOD(Worker, RegisterGraph)   \
  METHOD(Worker, DeregisterGraph) \
  METHOD(Worker, RunGraph)        \
  METHOD(Worker, RecvTensor)      \
  METHOD(Worker, CleanupGraph)    \
  METHOD(Worker, CleanupAll)
// Which only TensorFlow's masters ask: ours never do, and no fault plan names them.
#define VIGIL_RPC_METHODS_OF_TENSORFLOW(METHOD) \
  METHOD(Worker, CreateWorkerSession)           \
  METHOD(Worker, DeleteWorkerSession)

namespace vigil {

template <typename RequestMessage, typename ResponseMessage>
struct RpcMethod {
  using Request = RequestMessage;
  using Response = ResponseMessage;

  std::string_view name;  // "RunStep"
  std::string_view path;  // "/tensorflow.MasterService/RunStep", as it goes over the wire
  std::string text() const { return std::string(path); }
};

// What the paths of a service begin with.
inline constexpr std::string_view kMasterServicePrefix = "/tensorflow.MasterService/";
inline constexpr std::string_view kWorkerServicePrefix = "/tensorflow.WorkerService/";

namespace methods {

#define VIGIL_RPC_METHOD(service, name)                                               \
  inline constexpr RpcMethod<proto::name##Request, proto::name##Response> k##name = { \
      #name, "/tensorflow." #service "Service/" #name};
VIGIL_RPC_METHODS(VIGIL_RPC_METHOD)
VIGIL_RPC_METHODS_OF_TENSORFLOW(VIGIL_RPC_METHOD)
#undef VIGIL_RPC_METHOD

}  // namespace methods

// All names that our own masters and workers use, in the order of the table.
#define VIGIL_RPC_NAME(service, name) #name,
inline constexpr std::string_view kMethodNames[] = {VIGIL_RPC_METHODS(VIGIL_RPC_NAME)};
#undef VIGIL_RPC_NAME

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

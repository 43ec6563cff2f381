// What masters and workers can be asked, by name: the one table of requests, with TensorFlow's names. KeepSession is
// our own. Their messages: methods.h.
//
// Thread safety: constants. Source: TensorFlow's master_service.proto, worker_service.proto.
#ifndef VIGIL_CORE_CLUSTER_METHOD_NAMES_H_
#define VIGIL_CORE_CLUSTER_METHOD_NAMES_H_

#include <string_view>

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

// What the paths of a service begin with.
inline constexpr std::string_view kMasterServicePrefix = "/tensorflow.MasterService/";
inline constexpr std::string_view kWorkerServicePrefix = "/tensorflow.WorkerService/";

// All names that our own masters and workers use, in the order of the table.
#define VIGIL_RPC_NAME(service, name) #name,
inline constexpr std::string_view kMethodNames[] = {VIGIL_RPC_METHODS(VIGIL_RPC_NAME)};
#undef VIGIL_RPC_NAME

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_METHOD_NAMES_H_

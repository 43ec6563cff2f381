// The master of a task: makes sessions on the cluster and runs their steps. See master_interface.h.
//
// Sessions of this process talk to it directly, others through Handle(). A RunStep that comes twice is refused with
// ABORTED.
// Errors: ABORTED "Session ... is not found." for what a restart has lost; those of device_finder.h and client_graph.h.
// Thread safety: safe from any task. Used through shared_ptr, which running requests hold.
// Source: TensorFlow's master.cc, master_session.cc.
#ifndef VIGIL_CORE_CLUSTER_MASTER_MASTER_H_
#define VIGIL_CORE_CLUSTER_MASTER_MASTER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/base/spin_lock.h"
#include "vigil/core/cluster/master/master_graph.h"
#include "vigil/core/cluster/master/master_session.h"
#include "vigil/core/cluster/master_interface.h"
#include "vigil/core/cluster/parallel_calls.h"
#include "vigil/core/cluster/recent_ids.h"
#include "vigil/core/cluster/worker/worker_service.h"
#include "vigil/core/env/env.h"

namespace vigil {

namespace proto {
class CloseSessionRequest;
class CreateSessionRequest;
class CreateSessionResponse;
class ExtendSessionRequest;
class ExtendSessionResponse;
class ListDevicesResponse;
class MakeCallableRequest;
class MakeCallableResponse;
class ReleaseCallableRequest;
class RunCallableRequest;
class RunCallableResponse;
class RunStepRequest;
}  // namespace proto

class Master final : public MasterInterface {
 public:
  // `ops` is borrowed. `defaults`: of sessions, where they say nothing themselves.
  Master(const Env& env, const OpRegistry& ops, std::shared_ptr<WorkerService> worker, SessionConfig defaults = {});

  NetworkReply Handle(IncomingCall& call);
  // Ends all sessions; does not wait.
  void CloseAll();
  // The same, and what is asked of other tasks besides.
  void Stop();
  std::size_t sessions() const;
  std::map<std::string, std::size_t> RunningSteps() const;  // of each session, by its handle
  std::size_t calls() const;                                // under way: of its sessions, and resets

  absl::StatusOr<proto::CreateSessionResponse> CreateSession(const proto::CreateSessionRequest& request) override;
  absl::StatusOr<proto::ExtendSessionResponse> ExtendSession(const proto::ExtendSessionRequest& request) override;
  std::shared_ptr<PreparedStep> Prepare(const std::string& session, StepNames names) override;
  absl::Status RunStep(PreparedStep& step, const StepCall& call, std::vector<Tensor>* fetched) override;
  absl::Status CloseSession(const std::string& session) override;
  void AbandonSession(const std::string& session) override;
  absl::Status Reset(const std::vector<std::string>& containers,
                     const std::vector<std::string>& device_filters) override;
  absl::StatusOr<proto::ListDevicesResponse> ListDevices(const std::string& session) override;

 private:
  class Prepared;

  absl::StatusOr<proto::CreateSessionResponse> CreateSessionFor(const proto::CreateSessionRequest& request,
                                                                IncomingCall* caller);
  // The session that was made for that request already, or null. Error: it was, and is closed. REQUIRES: lock_ is held.
  absl::StatusOr<std::shared_ptr<MasterSession>> FindCreated(std::int64_t request_id);
  // A process of that task asks for a session: those that earlier ones have end. ABORTED if a later one has asked.
  absl::Status NoteClient(const TaskStart& client);
  // Whether a later one has asked. REQUIRES: lock_ is held.
  bool IsFollowed(const TaskStart& client) const;
  // Null: there is none.
  std::shared_ptr<MasterSession> TakeOut(const std::string& session);
  absl::Status ServeCloseSession(const proto::CloseSessionRequest& request);
  absl::StatusOr<proto::ListDevicesResponse> ListDevicesFor(const std::string& session, IncomingCall* caller);
  bool stopped() const;
  absl::StatusOr<std::shared_ptr<MasterSession>> FindSession(const std::string& handle);
  NetworkReply ServeRunStep(IncomingCall& call);
  // The response's bytes.
  absl::StatusOr<absl::Cord> RunRequest(const proto::RunStepRequest& request, const std::vector<Tensor>& feeds,
                                        IncomingCall& call);
  // ABORTED for a request that has come before; `what` says of which kind. 0: nobody knows.
  absl::Status NoteRequest(std::int64_t id, std::string_view what, const std::string& session);
  absl::StatusOr<proto::MakeCallableResponse> MakeCallable(const proto::MakeCallableRequest& request,
                                                           IncomingCall& call);
  absl::StatusOr<proto::RunCallableResponse> RunCallable(const proto::RunCallableRequest& request, IncomingCall& call);
  absl::Status ReleaseCallable(const proto::ReleaseCallableRequest& request);

  const Env env_;
  const OpRegistry& ops_;
  const std::shared_ptr<WorkerService> worker_;
  const SessionConfig defaults_;
  MasterGraphs graphs_;
  CallsInFlight resets_;
  mutable SpinLock lock_;
  // Guarded by lock_.
  std::map<std::string, std::shared_ptr<MasterSession>> sessions_;  // by handle
  RecentIds requests_;                                              // runs that were asked for
  RecentIds creations_;                                             // sessions that were made, or given up before
  std::map<std::string, std::uint64_t> clients_;  // of each task that asks for sessions, its latest start
  bool stopped_ = false;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_MASTER_MASTER_H_

// What one task keeps for one step: values that its partition has sent and nobody has fetched yet, and values from
// others that are on their way to it. TensorFlow's Rendezvous of a step (core/graph/rendezvous.h is what kernels see of
// it).
//
// Made by whoever comes first: the run of the partition, or another task that asks for a value of it (RecvTensor). All
// that belongs to a step ends when it is aborted: what waits gets the reason, calls to others are cancelled.
// Thread safety: safe from any task; Abort and what the network calls never wait for anybody. Used through shared_ptr.
#ifndef VIGIL_CORE_CLUSTER_WORKER_STEP_RENDEZVOUS_H_
#define VIGIL_CORE_CLUSTER_WORKER_STEP_RENDEZVOUS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/resource.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

class StepRendezvous : public std::enable_shared_from_this<StepRendezvous> {
 public:
  explicit StepRendezvous(const Env& env);
  // For another step. REQUIRES: nobody else refers to it.
  void Reuse(std::int64_t step_id);
  std::int64_t step_id() const { return step_id_; }

  // The run of the partition begins: `cancellation` is set if the step is aborted before EndRun. Error: it has been
  // already, or the step has a run.
  absl::Status BeginRun(Cancellation* cancellation, std::size_t sends);
  void EndRun();  // REQUIRES: BeginRun was OK, and this is its only EndRun

  // A value for another task, which goes to who has asked for it already, in the calling task. Error: the step was
  // aborted.
  absl::Status Send(const std::string& key, const Tensor& value);
  using Taken = std::function<void(absl::StatusOr<Tensor>)>;
  // The value that was sent under that key, each once: ABORTED if it was asked for before. nullopt: it is not here yet.
  std::optional<absl::StatusOr<Tensor>> TryTake(const std::string& key);
  // The same when it comes: `taken` is called, by who sends it or aborts the step, or here if it is here by now. Not if
  // it is given up by the number that this returns (0: it was called already).
  std::uint64_t Take(const std::string& key, Taken taken);
  void GiveUp(std::uint64_t take);

  // Asks another task for a value, the `i`-th of this step; `i` counts from 0. Each is asked for once.
  void Fetch(std::size_t i, NetworkRequest request);
  // Waits for the i-th: the reply to RecvTensor. REQUIRES: it was asked for, and has not been awaited yet.
  NetworkReply Await(std::size_t i, Time deadline);

  // Ends everything with this error. The first one counts.
  void Abort(const absl::Status& why);
  absl::Status aborted() const;

  // Whether nothing is left to do for the step once nobody uses this any more; whether it then must not begin again.
  bool over() const;
  bool spent() const;

 private:
  struct Item {
    std::string key;
    Tensor value;
    bool sent = false;
    bool wanted = false;
    std::uint64_t take = 0;  // of who waits for it
    Taken taken;             // null: nobody waits
  };
  struct Arrival {
    std::uint64_t call = 0;
    bool arrived = false;
    std::optional<NetworkReply> reply;
  };

  // REQUIRES (both): *mutex_ is held.
  Item& ItemOf(const std::string& key);
  std::optional<absl::StatusOr<Tensor>> TakeNow(Item& item);
  void Arrive(std::size_t i, NetworkReply reply);

  const Env env_;
  // Held for moments only, never while anybody is notified: the network may call from where nothing can wait.
  const std::unique_ptr<Mutex> mutex_;
  const std::unique_ptr<Condition> run_changed_;
  std::int64_t step_id_ = 0;
  // Guarded by *mutex_.
  std::vector<std::unique_ptr<Item>> items_;  // the first used_ are of this step
  std::size_t used_ = 0;
  std::size_t untaken_ = 0;  // of what the run will send
  std::uint64_t takes_ = 0;  // of all steps so far
  std::vector<Arrival> arrivals_;
  Cancellation* cancellation_ = nullptr;
  bool ran_ = false;
  bool running_ = false;
  absl::Status aborted_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_WORKER_STEP_RENDEZVOUS_H_

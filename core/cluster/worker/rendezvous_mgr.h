// The steps that a task is working on, by their numbers, each with its rendezvous. TensorFlow's RendezvousMgr.
//
// Who works on a step holds a lease of it. A step goes when nobody does and nothing is left to do for it; it is
// remembered for a while, so that what comes late (a repeated request, a request that a cancelled one overtook) cannot
// begin it again; so is what it has failed with, for a request that the failure overtook: what its sender gets can be
// the first that the master hears of it.
// Thread safety: safe from any task. Ownership: leases must not outlive the manager.
#ifndef VIGIL_CORE_CLUSTER_WORKER_RENDEZVOUS_MGR_H_
#define VIGIL_CORE_CLUSTER_WORKER_RENDEZVOUS_MGR_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/cluster/recent_ids.h"
#include "vigil/core/cluster/worker/step_rendezvous.h"
#include "vigil/core/env/env.h"

namespace vigil {

class RendezvousMgr {
 public:
  class Lease {
   public:
    Lease(Lease&& other) noexcept
        : manager_(std::exchange(other.manager_, nullptr)),
          state_(std::move(other.state_)),
          failed_(std::move(other.failed_)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (manager_ != nullptr && state_ != nullptr) manager_->Leave(std::move(state_));
    }
    StepRendezvous& operator*() const { return *state_; }
    StepRendezvous* operator->() const { return state_.get(); }
    explicit operator bool() const { return state_ != nullptr; }
    // Of a lease of nothing: what the step has failed with. OK: it has not, or that is forgotten.
    const absl::Status& failed() const { return failed_; }

   private:
    friend class RendezvousMgr;
    Lease(RendezvousMgr* manager, std::shared_ptr<StepRendezvous> state)
        : manager_(manager), state_(std::move(state)) {}
    Lease(RendezvousMgr* manager, absl::Status failed) : manager_(manager), failed_(std::move(failed)) {}
    RendezvousMgr* manager_;
    std::shared_ptr<StepRendezvous> state_;  // null: the step is over
    absl::Status failed_;
  };

  explicit RendezvousMgr(const Env& env);

  // The rendezvous of that step, made if this is the first who comes. A lease of nothing: the step is over, and must
  // not begin again. Never waits. `master`: the incarnation of whose step it is; 0: the caller does not know.
  Lease Enter(std::int64_t step_id, std::uint64_t master = 0);
  // Aborts the step, if it is here, and lets nobody enter it any more.
  void End(std::int64_t step_id, const absl::Status& why);
  // The same for all that are here now.
  void EndAll(const absl::Status& why);
  // The same for those of that master.
  void EndAllOf(std::uint64_t master, const absl::Status& why);
  std::size_t size() const;  // steps that are here
  // The incarnations of those for whose steps somebody works or waits here, as far as they are known.
  std::set<std::uint64_t> Masters() const;

 private:
  struct Entry {
    std::shared_ptr<StepRendezvous> state;
    int users = 0;
    std::uint64_t master = 0;
  };
  // Of that master; 0: of all.
  std::vector<std::int64_t> StepsOf(std::uint64_t master) const;
  void Leave(std::shared_ptr<StepRendezvous> state);
  absl::Status WhyOver(std::int64_t step_id) const;  // REQUIRES: *mutex_ is held

  const Env env_;
  const std::unique_ptr<Mutex> mutex_;
  // Guarded by *mutex_.
  std::map<std::int64_t, Entry> steps_;
  std::vector<std::shared_ptr<StepRendezvous>> idle_;
  RecentIds over_;
  std::deque<std::pair<std::int64_t, absl::Status>> failed_;  // the last few of those that are over
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_WORKER_RENDEZVOUS_MGR_H_

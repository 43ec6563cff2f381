// The steps that a task is working on, by their numbers.
//
// Who works on a step holds a lease of it. A step goes when nobody does and nothing is left to do for it; it is
// remembered for a while, so that what comes late (a repeated request, a request that a cancelled one overtook) cannot
// begin it again.
// Thread safety: safe from any task. Ownership: leases must not outlive the table.
#ifndef VIGIL_CORE_CLUSTER_WORKER_STEP_TABLE_H_
#define VIGIL_CORE_CLUSTER_WORKER_STEP_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "vigil/core/cluster/recent_ids.h"
#include "vigil/core/cluster/worker/step_state.h"
#include "vigil/core/env/env.h"

namespace vigil {

class StepTable {
 public:
  class Lease {
   public:
    Lease(Lease&& other) noexcept : table_(std::exchange(other.table_, nullptr)), state_(std::move(other.state_)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (table_ != nullptr && state_ != nullptr) table_->Leave(std::move(state_));
    }
    StepState& operator*() const { return *state_; }
    StepState* operator->() const { return state_.get(); }
    explicit operator bool() const { return state_ != nullptr; }

   private:
    friend class StepTable;
    Lease(StepTable* table, std::shared_ptr<StepState> state) : table_(table), state_(std::move(state)) {}
    StepTable* table_;
    std::shared_ptr<StepState> state_;  // null: the step is over
  };

  explicit StepTable(const Env& env);

  Lease Enter(std::int64_t step_id);
  // Aborts the step, if it is here, and lets nobody enter it any more.
  void End(std::int64_t step_id, const absl::Status& why);
  void EndAll(const absl::Status& why);
  std::size_t size() const;

 private:
  struct Entry {
    std::shared_ptr<StepState> state;
    int users = 0;
  };
  void Leave(std::shared_ptr<StepState> state);

  const Env env_;
  const std::unique_ptr<Mutex> mutex_;
  // Guarded by *mutex_.
  std::map<std::int64_t, Entry> steps_;
  std::vector<std::shared_ptr<StepState>> idle_;
  RecentIds over_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_WORKER_STEP_TABLE_H_

// The queue behind a FIFOQueueV2 or RandomShuffleQueueV2 node: a bounded buffer of elements (tuples of tensors) between
// tasks.
//
// As in TensorFlow the ones that put in are served in the order in which they came, the ones that take out as well, and
// a plain Close waits its turn among those that put in: what was waiting before it still gets in.
// Errors: CANCELLED "FIFOQueue 'q' is closed." for putting into a closed queue and for those that a cancelling close
// ends; OUT_OF_RANGE for taking more than a closed queue has; CANCELLED or DEADLINE_EXCEEDED when the run itself ends
// meanwhile.
// Thread safety: safe from any task.
#ifndef VIGIL_CORE_OPS_FIFO_QUEUE_H_
#define VIGIL_CORE_OPS_FIFO_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/graph/resource.h"
#include "vigil/core/ops/random/philox.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

class FifoQueue : public Resource {
 public:
  static constexpr std::string_view kKind = "queue";
  using Element = std::vector<Tensor>;

  // Of one that gives its elements in random order. Until it is closed it keeps so many.
  struct Shuffling {
    PhiloxNumbers numbers;
    std::int64_t min_after_dequeue = 0;
    // As the node says them; both 0: it says none.
    std::int64_t seed = 0;
    std::int64_t seed2 = 0;
    // What a node with these attributes asks for.
    static std::optional<Shuffling> Of(const Env& env, const Node& holder);
  };

  // capacity < 0: without bound.
  FifoQueue(const Env& env, std::string name, std::vector<DType> component_types, std::int64_t capacity,
            std::optional<Shuffling> shuffling = std::nullopt);

  absl::Status Fits(const Node& holder) const override;  // in kind, types, capacity, how it shuffles

  // Puts in one after the other, waiting for room before each: an error leaves those that are in. `renew`: first takes
  // out what is in it, opens it if it was closed, and forgets which takers were stopped. REQUIRES: elements of the
  // component types.
  absl::Status Enqueue(const KernelContext& run, std::vector<Element> elements, bool renew = false);
  // Takes `count`, or none if it fails; with `up_to` fewer, but at least one, of a queue that is closed. `taker`: a
  // name under which it can be stopped; "" = none.
  absl::Status Dequeue(const KernelContext& run, std::int64_t count, std::vector<Element>* elements,
                       const std::string& taker = "", bool up_to = false);
  // If it was closed, it is no more; what is in it stays.
  void Open();
  // Who waits for elements under that name, now or later, until the queue is renewed, fails with ABORTED.
  void StopTaker(std::string taker);
  // Nothing more is put in; what is in it can still be taken. `cancel_pending_enqueues`: at once, and also of a queue
  // that is closed; else in its turn, and CANCELLED if somebody else has closed the queue by then.
  absl::Status Close(const KernelContext& run, bool cancel_pending_enqueues);
  std::int64_t Size() const;  // in elements, without those that wait to be put in
  void Cancel() override;
  std::size_t in_line() const override { return in_line_.load(std::memory_order_relaxed); }

 private:
  struct Attempt {
    bool cancelled = false;
  };
  using Attempts = std::deque<Attempt*>;
  class Turn;

  // REQUIRES: *mutex_ is held.
  void NoteLines() { in_line_.store(enqueuing_.size() + dequeuing_.size(), std::memory_order_relaxed); }
  bool HasRoom() const { return capacity_ < 0 || static_cast<std::int64_t>(elements_.size()) < capacity_; }
  bool HasOne() const;  // that may be taken
  Element Take();       // REQUIRES: HasOne()
  absl::Status ShufflesAs(const Node& holder) const;
  // Waits for any change. REQUIRES: *mutex_ is held.
  absl::Status Wait(const KernelContext& run, std::string_view operation);

  const std::string name_;
  const std::vector<DType> component_types_;
  const std::int64_t capacity_;
  const bool is_shuffling_;
  // Of one that shuffles: as its node said them.
  const std::int64_t min_after_dequeue_;
  const std::int64_t seed_;
  const std::int64_t seed2_;
  const std::string_view kind_name_;
  const std::unique_ptr<Mutex> mutex_;
  const std::unique_ptr<Condition> changed_;
  // Guarded by *mutex_.
  std::optional<Shuffling> shuffling_;
  std::deque<Element> elements_;
  Attempts enqueuing_;
  Attempts dequeuing_;
  bool closed_ = false;
  std::set<std::string, std::less<>> stopped_;  // takers
  std::atomic<std::size_t> in_line_{0};         // how long both lines are; may be read without the lock
};

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_FIFO_QUEUE_H_

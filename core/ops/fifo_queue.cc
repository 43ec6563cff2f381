#include "vigil/core/ops/fifo_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/random/random_generator.h"

namespace vigil {
namespace {

std::string Names(const std::vector<DType>& types) {
  std::vector<std::string_view> names;
  for (const DType type : types) names.push_back(DTypeName(type));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::int64_t NumberOf(const Node& node, std::string_view name, std::int64_t missing) {
  return KernelContext::AttrOr(node, name, missing);
}

bool IsShuffling(const Node& holder) { return holder.op == "RandomShuffleQueueV2"; }

}  // namespace

// A place in a line; gives it up when destroyed, also when the task is killed. REQUIRES: the queue's mutex is held
// throughout (but for waiting).
class FifoQueue::Turn {
 public:
  Turn(FifoQueue& queue, Attempts& line) : queue_(queue), line_(line) {
    line_.push_back(&attempt_);
    queue_.NoteLines();
  }
  ~Turn() {
    line_.erase(std::ranges::find(line_, &attempt_));
    queue_.NoteLines();
    queue_.changed_->NotifyAll();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool HasCome() const { return line_.front() == &attempt_; }
  bool cancelled() const { return attempt_.cancelled; }

 private:
  FifoQueue& queue_;
  Attempts& line_;
  Attempt attempt_;
};

FifoQueue::FifoQueue(const Env& env, std::string name, std::vector<DType> component_types, std::int64_t capacity,
                     std::optional<Shuffling> shuffling)
    : name_(std::move(name)),
      component_types_(std::move(component_types)),
      capacity_(capacity),
      is_shuffling_(shuffling.has_value()),
      min_after_dequeue_(is_shuffling_ ? shuffling->min_after_dequeue : 0),
      seed_(is_shuffling_ ? shuffling->seed : 0),
      seed2_(is_shuffling_ ? shuffling->seed2 : 0),
      kind_name_(is_shuffling_ ? "RandomShuffleQueue" : "FIFOQueue"),
      mutex_(env.tasks->NewMutex(name_)),
      changed_(env.tasks->NewCondition(name_)),
      shuffling_(std::move(shuffling)) {}

bool FifoQueue::HasOne() const {
  const std::int64_t kept = closed_ || !shuffling_.has_value() ? 0 : shuffling_->min_after_dequeue;
  return static_cast<std::int64_t>(elements_.size()) > kept;
}

FifoQueue::Element FifoQueue::Take() {
  if (!shuffling_.has_value()) {
    Element first = std::move(elements_.front());
    elements_.pop_front();
    return first;
  }
  std::swap(elements_[shuffling_->numbers.Next() % static_cast<std::uint32_t>(elements_.size())], elements_.back());
  Element taken = std::move(elements_.back());
  elements_.pop_back();
  return taken;
}

std::optional<FifoQueue::Shuffling> FifoQueue::Shuffling::Of(const Env& env, const Node& holder) {
  if (!IsShuffling(holder)) return std::nullopt;
  const std::int64_t seed = NumberOf(holder, "seed", 0);
  const std::int64_t seed2 = NumberOf(holder, "seed2", 0);
  return Shuffling{.numbers = PhiloxNumbers(Seeded(env, seed, seed2)),
                   .min_after_dequeue = NumberOf(holder, "min_after_dequeue", 0),
                   .seed = seed,
                   .seed2 = seed2};
}

absl::Status FifoQueue::Fits(const Node& holder) const {
  if (IsShuffling(holder) != is_shuffling_) {
    return InvalidArgument("Shared queue '{}' has type '{}' that does not match type of Node '{}': {}", name_,
                           kind_name_, holder.name, holder.op);
  }
  const auto types = holder.attrs.find("component_types");
  const auto* const wanted = types == holder.attrs.end() ? nullptr : std::get_if<std::vector<DType>>(&types->second);
  if (wanted == nullptr || *wanted != component_types_) {
    return InvalidArgument("Shared queue '{}' has component types [{}] but requested component types were [{}]", name_,
                           Names(component_types_), wanted == nullptr ? "" : Names(*wanted));
  }
  const std::int64_t capacity = NumberOf(holder, "capacity", -1);
  if (capacity != capacity_) {
    return InvalidArgument("Shared queue '{}' has capacity {} but requested capacity was {}", name_, capacity_,
                           capacity);
  }
  return is_shuffling_ ? ShufflesAs(holder) : absl::OkStatus();
}

absl::Status FifoQueue::ShufflesAs(const Node& holder) const {
  const std::int64_t kept = NumberOf(holder, "min_after_dequeue", 0);
  if (kept != min_after_dequeue_) {
    return InvalidArgument("Shared queue '{}' has min_after_dequeue {} but requested min_after_dequeue was {}", name_,
                           min_after_dequeue_, kept);
  }
  const std::int64_t seed = NumberOf(holder, "seed", 0);
  const std::int64_t seed2 = NumberOf(holder, "seed2", 0);
  if ((seed == 0 && seed2 == 0) || (seed == seed_ && seed2 == seed2_)) return absl::OkStatus();
  return InvalidArgument("Shared queue '{}' has random seeds ({}, {}) but requested seeds are ({}, {})", name_, seed_,
                         seed2_, seed, seed2);
}

absl::Status FifoQueue::Wait(const KernelContext& run, std::string_view operation) {
  if (run.cancelled()) return MakeStatus(Code::kCancelled, fmt::format("{} operation was cancelled", operation));
  if (changed_->Wait(*mutex_, run.deadline())) return absl::OkStatus();
  return MakeStatus(Code::kDeadlineExceeded, "Timed out waiting for notification");
}

absl::Status FifoQueue::Enqueue(const KernelContext& run, std::vector<Element> elements, bool renew) {
  MutexLock lock(*mutex_);
  if (renew) {
    elements_.clear();
    closed_ = false;
    stopped_.clear();
    changed_->NotifyAll();  // there is room for who stands before
  }
  Turn turn(*this, enqueuing_);
  for (Element& element : elements) {
    while (true) {
      if (turn.cancelled()) return MakeStatus(Code::kCancelled, "Enqueue operation was cancelled");
      if (turn.HasCome() && closed_)
        return MakeStatus(Code::kCancelled, fmt::format("{} '{}' is closed.", kind_name_, name_));
      if (turn.HasCome() && HasRoom()) break;
      VIGIL_RETURN_IF_ERROR(Wait(run, "Enqueue"));
    }
    elements_.push_back(std::move(element));
    changed_->NotifyAll();
  }
  return absl::OkStatus();
}

absl::Status FifoQueue::Dequeue(const KernelContext& run, std::int64_t count, std::vector<Element>* elements,
                                const std::string& taker, bool up_to) {
  MutexLock lock(*mutex_);
  Turn turn(*this, dequeuing_);
  const auto wanted = static_cast<std::size_t>(count);
  absl::Status status;
  while (elements->size() < wanted) {
    if (turn.HasCome() && HasOne()) {
      elements->push_back(Take());
      changed_->NotifyAll();
      continue;
    }
    if (turn.HasCome() && closed_) {
      if (up_to && !elements->empty()) return absl::OkStatus();
      status = MakeStatus(Code::kOutOfRange,
                          fmt::format("{} '{}' is closed and has insufficient elements (requested {}, current size {})",
                                      kind_name_, name_, count, elements->size()));
    } else if (stopped_.contains(taker)) {
      status = MakeStatus(Code::kAborted, fmt::format("Dequeue operation of '{}' was stopped", taker));
    } else {
      status = Wait(run, "Dequeue");
    }
    if (!status.ok()) break;
  }
  if (status.ok()) return status;
  // Back to where they were: those of a queue that shuffles were anywhere.
  elements_.insert(elements_.begin(), std::make_move_iterator(elements->begin()),
                   std::make_move_iterator(elements->end()));
  elements->clear();
  return status;
}

absl::Status FifoQueue::Close(const KernelContext& run, bool cancel_pending_enqueues) {
  MutexLock lock(*mutex_);
  if (cancel_pending_enqueues) {
    closed_ = true;
    for (Attempt* attempt : enqueuing_) attempt->cancelled = true;
    changed_->NotifyAll();
    return absl::OkStatus();
  }
  Turn turn(*this, enqueuing_);
  while (!turn.HasCome() && !turn.cancelled()) VIGIL_RETURN_IF_ERROR(Wait(run, "Close"));
  if (closed_) return MakeStatus(Code::kCancelled, fmt::format("Queue '{}' is already closed.", name_));
  closed_ = true;
  return absl::OkStatus();
}

void FifoQueue::Open() {
  MutexLock lock(*mutex_);
  closed_ = false;
}

void FifoQueue::StopTaker(std::string taker) {
  MutexLock lock(*mutex_);
  stopped_.insert(std::move(taker));
  changed_->NotifyAll();
}

std::int64_t FifoQueue::Size() const {
  MutexLock lock(*mutex_);
  return static_cast<std::int64_t>(elements_.size());
}

void FifoQueue::Cancel() {
  MutexLock lock(*mutex_);
  changed_->NotifyAll();
}

}  // namespace vigil

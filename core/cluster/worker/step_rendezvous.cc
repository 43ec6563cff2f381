#include "vigil/core/cluster/worker/step_rendezvous.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/step_errors.h"

namespace vigil {

StepRendezvous::StepRendezvous(const Env& env)
    : env_(env),
      mutex_(env.tasks->NewMutex("step")),
      run_changed_(env.tasks->NewCondition("a value of another task")) {}

void StepRendezvous::Reuse(std::int64_t step_id) {
  MutexLock lock(*mutex_);
  VIGIL_CHECK(!running_);  // else a run would go on with the values of another step
  step_id_ = step_id;
  for (std::size_t i = 0; i < used_; ++i) {
    VIGIL_CHECK(items_[i]->taken == nullptr);  // else who waits would get a value of another step
    items_[i]->value = Tensor();
  }
  used_ = untaken_ = 0;
  arrivals_.clear();
  cancellation_ = nullptr;
  ran_ = running_ = false;
  aborted_ = absl::OkStatus();
}

absl::Status StepRendezvous::BeginRun(Cancellation* cancellation, std::size_t sends) {
  MutexLock lock(*mutex_);
  if (!aborted_.ok()) return aborted_;
  if (ran_) return MakeStatus(Code::kAborted, fmt::format("Step {} runs here already.", step_id_));
  cancellation_ = cancellation;
  untaken_ = sends;
  ran_ = running_ = true;
  return absl::OkStatus();
}

void StepRendezvous::EndRun() {
  MutexLock lock(*mutex_);
  VIGIL_CHECK(running_);
  cancellation_ = nullptr;
  running_ = false;
}

bool StepRendezvous::over() const {
  MutexLock lock(*mutex_);
  return !running_ && (!ran_ || untaken_ == 0 || !aborted_.ok());
}

bool StepRendezvous::spent() const {
  MutexLock lock(*mutex_);
  return ran_ || !aborted_.ok();
}

StepRendezvous::Item& StepRendezvous::ItemOf(const std::string& key) {
  for (std::size_t i = 0; i < used_; ++i) {
    if (items_[i]->key == key) return *items_[i];
  }
  if (used_ == items_.size()) items_.push_back(std::make_unique<Item>());
  Item& item = *items_[used_++];
  item.key = key;
  item.sent = item.wanted = false;
  return item;
}

absl::Status StepRendezvous::Send(const std::string& key, const Tensor& value) {
  Taken taken;
  {
    MutexLock lock(*mutex_);
    if (!aborted_.ok()) return aborted_;
    Item& item = ItemOf(key);
    item.sent = true;
    taken = std::exchange(item.taken, nullptr);
    if (taken == nullptr) {
      item.value = value;
    } else {
      VIGIL_CHECK(untaken_ > 0);  // else the step would never be over
      --untaken_;
    }
  }
  if (taken != nullptr) taken(value);
  return absl::OkStatus();
}

std::optional<absl::StatusOr<Tensor>> StepRendezvous::TakeNow(Item& item) {
  if (item.wanted) {
    return MakeStatus(Code::kAborted, fmt::format("'{}' of step {} was asked for already.", item.key, step_id_));
  }
  if (item.sent) {
    item.wanted = true;
    VIGIL_CHECK(untaken_ > 0);  // else the step would never be over
    --untaken_;
    return std::exchange(item.value, Tensor());
  }
  if (!aborted_.ok()) return aborted_;
  return std::nullopt;
}

std::optional<absl::StatusOr<Tensor>> StepRendezvous::TryTake(const std::string& key) {
  MutexLock lock(*mutex_);
  return TakeNow(ItemOf(key));
}

std::uint64_t StepRendezvous::Take(const std::string& key, Taken taken) {
  std::optional<absl::StatusOr<Tensor>> now;
  {
    MutexLock lock(*mutex_);
    Item& item = ItemOf(key);
    now = TakeNow(item);
    if (!now.has_value()) {
      item.wanted = true;
      item.taken = std::move(taken);
      return item.take = ++takes_;
    }
  }
  taken(*std::move(now));
  return 0;
}

void StepRendezvous::GiveUp(std::uint64_t take) {
  Taken dropped;  // destroyed after the lock is released
  MutexLock lock(*mutex_);
  for (std::size_t i = 0; i < used_; ++i) {
    Item& item = *items_[i];
    if (item.taken == nullptr || item.take != take) continue;
    dropped = std::exchange(item.taken, nullptr);
    item.wanted = false;
  }
}

void StepRendezvous::Fetch(std::size_t i, NetworkRequest request) {
  {
    MutexLock lock(*mutex_);
    if (arrivals_.size() <= i) arrivals_.resize(i + 1);
  }
  const std::uint64_t call = env_.network->Start(
      std::move(request), [self = shared_from_this(), i](NetworkReply reply) { self->Arrive(i, std::move(reply)); });
  bool too_late = false;
  {
    MutexLock lock(*mutex_);
    arrivals_[i].call = call;
    too_late = !aborted_.ok();
  }
  if (too_late) env_.network->Cancel(call);
}

void StepRendezvous::Arrive(std::size_t i, NetworkReply reply) {
  {
    MutexLock lock(*mutex_);
    VIGIL_CHECK(i < arrivals_.size() && !arrivals_[i].arrived);  // one reply a call, and of this step
    arrivals_[i].arrived = true;
    arrivals_[i].reply = std::move(reply);
  }
  run_changed_->NotifyAll();
}

NetworkReply StepRendezvous::Await(std::size_t i, Time deadline) {
  MutexLock lock(*mutex_);
  VIGIL_CHECK(i < arrivals_.size());
  while (aborted_.ok() && !arrivals_[i].arrived) {
    if (run_changed_->Wait(*mutex_, deadline) || arrivals_[i].arrived) continue;
    return MakeStatus(Code::kDeadlineExceeded, "Timed out waiting for notification");
  }
  if (!aborted_.ok()) return aborted_;
  VIGIL_CHECK(arrivals_[i].reply.has_value());  // else it was awaited before
  return *std::exchange(arrivals_[i].reply, std::nullopt);
}

void StepRendezvous::Abort(const absl::Status& why) {
  std::vector<std::uint64_t> calls;
  std::vector<Taken> waiting;
  {
    MutexLock lock(*mutex_);
    if (!aborted_.ok()) return;
    aborted_ = why;
    if (cancellation_ != nullptr) cancellation_->Cancel();
    for (const Arrival& arrival : arrivals_) {
      if (arrival.call != 0 && !arrival.arrived) calls.push_back(arrival.call);
    }
    for (std::size_t i = 0; i < used_; ++i) {
      if (items_[i]->taken == nullptr) continue;
      waiting.push_back(std::exchange(items_[i]->taken, nullptr));
      items_[i]->wanted = false;
    }
  }
  run_changed_->NotifyAll();
  for (const Taken& taken : waiting) taken(why);
  for (const std::uint64_t call : calls) env_.network->Cancel(call);
}

absl::Status StepRendezvous::aborted() const {
  MutexLock lock(*mutex_);
  return aborted_;
}

}  // namespace vigil

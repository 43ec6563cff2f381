#include "vigil/core/cluster/parallel_calls.h"

#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"

namespace vigil {

ParallelCalls::ParallelCalls(const Env& env)
    : env_(env), mutex_(env.tasks->NewMutex("calls")), finished_(env.tasks->NewCondition("answers of other tasks")) {}

void ParallelCalls::Reuse(std::size_t calls) {
  MutexLock lock(*mutex_);
  calls_.resize(calls);
  for (OneCall& call : calls_) {
    call.number = 0;
    call.answered = false;
  }
  pending_ = calls;
  cancelled_ = false;
  why_ = absl::OkStatus();
}

void ParallelCalls::Start(std::size_t i, NetworkRequest request) {
  bool cancelled = false;
  {
    MutexLock lock(*mutex_);
    cancelled = cancelled_;
  }
  if (cancelled) {
    Finish(i, MakeStatus(Code::kCancelled, "CANCELLED"));
    return;
  }
  const std::uint64_t number = env_.network->Start(
      std::move(request), [self = shared_from_this(), i](NetworkReply reply) { self->Finish(i, std::move(reply)); });
  {
    MutexLock lock(*mutex_);
    calls_[i].number = number;
    cancelled = cancelled_ && !calls_[i].answered;
  }
  if (cancelled) env_.network->Cancel(number);
}

void ParallelCalls::Finish(std::size_t i, NetworkReply reply) {
  OnReply(i, reply);
  bool last = false;
  {
    MutexLock lock(*mutex_);
    calls_[i].reply = std::move(reply);
    calls_[i].answered = true;
    last = --pending_ == 0;
  }
  if (last) finished_->NotifyAll();
}

bool ParallelCalls::Wait(Time deadline) {
  MutexLock lock(*mutex_);
  while (pending_ > 0) {
    if (!finished_->Wait(*mutex_, deadline)) return pending_ == 0;
  }
  return true;
}

bool ParallelCalls::answered(std::size_t i) const {
  MutexLock lock(*mutex_);
  return calls_[i].answered;
}

void ParallelCalls::ForgetReplies() {
  for (OneCall& call : calls_) {
    if (call.reply.ok()) call.reply->Clear();
  }
}

void ParallelCalls::CancelAll() {
  std::vector<std::uint64_t> running;
  {
    MutexLock lock(*mutex_);
    cancelled_ = true;
    for (const OneCall& call : calls_) {
      if (call.number != 0 && !call.answered) running.push_back(call.number);
    }
  }
  for (const std::uint64_t call : running) env_.network->Cancel(call);
}

void ParallelCalls::Fail(const absl::Status& why) {
  {
    MutexLock lock(*mutex_);
    if (why_.ok()) why_ = why;
  }
  CancelAll();
}

absl::Status ParallelCalls::failed() const {
  MutexLock lock(*mutex_);
  return why_;
}

absl::Status CallsInFlight::Add(const std::shared_ptr<ParallelCalls>& calls) {
  SpinGuard lock(lock_);
  if (closed_.ok()) calls_.push_back(calls);
  return closed_;
}

void CallsInFlight::Remove(const ParallelCalls* calls) {
  SpinGuard lock(lock_);
  std::erase_if(calls_, [calls](const auto& other) { return other.get() == calls; });
}

std::size_t CallsInFlight::size() const {
  SpinGuard lock(lock_);
  return calls_.size();
}

void CallsInFlight::Fail(const absl::Status& why) {
  std::vector<std::shared_ptr<ParallelCalls>> running;
  {
    SpinGuard lock(lock_);
    running = calls_;
  }
  for (const auto& calls : running) calls->Fail(why);
}

void CallsInFlight::Close(const absl::Status& why) {
  VIGIL_CHECK(!why.ok());
  {
    SpinGuard lock(lock_);
    if (!closed_.ok()) return;
    closed_ = why;
  }
  Fail(why);
}

}  // namespace vigil

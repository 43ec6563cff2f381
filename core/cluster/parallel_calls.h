// Several requests at once, and waiting for all their answers.
//
// Thread safety: safe from any task, and from where the network calls: nothing here but Wait() waits. Reuse,
// reply() and ForgetReplies(): by the one who waits. Used through shared_ptr, which calls under way hold.
#ifndef VIGIL_CORE_CLUSTER_PARALLEL_CALLS_H_
#define VIGIL_CORE_CLUSTER_PARALLEL_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/env/env.h"

namespace vigil {

class ParallelCalls : public std::enable_shared_from_this<ParallelCalls> {
 public:
  explicit ParallelCalls(const Env& env);
  virtual ~ParallelCalls() = default;

  // For another set of calls. REQUIRES: all earlier ones were answered.
  void Reuse(std::size_t calls);
  // The i-th. After CancelAll() it is not made, and counts as cancelled.
  void Start(std::size_t i, NetworkRequest request);
  // True: all were answered; false: the deadline passed.
  bool Wait(Time deadline);
  // REQUIRES: it was answered.
  NetworkReply& reply(std::size_t i) { return calls_[i].reply; }
  bool answered(std::size_t i) const;
  // Gives back the memory of the replies. REQUIRES: all were answered.
  void ForgetReplies();
  // What is not answered yet is CANCELLED.
  void CancelAll();
  // The same, and says why: the first reason counts. Never waits.
  virtual void Fail(const absl::Status& why);
  // Of Fail(), OK without.
  absl::Status failed() const;

 protected:
  // The i-th was answered; before Wait() hears of it. Must not wait.
  virtual void OnReply(std::size_t, const NetworkReply&) {}

  const Env env_;

 private:
  struct OneCall {
    std::uint64_t number = 0;
    bool answered = false;
    NetworkReply reply;
  };
  void Finish(std::size_t i, NetworkReply reply);

  // Held for moments only, never while anybody is notified: the network may call from where nothing can wait.
  const std::unique_ptr<Mutex> mutex_;
  const std::unique_ptr<Condition> finished_;
  // Guarded by *mutex_.
  std::vector<OneCall> calls_;
  std::size_t pending_ = 0;
  bool cancelled_ = false;
  absl::Status why_;
};

// What somebody has under way, so that his end can be its end. Safe from any task; never waits.
class CallsInFlight {
 public:
  // Error: that with which it was closed.
  absl::Status Add(const std::shared_ptr<ParallelCalls>& calls);
  void Remove(const ParallelCalls* calls);
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  // What is under way fails with that error.
  void Fail(const absl::Status& why);
  // Nothing begins any more; what is under way fails with that error, which is not OK. Only the first time counts.
  void Close(const absl::Status& why);

 private:
  mutable SpinLock lock_;
  // Guarded by lock_.
  std::vector<std::shared_ptr<ParallelCalls>> calls_;
  absl::Status closed_;  // OK: it is not
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_PARALLEL_CALLS_H_

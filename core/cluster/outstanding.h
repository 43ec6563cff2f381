// Counts what is under way in the background, so that somebody can wait for its end.
// Thread safety: safe from any task. Used through shared_ptr, which the tokens hold.
#ifndef VIGIL_CORE_CLUSTER_OUTSTANDING_H_
#define VIGIL_CORE_CLUSTER_OUTSTANDING_H_

#include <memory>

#include "vigil/core/env/env.h"

namespace vigil {

class Outstanding : public std::enable_shared_from_this<Outstanding> {
 public:
  explicit Outstanding(const Env& env)
      : mutex_(env.tasks->NewMutex("outstanding")), none_(env.tasks->NewCondition("what is under way")) {}

  // As long as a token or a copy of it lives, something is under way.
  using Token = std::shared_ptr<const void>;
  Token Begin() {
    {
      MutexLock lock(*mutex_);
      ++count_;
    }
    return {static_cast<const void*>(this), [self = shared_from_this()](const void*) { self->End(); }};
  }

  // The same for a scope, which this outlives.
  class Scope {
   public:
    explicit Scope(Outstanding& all) : all_(all) {
      MutexLock lock(*all.mutex_);
      ++all.count_;
    }
    ~Scope() { all_.End(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Outstanding& all_;
  };

  void WaitForNone() {
    MutexLock lock(*mutex_);
    while (count_ > 0) none_->Wait(*mutex_, kNever);
  }

 private:
  void End() {
    {
      MutexLock lock(*mutex_);
      if (--count_ > 0) return;
    }
    none_->NotifyAll();
  }

  const std::unique_ptr<Mutex> mutex_;
  const std::unique_ptr<Condition> none_;
  int count_ = 0;  // guarded by *mutex_
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_OUTSTANDING_H_

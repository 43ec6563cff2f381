// Knows what is under way in the background, so that somebody can wait for its end, and say what does not end.
// Thread safety: safe from any task. Used through shared_ptr, which the tokens hold.
#ifndef VIGIL_CORE_CLUSTER_IN_FLIGHT_H_
#define VIGIL_CORE_CLUSTER_IN_FLIGHT_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "vigil/core/env/env.h"

namespace vigil {

class InFlight : public std::enable_shared_from_this<InFlight> {
 public:
  explicit InFlight(const Env& env)
      : mutex_(env.tasks->NewMutex("outstanding")), none_(env.tasks->NewCondition("what is under way")) {}

  // As long as it lives, something of that name is under way, which must outlive it, as must `all`.
  class Scope {
   public:
    Scope(InFlight& all, std::string_view name) : all_(all), name_(name) {
      MutexLock lock(*all.mutex_);
      next_ = std::exchange(all.first_, this);
      if (next_ != nullptr) next_->before_ = this;
    }
    ~Scope() {
      {
        MutexLock lock(*all_.mutex_);
        (before_ == nullptr ? all_.first_ : before_->next_) = next_;
        if (next_ != nullptr) next_->before_ = before_;
        if (all_.first_ != nullptr) return;
      }
      all_.none_->NotifyAll();
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    friend class InFlight;
    InFlight& all_;
    const std::string_view name_;
    Scope* before_ = nullptr;  // guarded by all_.mutex_, as is the next
    Scope* next_ = nullptr;
  };

  // The same as long as a token or a copy of it lives; nothing needs to outlive it but the name.
  using Token = std::shared_ptr<const void>;
  Token Begin(std::string_view name) {
    return {new Scope(*this, name), [self = shared_from_this()](const Scope* scope) { delete scope; }};
  }

  // False: the deadline passed.
  bool WaitForNone(Time deadline) {
    MutexLock lock(*mutex_);
    while (first_ != nullptr) {
      if (!none_->Wait(*mutex_, deadline) && first_ != nullptr) return false;
    }
    return true;
  }

  // How many of each.
  std::map<std::string, int> Names() const {
    std::map<std::string, int> names;
    MutexLock lock(*mutex_);
    for (const Scope* each = first_; each != nullptr; each = each->next_) ++names[std::string(each->name_)];
    return names;
  }

 private:
  const std::unique_ptr<Mutex> mutex_;
  const std::unique_ptr<Condition> none_;
  Scope* first_ = nullptr;  // guarded by *mutex_
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_IN_FLIGHT_H_

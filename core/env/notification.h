// A flag that can be raised once, lowered again, and waited for. Built on the task seam.
// Thread safety: safe from any task of the process.
#ifndef VIGIL_CORE_ENV_NOTIFICATION_H_
#define VIGIL_CORE_ENV_NOTIFICATION_H_

#include <memory>
#include <string_view>

#include "vigil/core/env/tasks.h"

namespace vigil {

class Notification {
 public:
  Notification(Tasks& tasks, std::string_view name);
  // Raises it and wakes all who wait. Fine if it is raised already.
  void Notify();
  // Lowers it. Who was woken by Notify but has not looked yet goes on waiting.
  void Clear();
  bool IsSet() const;
  // True = raised before the deadline (or already); false = the deadline (of Clock::Monotonic) passed. Throws
  // TaskKilled as every blocking call (tasks.h).
  bool Wait(Time deadline);

 private:
  std::unique_ptr<Mutex> mutex_;
  std::unique_ptr<Condition> condition_;
  bool set_ = false;  // guarded by *mutex_
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_NOTIFICATION_H_

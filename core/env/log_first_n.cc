#include "vigil/core/env/log_first_n.h"

#include <map>
#include <string>

#include "vigil/core/base/spin_lock.h"

namespace vigil {
namespace {

struct LogCounters {
  SpinLock lock;
  std::map<std::string, int, std::less<>> calls;  // by place; guarded by lock
};
constexpr SlotKey<LogCounters> kLogCounters{"log counters"};

}  // namespace

void LogFirstN(const Env& env, std::string_view place, int n, Severity severity, std::string_view line) {
  LogCounters& counters = env.process->Slot(kLogCounters);
  int before = 0;
  {
    const SpinGuard guard(counters.lock);
    before = counters.calls.try_emplace(std::string(place), 0).first->second++;
  }
  if (before < n) env.log->Write(severity, line);
}

}  // namespace vigil

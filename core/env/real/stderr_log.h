// Lines for people on standard error: "2025-11-21 09:30:00.123456 W text", in UTC. Contract: log.h.
#ifndef VIGIL_CORE_ENV_REAL_STDERR_LOG_H_
#define VIGIL_CORE_ENV_REAL_STDERR_LOG_H_

#include <string>
#include <string_view>

#include "vigil/core/env/clock.h"
#include "vigil/core/env/log.h"

namespace vigil {

class StderrLog final : public Log {
 public:
  // `clock` is borrowed. Lines below `threshold` are dropped; not enabled: all of them.
  StderrLog(Clock& clock, bool enabled, Severity threshold = Severity::kInfo)
      : clock_(clock), enabled_(enabled), threshold_(threshold) {}
  void Write(Severity severity, std::string_view line) override;

 private:
  Clock& clock_;
  const bool enabled_;
  const Severity threshold_;
};

// The line with its newline.
std::string FormatLogLine(Time now, Severity severity, std::string_view line);

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_REAL_STDERR_LOG_H_

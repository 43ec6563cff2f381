// The log seam: lines for people. Not the event stream: nothing may depend on what is logged.
// Thread safety: safe from any task. Errors: swallowed.
#ifndef VIGIL_CORE_ENV_LOG_H_
#define VIGIL_CORE_ENV_LOG_H_

#include <string_view>

namespace vigil {

// In order: what is compared with a threshold.
enum class Severity { kInfo, kWarning, kError };

class Log {
 public:
  virtual ~Log() = default;
  // One line, without its newline. Returns when it is written, or dropped: whether it was cannot be known.
  virtual void Write(Severity severity, std::string_view line) = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_LOG_H_

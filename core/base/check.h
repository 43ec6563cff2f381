// VIGIL_CHECK: stops the process where a bug of ours has shown itself, with the place and the condition.
// For what a caller can meet use absl::Status instead.
#ifndef VIGIL_CORE_BASE_CHECK_H_
#define VIGIL_CORE_BASE_CHECK_H_

namespace vigil {

// Prints one line to standard error and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace vigil

#define VIGIL_CHECK(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::vigil::CheckFailed(__FILE__, __LINE__, #condition))

#endif  // VIGIL_CORE_BASE_CHECK_H_

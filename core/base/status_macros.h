// Early return on errors, for functions that return absl::Status or absl::StatusOr.
//
//   VIGIL_RETURN_IF_ERROR(file->Sync());
//   VIGIL_ASSIGN_OR_RETURN(const std::string text, ReadAll(path));
#ifndef VIGIL_CORE_BASE_STATUS_MACROS_H_
#define VIGIL_CORE_BASE_STATUS_MACROS_H_

#include <utility>

#define VIGIL_CONCAT_INNER(a, b) a##b
#define VIGIL_CONCAT(a, b) VIGIL_CONCAT_INNER(a, b)

// Numbered by __COUNTER__ and not by line: one may stand inside a lambda that is an argument of another.
#define VIGIL_RETURN_IF_ERROR(expression) \
  VIGIL_RETURN_IF_ERROR_IMPL(VIGIL_CONCAT(vigil_status_, __COUNTER__), expression)
#define VIGIL_RETURN_IF_ERROR_IMPL(name, expression)       \
  do {                                                     \
    if (auto name = (expression); !name.ok()) return name; \
  } while (false)

#define VIGIL_ASSIGN_OR_RETURN(target, expression) \
  VIGIL_ASSIGN_OR_RETURN_IMPL(VIGIL_CONCAT(vigil_or_, __COUNTER__), target, expression)
#define VIGIL_ASSIGN_OR_RETURN_IMPL(name, target, expression) \
  auto name = (expression);                                   \
  if (!name.ok()) return name.status();                       \
  target = *std::move(name)

#endif  // VIGIL_CORE_BASE_STATUS_MACROS_H_

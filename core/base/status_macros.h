// Early return on errors, for functions that return absl::Status or absl::StatusOr.
//
//   VIGIL_RETURN_IF_ERROR(file->Sync());
//   VIGIL_ASSIGN_OR_RETURN(const std::string text, ReadAll(path));
#ifndef VIGIL_CORE_BASE_STATUS_MACROS_H_
#define VIGIL_CORE_BASE_STATUS_MACROS_H_

#include <utility>

#define VIGIL_RETURN_IF_ERROR(expression)                                          \
  do {                                                                             \
    if (auto vigil_status = (expression); !vigil_status.ok()) return vigil_status; \
  } while (false)

#define VIGIL_CONCAT_INNER(a, b) a##b
#define VIGIL_CONCAT(a, b) VIGIL_CONCAT_INNER(a, b)
#define VIGIL_ASSIGN_OR_RETURN(target, expression) \
  VIGIL_ASSIGN_OR_RETURN_IMPL(VIGIL_CONCAT(vigil_or_, __LINE__), target, expression)
#define VIGIL_ASSIGN_OR_RETURN_IMPL(name, target, expression) \
  auto name = (expression);                                   \
  if (!name.ok()) return name.status();                       \
  target = *std::move(name)

#endif  // VIGIL_CORE_BASE_STATUS_MACROS_H_

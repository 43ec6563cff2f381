#include "vigil/core/graph/kernel.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"

namespace vigil {

absl::Status KernelContext::CheckKind(std::string_view wanted) const {
  const std::string_view kind = holder().def->resource_kind;
  if (kind.empty() || kind == wanted) return absl::OkStatus();
  return MakeStatus(Code::kInvalidArgument,
                    fmt::format("Trying to access a handle's resource using the wrong type: '{}' is a {}",
                                holder().name, holder().op));
}

}  // namespace vigil

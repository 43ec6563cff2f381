#include "vigil/core/cluster/task_start.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"

namespace vigil {

absl::Status WasFollowed(std::string_view what) {
  return MakeStatus(Code::kAborted,
                    fmt::format("{} A process that goes on after its successor has begun must end.", what));
}

}  // namespace vigil

#include "vigil/core/graph/kernel.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"

namespace vigil {

const Node& KernelContext::holder_at(int i) const {
  return graph_.node(graph_.node(node().inputs[static_cast<std::size_t>(i)].node).refers_to);
}

absl::Status KernelContext::WhyOver() const {
  if (cancelled()) return MakeStatus(Code::kCancelled, "Run call was cancelled");
  if (deadline_ == kNever || env_.clock->Monotonic() <= deadline_) return absl::OkStatus();
  return MakeStatus(Code::kDeadlineExceeded, "Timed out waiting for notification");
}

absl::Status KernelContext::CheckKind(const Node& holder, std::string_view wanted) {
  const std::string_view kind = holder.def->resource_kind;
  if (kind.empty() || kind == wanted) return absl::OkStatus();
  return MakeStatus(
      Code::kInvalidArgument,
      fmt::format("Trying to access a handle's resource using the wrong type: '{}' is a {}", holder.name, holder.op));
}

}  // namespace vigil

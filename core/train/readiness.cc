#include "vigil/core/train/readiness.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"

namespace vigil {

absl::StatusOr<Readiness> AskWhetherReady(const Env& env, Session& session, Output op, std::string_view what) {
  const absl::StatusOr<Tensor> value = RunFetch(session, op);
  if (!value.ok()) {
    const std::string text(MessageOf(value.status()));
    if (CodeOf(value.status()) != Code::kFailedPrecondition) return value.status();
    if (text.find("uninitialized") != std::string::npos) return Readiness{false, text};
    env.log->Write(Severity::kWarning, fmt::format("{} : error [{}]", what, text));
    return value.status();
  }
  // An int32 answers "ready" for compatibility with the oldest ready ops.
  if (value->dtype() == DType::kInt32 || value->num_elements() == 0) return Readiness{};
  if (value->dtype() != DType::kString) {
    return UsageError(fmt::format("The ready op '{}' must give the names of what is not initialized (strings), not {}.",
                                  session.graph().node(op.node).name, DTypeName(value->dtype())));
  }
  const auto names = value->flat<std::string>();
  return Readiness{.ready = false,
                   .why_not = fmt::format("Variables not initialized: {}", fmt::join(names, ", ")),
                   .missing = {names.begin(), names.end()}};
}

}  // namespace vigil

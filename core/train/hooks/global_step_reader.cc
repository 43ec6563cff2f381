#include "vigil/core/train/hooks/global_step_reader.h"

#include <fmt/format.h>

#include <optional>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/train/training_util.h"

namespace vigil {

absl::Status GlobalStepReader::Init(const BeginContext& context, std::string_view user) {
  Builder b(context.graph);
  VIGIL_ASSIGN_OR_RETURN(const std::optional<Output> read, GetOrCreateGlobalStepRead(context.env, b));
  if (!read.has_value()) return UsageError(fmt::format("Global step should be created to use {}.", user));
  fetches_ = *read;
  spec_.fetches = {*read};
  return absl::OkStatus();
}

absl::StatusOr<std::int64_t> GlobalStepReader::Read(Session* session) {
  if (session == nullptr) {
    return UsageError("The global step cannot be read: the session was closed before its scope was left.");
  }
  VIGIL_RETURN_IF_ERROR(session->Run({.spec = spec_}, &fetched_));
  return StepOf(fetched_[0]);
}

}  // namespace vigil

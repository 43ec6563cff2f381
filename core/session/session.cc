#include "vigil/core/session/session.h"

#include <fmt/format.h>

#include <atomic>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {
namespace {

struct SessionCounter {
  std::atomic<std::int64_t> created{0};
};
constexpr SlotKey<SessionCounter> kSessionCounter{"session counter"};

}  // namespace

std::int64_t NextSessionNumber(const Env& env) { return ++env.process->Slot(kSessionCounter).created; }

absl::StatusOr<std::int64_t> StepOf(const Tensor& fetched) {
  const bool one = fetched.num_elements() == 1;
  if (one && fetched.dtype() == DType::kInt64) return fetched.scalar<std::int64_t>();
  if (one && fetched.dtype() == DType::kInt32) return std::int64_t{fetched.scalar<std::int32_t>()};
  return UsageError(fmt::format("A global step must be one integer, not {}.", fetched.Describe()));
}

absl::StatusOr<Tensor> RunFetch(Session& session, Output fetch) {
  RunSpec spec;
  spec.fetches.push_back(fetch);
  std::vector<Tensor> fetched;
  VIGIL_RETURN_IF_ERROR(session.Run({.spec = spec}, &fetched));
  return std::move(fetched[0]);
}

absl::Status RunTarget(Session& session, NodeId target) {
  RunSpec spec;
  spec.targets.push_back(target);
  std::vector<Tensor> fetched;
  return session.Run({.spec = spec}, &fetched);
}

}  // namespace vigil

#include "vigil/core/train/supervisor/basic_train_loop.h"

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {

absl::Status BasicTrainLoop(Supervisor& supervisor, const std::function<absl::Status(Session&)>& train_step_fn,
                            const std::string& master) {
  while (true) {
    const absl::Status end =
        supervisor.ManagedSession({.target = {.master = master}}, [&](const SessionPtr& session) -> absl::Status {
          while (!supervisor.ShouldStop()) VIGIL_RETURN_IF_ERROR(train_step_fn(*session));
          return absl::OkStatus();
        });
    if (CodeOf(end) != Code::kAborted) return end;
  }
}

}  // namespace vigil

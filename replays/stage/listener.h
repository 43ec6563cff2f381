// The checkpoint listener of a scenario: does at its calls what its plan says, and says so by notes. That it was called
// at all is an event of the session layer.
#ifndef VIGIL_REPLAYS_STAGE_LISTENER_H_
#define VIGIL_REPLAYS_STAGE_LISTENER_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "vigil/core/base/event.h"
#include "vigil/core/env/env.h"
#include "vigil/core/train/hooks/checkpoint_saver_listener.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

class Listener : public CheckpointSaverListener {
 public:
  // `spec` must outlive the listener.
  Listener(const Env& env, const ListenerSpec& spec) : env_(env), spec_(spec) {}

  std::string_view name() const override { return spec_.name; }
  absl::Status Begin(BeginContext& context) override;
  absl::Status BeforeSave(Session& session, std::int64_t global_step) override;
  absl::StatusOr<bool> AfterSave(Session& session, std::int64_t global_step) override;
  absl::Status End(Session& session, std::int64_t global_step) override;

 private:
  // What the plan has for this call, in plan order, until something raises or asks for a stop (true).
  absl::StatusOr<bool> Act(ListenerMethod method);

  const Env env_;
  const ListenerSpec& spec_;
  std::array<std::int64_t, 4> calls_ = {};
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_LISTENER_H_

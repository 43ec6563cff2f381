// The hook of a scenario: does at its calls what its plan says, and says so by notes. That it was called at all is an
// event of the session layer.
#ifndef VIGIL_REPLAYS_STAGE_PROBE_H_
#define VIGIL_REPLAYS_STAGE_PROBE_H_

#include <array>
#include <memory>
#include <string>

#include "vigil/core/train/session_run_hook.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/stage/model.h"

namespace vigil::replays {

class Probe : public SessionRunHook {
 public:
  // `spec` and `model` must outlive the probe.
  Probe(const Env& env, const HookSpec& spec, const Model& model) : env_(env), spec_(spec), model_(model) {}

  std::string_view name() const override { return spec_.name; }
  absl::Status Begin(BeginContext& context) override;
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>& coord) override;
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session* session) override;

 private:
  // Everything that the plan has for this call, in plan order; an error ends the call.
  absl::Status StartThread(std::int64_t secs) const;
  absl::Status Act(HookMethod method, Session* session, RunContext* context, RunArgs* args,
                   const RunValues* values = nullptr);
  absl::Status Do(const PlanEntry& entry, Session* session, RunContext* context, RunArgs* args,
                  const RunValues* values);
  absl::Status StopCoordinator(const PlanEntry& entry) const;
  void AskFor(const PlanEntry& entry, RunArgs& args) const;
  void Show(const RunValues& values) const;
  absl::Status ReadStep(Session* session) const;

  const Env env_;
  const HookSpec& spec_;
  const Model& model_;
  std::shared_ptr<Coordinator> coord_;
  std::array<std::int64_t, 5> calls_ = {};
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_PROBE_H_

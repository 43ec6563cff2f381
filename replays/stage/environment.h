// The environment's part in a scenario: counts every call that a fault can meet and says which one meets it.
//
// Counting is over the whole scenario and over the caller's own task only (and the tasks of recorded services), failed
// calls included. If several faults match one call all of them act, and the last code wins.
//
// A sleep of the session layer is such a call too: SleepSeam asks for it. Its code does nothing; other workers act
// while it lasts.
// Thread safety: none; used by the caller's task.
#ifndef VIGIL_REPLAYS_STAGE_ENVIRONMENT_H_
#define VIGIL_REPLAYS_STAGE_ENVIRONMENT_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/base/event.h"
#include "vigil/core/env/forwarding.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/stage/model.h"
#include "vigil/sim/faults/faulty_session.h"

namespace vigil::replays {

class Environment {
 public:
  Environment(const std::vector<Fault>& faults, const Model& model) : faults_(faults), model_(model) {}

  // What a chief's initialisation does (fault "chief_init"); null: nothing. An error is what the call fails with.
  using ChiefInit = std::function<absl::Status(std::int64_t step)>;
  void set_chief_init(ChiefInit chief_init) { chief_init_ = std::move(chief_init); }

  // What a signal does (fault "sigterm"); null: nothing.
  void set_signal(std::function<void()> signal) { signal_ = std::move(signal); }

  // From now on no call meets a fault.
  void Calm() { calm_ = true; }

  // The next call at that point. Other workers' progress is applied to `session` or, if that is null, to the last one
  // that a call was made on.
  sim::SessionFault Next(FaultPoint point, const std::shared_ptr<Session>& session = nullptr);
  sim::SessionFault Next(CallKind kind, const std::shared_ptr<Session>& session);

 private:
  absl::Status Act(const Fault& fault);
  void AdvanceStep(std::int64_t steps);

  const std::vector<Fault>& faults_;
  const Model& model_;
  bool calm_ = false;
  ChiefInit chief_init_;
  std::function<void()> signal_;
  std::weak_ptr<Session> session_;
  std::array<std::int64_t, static_cast<std::size_t>(FaultPoint::kEnqueue) + 1> calls_ = {};
};

FaultPoint FaultPointOf(CallKind kind);

// The task seam that the session layer of a scenario is given: the node's, but after each sleep of the caller's task
// the environment is asked. (Only the layer sleeps through it: the time that runs take passes elsewhere.)
class SleepSeam : public ForwardingTasks {
 public:
  // `applies`: whether the current task is the caller's. All must outlive the seam and whoever uses it.
  SleepSeam(Tasks& inner, Environment& environment, std::function<bool()> applies)
      : ForwardingTasks(inner), environment_(environment), applies_(std::move(applies)) {}

  void SleepUntil(Time deadline) override;

 private:
  Environment& environment_;
  const std::function<bool()> applies_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_ENVIRONMENT_H_

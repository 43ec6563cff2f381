// The standard services of a supervisor, each a task that does one thing again and again: summaries, the step rate,
// checkpoints.
//
// Each works with the session that it was made with, whatever the supervisor prepares later. StartLoop and RunLoop may
// also be called by hand, one pass at a time. Errors: what the session, the saver and the writer give; USAGE without a
// session, and for a service that its supervisor has no piece for. An error of a running service stops the supervisor's
// coordinator.
// Thread safety: as LooperThread. Ownership: they keep what they use, and outlive the supervisor if need be; the graph
// must outlive them.
// Source: supervisor.py; recorded.
#ifndef VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_SERVICES_H_
#define VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_SERVICES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/coord/looper_thread.h"
#include "vigil/core/summary/summary_writer.h"
#include "vigil/core/train/session_manager.h"

namespace vigil {

class Supervisor;

// USAGE for null. For core/train itself, as the next one.
absl::Status RequireSession(const SessionPtr& session);
absl::StatusOr<std::int64_t> ReadStepOf(const SessionPtr& session, const std::optional<Output>& global_step);

// Runs the summary op every save_summaries seconds and writes what it says.
class SVSummaryThread : public LooperThread {
 public:
  static constexpr std::string_view kName = "SVSummaryThread";  // of its task
  SVSummaryThread(const Supervisor& supervisor, SessionPtr session);
  absl::Status RunLoop() override;

 private:
  const SessionPtr session_;
  const std::shared_ptr<SummaryWriter> writer_;
  const std::optional<Output> summary_op_;
  const std::optional<Output> global_step_;
};

// Writes and logs how many steps a second were made since its last pass. The first ten lines of a process are logged.
class SVStepCounterThread : public LooperThread {
 public:
  static constexpr std::string_view kName = "SVStepCounterThread";  // of its task
  // USAGE without a step to count.
  static absl::StatusOr<std::shared_ptr<SVStepCounterThread>> Create(const Supervisor& supervisor, SessionPtr session);
  // `step_counter` nullopt: the supervisor's global step. Without one each pass is USAGE.
  SVStepCounterThread(const Supervisor& supervisor, SessionPtr session,
                      std::optional<Output> step_counter = std::nullopt);
  absl::Status StartLoop() override;
  absl::Status RunLoop() override;

 private:
  const SessionPtr session_;
  const std::shared_ptr<SummaryWriter> writer_;
  const std::optional<Output> step_counter_;
  const std::string summary_tag_;
  Time last_time_;
  std::int64_t last_step_ = 0;
};

// Saves a checkpoint every save_model seconds.
class SVTimerCheckpointThread : public LooperThread {
 public:
  static constexpr std::string_view kName = "SVTimerCheckpointThread";  // of its task
  SVTimerCheckpointThread(const Supervisor& supervisor, SessionPtr session);
  absl::Status RunLoop() override;

 private:
  const SessionPtr session_;
  const std::shared_ptr<SummaryWriter> writer_;
  const SaverPtr saver_;
  const std::optional<Output> global_step_;
  const std::string save_path_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_SERVICES_H_

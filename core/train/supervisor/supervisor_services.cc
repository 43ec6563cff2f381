#include "vigil/core/train/supervisor/supervisor_services.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/log_first_n.h"
#include "vigil/core/io/summary.pb.h"
#include "vigil/core/train/supervisor/supervisor.h"
#include "vigil/core/train/training_util.h"

namespace vigil {

absl::Status RequireSession(const SessionPtr& session) {
  if (session != nullptr) return absl::OkStatus();
  return UsageError("There is no session: pass the one that PrepareOrWaitForSession returned.");
}

absl::StatusOr<std::int64_t> ReadStepOf(const SessionPtr& session, const std::optional<Output>& global_step) {
  VIGIL_RETURN_IF_ERROR(RequireSession(session));
  if (!global_step.has_value()) return UsageError("The supervisor has no global step to read.");
  return ReadGlobalStep(*session, *global_step);
}

SVSummaryThread::SVSummaryThread(const Supervisor& supervisor, SessionPtr session)
    : LooperThread(supervisor.env(), supervisor.coord(), supervisor.save_summaries_secs(), nullptr, std::string(kName)),
      session_(std::move(session)),
      writer_(supervisor.summary_writer()),
      summary_op_(supervisor.summary_op()),
      global_step_(supervisor.global_step()) {}

absl::Status SVSummaryThread::RunLoop() {
  VIGIL_RETURN_IF_ERROR(RequireSession(session_));
  RunSpec spec;
  if (summary_op_.has_value()) {
    spec.fetches.push_back(*summary_op_);
  } else {
    spec.unresolved.emplace_back("summary_op");  // the session is asked all the same, and refuses
  }
  if (global_step_.has_value()) spec.fetches.push_back(*global_step_);
  std::vector<Tensor> values;
  const absl::Status run = session_->Run({.spec = spec}, &values);
  if (!summary_op_.has_value() && CodeOf(run) == Code::kUsage && !session_->closed())
    return UsageError("The supervisor has no summary_op to run.");
  VIGIL_RETURN_IF_ERROR(run);
  if (writer_ == nullptr) return absl::OkStatus();
  std::optional<std::int64_t> step;
  if (global_step_.has_value()) {
    VIGIL_ASSIGN_OR_RETURN(step, GlobalStepValue(values[1]));
  }
  env().log->Write(Severity::kInfo, fmt::format("Recording summary at step {}.",
                                                step.has_value() ? fmt::to_string(*step) : std::string("None")));
  if (values[0].dtype() != DType::kString || values[0].num_elements() != 1) {
    return UsageError("A summary op must give one serialized Summary, not " + values[0].Describe() + ".");
  }
  return writer_->AddSummary(values[0].scalar<std::string>(), step);
}

absl::StatusOr<std::shared_ptr<SVStepCounterThread>> SVStepCounterThread::Create(const Supervisor& supervisor,
                                                                                 SessionPtr session) {
  if (!supervisor.global_step().has_value()) return UsageError("The supervisor has no global step to count.");
  return std::make_shared<SVStepCounterThread>(supervisor, std::move(session));
}

SVStepCounterThread::SVStepCounterThread(const Supervisor& supervisor, SessionPtr session,
                                         std::optional<Output> step_counter)
    : LooperThread(supervisor.env(), supervisor.coord(), supervisor.save_summaries_secs(), nullptr, std::string(kName)),
      session_(std::move(session)),
      writer_(supervisor.summary_writer()),
      step_counter_(step_counter.has_value() ? step_counter : supervisor.global_step()),
      summary_tag_(step_counter_.has_value() ? fmt::format("{}/sec", NameOfStep(supervisor.graph(), *step_counter_))
                                             : std::string()) {}

absl::Status SVStepCounterThread::StartLoop() {
  last_time_ = env().clock->Monotonic();
  VIGIL_ASSIGN_OR_RETURN(last_step_, ReadStepOf(session_, step_counter_));
  return absl::OkStatus();
}

absl::Status SVStepCounterThread::RunLoop() {
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, ReadStepOf(session_, step_counter_));
  const auto added = static_cast<double>(step - std::exchange(last_step_, step));
  const Time now = env().clock->Monotonic();
  const double elapsed = ToSeconds(now - std::exchange(last_time_, now));
  const double rate = elapsed > 0 ? added / elapsed : std::numeric_limits<double>::infinity();
  if (writer_ != nullptr) {
    proto::Summary summary;
    proto::Summary::Value* const value = summary.add_value();
    value->set_tag(summary_tag_);
    value->set_simple_value(static_cast<float>(rate));
    VIGIL_RETURN_IF_ERROR(writer_->AddSummary(summary.SerializeAsString(), step));
  }
  LogFirstN(env(), kName, 10, Severity::kInfo, fmt::format("{}: {:g}", summary_tag_, rate));
  return absl::OkStatus();
}

SVTimerCheckpointThread::SVTimerCheckpointThread(const Supervisor& supervisor, SessionPtr session)
    : LooperThread(supervisor.env(), supervisor.coord(), supervisor.save_model_secs(), nullptr, std::string(kName)),
      session_(std::move(session)),
      writer_(supervisor.summary_writer()),
      saver_(supervisor.saver()),
      global_step_(supervisor.global_step()),
      save_path_(supervisor.save_path()) {}

absl::Status SVTimerCheckpointThread::RunLoop() {
  env().log->Write(Severity::kInfo,
                   fmt::format("Saving checkpoint to path {}", save_path_.empty() ? "None" : save_path_));
  if (saver_ == nullptr || save_path_.empty())
    return UsageError("The supervisor has no saver, or no logdir to save to.");
  VIGIL_RETURN_IF_ERROR(RequireSession(session_));
  std::optional<std::int64_t> step;
  if (global_step_.has_value()) {
    VIGIL_ASSIGN_OR_RETURN(step, ReadStepOf(session_, global_step_));
  }
  VIGIL_RETURN_IF_ERROR(saver_->Save(*session_, save_path_, step).status());
  if (writer_ == nullptr || !global_step_.has_value()) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(step, ReadStepOf(session_, global_step_));
  return writer_->AddSessionLog(SessionLogStatus::kCheckpoint, step, save_path_);
}

}  // namespace vigil

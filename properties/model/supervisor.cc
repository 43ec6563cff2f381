#include "vigil/properties/model/supervisor.h"

#include "vigil/properties/model/arguments.h"
#include "vigil/properties/model/input_queue.h"

namespace vigil::properties::model {
namespace {

bool IsChief(const Scenario& scenario) { return FlagArgument(scenario.session.args, "is_chief", true); }

bool HasGlobalVariable(const replays::ModelSpec& model) { return model.global_step || model.fed_variable; }

SessionManagerModel::Options ManagerOptions(const Scenario& scenario) {
  constexpr double kRecoveryWaitSecs = 30;
  const replays::Args& args = scenario.session.args;
  return {.directory = FlagArgument(args, "logdir", false),
          .saver = HasGlobalVariable(scenario.model),
          .ready_for_local_init = false,
          .recovery_wait_secs = NumberArgument(args, "recovery_wait_secs").value_or(kRecoveryWaitSecs)};
}

double StopGraceSecs(const Scenario& scenario) {
  constexpr double kGraceSecs = 120;
  return NumberArgument(scenario.session.args, "stop_grace_secs").value_or(kGraceSecs);
}

}  // namespace

SupervisorModel::SupervisorModel(World& world)
    : world_(world),
      is_chief_(IsChief(world.scenario())),
      writes_(is_chief_ && FlagArgument(world.scenario().session.args, "logdir", false)),
      coord_(world, StopGraceSecs(world.scenario()), /*knows_clean_end=*/true),
      manager_(world, ManagerOptions(world.scenario())) {}

// A worker's variables must have a device.
Code SupervisorModel::Construct() {
  const replays::ModelSpec& model = world_.scenario().model;
  const bool variables = HasGlobalVariable(model) || model.local_variable || HasInputQueue(model);
  if (!is_chief_ && variables && model.device.empty()) return Code::kUsage;
  world_.Say("graph finalized");
  return Code::kOk;
}

Code SupervisorModel::Prepare(std::optional<double> max_wait_secs, RawSessionPtr& made) {
  constexpr double kMaxWaitSecs = 7200;
  coord_.ClearStop();
  if (writes_) world_.Say("writer reopen");
  RawSessionPtr session;
  if (is_chief_) {
    if (const Code code = manager_.Prepare(session); code != Code::kOk) return code;
    WriteGraph();
    bool started = false;
    if (const Code code = StartServices(session, started); code != Code::kOk) {
      if (world_.behaviour().close_partial_session) world_.CloseSession(*session);
      return code;
    }
  } else {
    const Code code = manager_.Wait(max_wait_secs.value_or(kMaxWaitSecs), session);
    if (code != Code::kOk) return code;
  }
  if (HasInputQueue(world_.scenario().model)) {
    runs_ = true;
    StartInputQueue(world_, *session, coord_);
  }
  made = session;
  return Code::kOk;
}

void SupervisorModel::WriteGraph() {
  if (!writes_ || graph_written_) return;
  world_.Say("writer graph");
  world_.Say("writer meta_graph");
  graph_written_ = true;
}

Code SupervisorModel::StartServices(const RawSessionPtr& session, bool& started) {
  if (!is_chief_) return Code::kUsage;
  started = writes_;
  if (!writes_) {
    world_.Say("log WARNING Standard services need a 'logdir' passed to the SessionManager");
    return Code::kOk;
  }
  if (!world_.scenario().model.global_step) return Code::kOk;
  if (session == nullptr) return Code::kUsage;
  std::int64_t step = 0;
  if (const Code code = world_.ReadStep(*session, step); code != Code::kOk) return code;
  world_.Say("writer session_log START step={}", step);
  return Code::kOk;
}

Code SupervisorModel::Stop(bool close_writer, bool ignore_live_threads) {
  coord_.RequestStop(Code::kOk);
  const Code joined = coord_.Join(ignore_live_threads);
  runs_ = false;
  threw_stored_ = coord_.stored() != Code::kOk;
  if (close_writer && writes_) {
    world_.Say("writer session_log STOP step=None");
    world_.Say("writer close");
    graph_written_ = false;
  }
  return joined;
}

void SupervisorModel::Drop() {
  if (runs_ && world_.behaviour().close_partial_session) Stop(/*close_writer=*/true, /*ignore_live_threads=*/true);
}

Code SupervisorModel::SummaryComputed(const RawSessionPtr& session, std::optional<std::int64_t> step) {
  if (!writes_) return Code::kUsage;
  if (!step.has_value() && world_.scenario().model.global_step) {
    if (session == nullptr) return Code::kUsage;
    std::int64_t read = 0;
    if (const Code code = world_.ReadStep(*session, read); code != Code::kOk) return code;
    step = read;
  }
  world_.Say("writer summary step={} mine=1.5", step.has_value() ? fmt::to_string(*step) : "None");
  return Code::kOk;
}

Code SupervisorModel::Managed(const std::function<Code(const RawSessionPtr&)>& body) {
  RawSessionPtr session;
  const Code prepared = Prepare(std::nullopt, session);
  const bool entered = prepared == Code::kOk;
  NextStatement();
  const Code failed = entered ? body(session) : prepared;
  // Whether what comes out is the very error that the body failed with, or another one, of the same code perhaps.
  bool same = failed != Code::kOk && threw_stored_;
  Code out = Code::kOk;
  if (failed != Code::kOk) {
    const bool first = !coord_.should_stop();
    out = coord_.RequestStop(failed);
    same = same || first;
  }
  if (const Code stopped = Stop(/*close_writer=*/true, /*ignore_live_threads=*/false); stopped != Code::kOk) {
    out = stopped;
  } else if (out != Code::kOk) {
    same = true;
  }
  if (session != nullptr) world_.CloseSession(*session);  // its errors are nobody's
  if (!entered && world_.behaviour().clean_end_from_run_only) return out == Code::kOk ? failed : out;
  if (!entered) return out == Code::kOk || out == Code::kStopIteration ? Code::kUsage : out;
  // A generator that ends with somebody else's STOP_ITERATION is used wrongly.
  return out == Code::kStopIteration && !same ? Code::kUsage : out;
}

}  // namespace vigil::properties::model

// Unit "checkpoint_manager": what checkpoint managers write, keep, preserve, delete and remember over restarts. Each
// begins as a new process does: a graph, a session and a step of its own.
//
// Every operation but "advance" ends with a line on what is on the disk, with the times that the state file holds.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/checkpoint_manager.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/replays/format/args.h"
#include "vigil/replays/stage/behaviour.h"
#include "vigil/replays/units/unit.h"
#include "vigil/replays/units/unit_checkpoints.h"

namespace vigil::replays {
namespace {

// A process with a model of one variable, its step.
class ManagedProcess {
 public:
  // `lines` gets what its init_fn says. All must outlive the process.
  static absl::StatusOr<std::unique_ptr<ManagedProcess>> Begin(const Env& env, const Behaviour& behaviour,
                                                               const Args& args, std::vector<std::string>& lines) {
    auto out = std::make_unique<ManagedProcess>(env);
    VIGIL_RETURN_IF_ERROR(out->SetUp(behaviour, args, lines));
    return out;
  }
  explicit ManagedProcess(const Env& env) : env_(env), graph_(BuiltinOps()) {}

  absl::Status SetStep(std::int64_t step) {
    const RunSpec spec{.feeds = {fed_}, .targets = {set_step_}};
    const Tensor value = Tensor::Scalar<std::int64_t>(step);
    std::vector<Tensor> nothing;
    return session_->Run({.spec = spec, .feed_values = {&value, 1}}, &nothing);
  }
  absl::StatusOr<std::int64_t> Step() {
    VIGIL_ASSIGN_OR_RETURN(const Tensor value, RunFetch(*session_, step_));
    return value.scalar<std::int64_t>();
  }
  CheckpointManager& manager() { return *manager_; }
  Session& session() { return *session_; }
  const std::string& checkpoint_name() const { return checkpoint_name_; }

 private:
  absl::Status SetUp(const Behaviour& behaviour, const Args& args, std::vector<std::string>& lines);

  const Env env_;
  Graph graph_;
  Output step_;
  Output fed_;
  NodeId set_step_ = kNoNode;
  std::unique_ptr<Session> session_;
  std::unique_ptr<CheckpointManager> manager_;
  std::string checkpoint_name_;
};

absl::Status ManagedProcess::SetUp(const Behaviour& behaviour, const Args& args, std::vector<std::string>& lines) {
  Builder b(graph_);
  const ops::Variable step = ops::MakeVariable(b, "step", b.Const("zero", Tensor::Scalar<std::int64_t>(0)));
  step_ = step.ref;
  fed_ = ops::Placeholder(b, "fed", DType::kInt64);
  set_step_ = ops::Assign(b, "set_step", step_, fed_).node;
  VIGIL_ASSIGN_OR_RETURN(const SaveCounter counter, MakeSaveCounter(b));
  const NodeId init = ops::VariablesInitializer(b, "init", {step_, counter.value}).node;
  auto saver = std::make_shared<Saver>(env_, SaverOptions{.behaviour = behaviour});
  VIGIL_RETURN_IF_ERROR(saver->Build(graph_));
  session_ = NewDirectSession(env_, graph_);
  VIGIL_RETURN_IF_ERROR(RunTarget(*session_, init));

  CheckpointManagerOptions options{.directory = kUnitDirectory, .save_counter = counter};
  options.max_to_keep = IntegerArg(args, "max_to_keep");
  if (const std::optional<Duration> hours = SecondsArg(args, "keep_checkpoint_every_n_hours")) {
    options.keep_checkpoint_every_n_hours = ToSeconds(*hours);
  }
  options.checkpoint_name = StringArg(args, "checkpoint_name", options.checkpoint_name);
  options.checkpoint_interval = IntegerArg(args, "checkpoint_interval");
  options.last_checkpoint_step = IntegerArg(args, "last_checkpoint_step");
  if (!BoolArg(args, "no_step_counter")) options.step_counter = step_;
  if (BoolArg(args, "init_fn")) {
    options.init_fn = [&lines](Session&) {
      lines.emplace_back("init_fn");
      return absl::OkStatus();
    };
  }
  checkpoint_name_ = options.checkpoint_name;
  VIGIL_ASSIGN_OR_RETURN(manager_, CheckpointManager::Create(env_, std::move(saver), std::move(options)));
  return absl::OkStatus();
}

class ManagerUnit {
 public:
  ManagerUnit(const Env& env, const Behaviour& behaviour, std::vector<std::string>& lines)
      : env_(env), start_(env.clock->Now()), behaviour_(behaviour), lines_(lines) {}

  absl::Status Play(const UnitSpec& unit);

 private:
  using Line = absl::StatusOr<std::string>;

  Line Execute(const UnitOp& op);
  Line Save(const Args& args);
  Line Restore();
  // Of the state file, in seconds since the start.
  std::string Times() const;
  double SinceStart(double seconds) const { return seconds - ToSeconds(start_.since_epoch); }

  const Env env_;
  const Time start_;
  const Behaviour behaviour_;
  std::vector<std::string>& lines_;
  std::unique_ptr<ManagedProcess> process_;
};

std::string NameOrNone(const std::optional<std::string>& path) { return path.has_value() ? Basename(*path) : "none"; }

ManagerUnit::Line ManagerUnit::Save(const Args& args) {
  const std::int64_t step = IntegerArg(args, "step").value_or(0);
  VIGIL_RETURN_IF_ERROR(process_->SetStep(step));
  VIGIL_ASSIGN_OR_RETURN(
      const std::optional<std::string> saved,
      process_->manager().Save(process_->session(), IntegerArg(args, "number"), BoolArg(args, "check_interval", true)));
  return fmt::format("save {} -> {}", step, NameOrNone(saved));
}

ManagerUnit::Line ManagerUnit::Restore() {
  VIGIL_ASSIGN_OR_RETURN(const std::optional<std::string> restored,
                         process_->manager().RestoreOrInitialize(process_->session()));
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, process_->Step());
  return fmt::format("restore -> {} step {}", NameOrNone(restored), step);
}

ManagerUnit::Line ManagerUnit::Execute(const UnitOp& op) {
  if (op.op == "save") return Save(op.args);
  if (op.op == "restore") return Restore();
  if (op.op == "damage") return DamageCheckpoints(env_, op.args, process_->checkpoint_name());
  if (op.op == "new_manager") {
    VIGIL_ASSIGN_OR_RETURN(process_, ManagedProcess::Begin(env_, behaviour_, op.made_with, lines_));
    return "new_manager";
  }
  const CheckpointManager& manager = process_->manager();
  if (op.op == "latest") return "latest -> " + NameOrNone(manager.latest_checkpoint());
  return "checkpoints -> " + Joined(Basenames(manager.checkpoints()), " ");
}

std::string ManagerUnit::Times() const {
  const absl::StatusOr<std::optional<CheckpointState>> state = GetCheckpointState(env_, kUnitDirectory);
  if (!state.ok() || !state->has_value()) return "";
  std::vector<std::string> times;
  for (const double at : (*state)->all_model_checkpoint_timestamps) {
    times.push_back(fmt::format("{:g}", SinceStart(at)));
  }
  return fmt::format(" times={} preserved={:g}", Joined(times, ","),
                     SinceStart((*state)->last_preserved_timestamp.value_or(0)));
}

absl::Status ManagerUnit::Play(const UnitSpec& unit) {
  VIGIL_RETURN_IF_ERROR(env_.files->MakeDirectory(kUnitDirectory));
  absl::StatusOr<std::unique_ptr<ManagedProcess>> first = ManagedProcess::Begin(env_, behaviour_, unit.args, lines_);
  if (!first.ok()) {
    lines_.push_back(fmt::format("error {}", CodeName(CodeOf(first.status()))));
    return absl::OkStatus();
  }
  process_ = *std::move(first);
  PlayCheckpointOps(
      unit, env_, [this](const UnitOp& op) { return Execute(op); }, [this] { return DiskLine(env_) + Times(); },
      lines_);
  return absl::OkStatus();
}

}  // namespace

absl::Status PlayCheckpointManager(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines) {
  return ManagerUnit(env, BehaviourOf(unit.behaviour), lines).Play(unit);
}

}  // namespace vigil::replays

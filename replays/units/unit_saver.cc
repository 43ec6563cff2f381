// Unit "saver": what a saver keeps, deletes and lists, in a directory of its own; a clock that only moves when told.
//
// Every operation but "advance" ends with a line on what is on the disk.
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/replays/format/args.h"
#include "vigil/replays/stage/behaviour.h"
#include "vigil/replays/units/unit.h"
#include "vigil/replays/units/unit_checkpoints.h"
#include "vigil/sim/disk.h"

namespace vigil::replays {
namespace {

class SaverUnit {
 public:
  SaverUnit(const Env& env, const Behaviour& behaviour, std::vector<std::string>& lines)
      : disk_(*env.files), env_(OnDisk(env, disk_)), behaviour_(behaviour), lines_(lines), graph_(BuiltinOps()) {}

  absl::Status Play(const UnitSpec& unit);

 private:
  using Line = absl::StatusOr<std::string>;

  static Env OnDisk(Env env, Files& disk) {
    env.files = &disk;
    return env;
  }

  absl::Status SetUp();
  absl::StatusOr<SaverPtr> Make(const Args& args);
  Line Execute(const UnitOp& op);
  Line Save(const Args& args);
  Line Restore(const Args& args);
  Line NewSaver(const UnitOp& op);

  sim::Disk disk_;
  const Env env_;
  const Behaviour behaviour_;
  std::vector<std::string>& lines_;
  Graph graph_;
  Output step_;
  Output value_;
  NodeId set_step_ = kNoNode;
  std::unique_ptr<Session> session_;
  SaverPtr saver_;
};

absl::Status SaverUnit::SetUp() {
  VIGIL_RETURN_IF_ERROR(env_.files->MakeDirectory(kUnitDirectory));
  Builder b(graph_);
  VIGIL_ASSIGN_OR_RETURN(step_, GetOrCreateGlobalStep(env_, b));
  value_ = ops::Placeholder(b, "value", DType::kInt64);
  set_step_ = ops::Assign(b, "set_step", step_, value_).node;
  VIGIL_RETURN_IF_ERROR(b.status());
  session_ = NewDirectSession(env_, graph_);
  return absl::OkStatus();
}

absl::StatusOr<SaverPtr> SaverUnit::Make(const Args& args) {
  SaverOptions options;
  options.max_to_keep = IntegerArg(args, "max_to_keep", options.max_to_keep);
  if (const std::optional<Duration> hours = SecondsArg(args, "keep_checkpoint_every_n_hours")) {
    options.keep_checkpoint_every_n_hours = ToSeconds(*hours);
  }
  options.pad_step_number = BoolArg(args, "pad_step_number");
  options.save_relative_paths = BoolArg(args, "save_relative_paths");
  options.sharded = BoolArg(args, "sharded");
  options.behaviour = behaviour_;
  auto saver = std::make_shared<Saver>(env_, std::move(options));
  VIGIL_RETURN_IF_ERROR(saver->Build(graph_));
  return saver;
}

SaverUnit::Line SaverUnit::Save(const Args& args) {
  const std::int64_t step = IntegerArg(args, "step").value_or(0);
  const RunSpec set{.feeds = {value_}, .fetches = {}, .targets = {set_step_}, .unresolved = {}};
  const std::vector<Tensor> values = {Tensor::Scalar<std::int64_t>(step)};
  std::vector<Tensor> nothing;
  VIGIL_RETURN_IF_ERROR(session_->Run({.spec = set, .feed_values = values}, &nothing));
  SaveOptions options;
  options.latest_filename = StringArg(args, "latest_filename", options.latest_filename);
  options.write_meta_graph = BoolArg(args, "write_meta_graph", true);
  options.write_state = BoolArg(args, "write_state", true);
  const std::string path = JoinPath(kUnitDirectory, StringArg(args, "name", "model.ckpt"));
  const std::optional<std::int64_t> number =
      BoolArg(args, "with_step", true) ? std::optional<std::int64_t>(step) : std::nullopt;
  VIGIL_ASSIGN_OR_RETURN(const std::string prefix, saver_->Save(*session_, path, number, options));
  return fmt::format("save {} -> {}", step, Basename(prefix));
}

SaverUnit::Line SaverUnit::Restore(const Args& args) {
  std::string path;
  if (IsGiven(args, "path")) {
    path = JoinPath(kUnitDirectory, StringArg(args, "path"));
  } else {
    VIGIL_ASSIGN_OR_RETURN(const std::optional<std::string> latest, LatestCheckpoint(env_, kUnitDirectory));
    path = latest.value_or("");
  }
  VIGIL_RETURN_IF_ERROR(saver_->Restore(*session_, path));
  VIGIL_ASSIGN_OR_RETURN(const Tensor step, RunFetch(*session_, step_));
  return fmt::format("restore {} -> step {}", Basename(path), step.scalar<std::int64_t>());
}

SaverUnit::Line SaverUnit::NewSaver(const UnitOp& op) {
  VIGIL_ASSIGN_OR_RETURN(saver_, Make(op.made_with));
  if (BoolArg(op.args, "recover")) {
    VIGIL_ASSIGN_OR_RETURN(const std::optional<CheckpointState> state, GetCheckpointState(env_, kUnitDirectory));
    VIGIL_RETURN_IF_ERROR(saver_->RecoverLastCheckpoints(state.has_value() ? state->all_model_checkpoint_paths
                                                                           : std::vector<std::string>()));
  }
  return "new_saver";
}

SaverUnit::Line SaverUnit::Execute(const UnitOp& op) {
  if (op.op == "save") return Save(op.args);
  if (op.op == "restore") return Restore(op.args);
  if (op.op == "new_saver") return NewSaver(op);
  if (op.op == "damage") return DamageCheckpoints(env_, op.args, "model.ckpt");
  if (op.op == "power_cut") {
    // The worst for who does not sync: the file system's journal has the names already, and the disk none of the bytes.
    const auto names_only = [](std::span<const std::string_view> labels) -> std::size_t {
      return labels.back() == "done" ? labels.size() - 1 : 0;
    };
    VIGIL_RETURN_IF_ERROR(disk_.Cut(names_only).status());
    return "power_cut";
  }
  if (op.op == "last") return fmt::format("last -> {}", Joined(Basenames(saver_->last_checkpoints()), " "));
  VIGIL_ASSIGN_OR_RETURN(const std::optional<std::string> latest, LatestCheckpoint(env_, kUnitDirectory));
  return fmt::format("latest -> {}", latest.has_value() ? Basename(*latest) : "none");
}

absl::Status SaverUnit::Play(const UnitSpec& unit) {
  VIGIL_RETURN_IF_ERROR(SetUp());
  absl::StatusOr<SaverPtr> first = Make(unit.args);
  if (!first.ok()) {
    lines_.push_back(fmt::format("error {}", CodeName(CodeOf(first.status()))));
    return absl::OkStatus();
  }
  saver_ = *std::move(first);
  PlayCheckpointOps(
      unit, env_, [this](const UnitOp& op) { return Execute(op); }, [this] { return DiskLine(env_); }, lines_);
  return absl::OkStatus();
}

}  // namespace

absl::Status PlaySaver(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines) {
  return SaverUnit(env, BehaviourOf(unit.behaviour), lines).Play(unit);
}

}  // namespace vigil::replays

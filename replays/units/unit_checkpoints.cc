#include "vigil/replays/units/unit_checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/env/files.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/replays/format/args.h"

namespace vigil::replays {

std::string Joined(const std::vector<std::string>& names, std::string_view separator) {
  return fmt::format("{}", fmt::join(names, separator));
}

std::vector<std::string> Basenames(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) out.push_back(Basename(path));
  return out;
}

void PlayCheckpointOps(const UnitSpec& unit, const Env& env,
                       const std::function<absl::StatusOr<std::string>(const UnitOp&)>& execute,
                       const std::function<std::string()>& disk, std::vector<std::string>& lines) {
  for (const UnitOp& op : unit.ops) {
    if (op.op == "advance") {
      env.tasks->SleepUntil(DeadlineAfter(env, SecondsArg(op.args, "secs").value_or(Duration::zero())));
      continue;
    }
    const absl::StatusOr<std::string> line = execute(op);
    lines.push_back(line.ok() ? *line : fmt::format("{} failed {}", op.op, CodeName(CodeOf(line.status()))));
    lines.push_back(disk());
  }
}

absl::StatusOr<std::string> DamageCheckpoints(const Env& env, const Args& args, std::string_view checkpoint_name) {
  const std::string what = StringArg(args, "what");
  const std::string prefix =
      JoinPath(kUnitDirectory, fmt::format("{}-{}", checkpoint_name, IntegerArg(args, "step").value_or(0)));
  if (what == "missing_index") {
    VIGIL_ASSIGN_OR_RETURN(const bool there, Exists(*env.files, IndexFileName(prefix)));
    if (there) VIGIL_RETURN_IF_ERROR(env.files->Remove(IndexFileName(prefix)));
  } else if (what == "missing_dir_entry") {
    VIGIL_RETURN_IF_ERROR(RemoveCheckpoint(*env.files, prefix));
  } else {
    const std::string_view text = what == "garbage_state" ? "!!! not a state file {{{" : "";
    VIGIL_RETURN_IF_ERROR(WriteAtomically(*env.files, JoinPath(kUnitDirectory, kDefaultStateFile), text));
  }
  return fmt::format("damage {}", what);
}

std::string DiskLine(const Env& env) {
  std::vector<std::string> indexes;
  std::vector<std::string> metas;
  const absl::StatusOr<std::vector<std::string>> names = env.files->List(kUnitDirectory);
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    for (const auto& [suffix, list] : {std::pair(".index", &indexes), std::pair(".meta", &metas)}) {
      if (name.ends_with(suffix)) list->push_back(name.substr(0, name.size() - std::string_view(suffix).size()));
    }
  }
  // As strings without the suffix: "m-1" before "m-10".
  std::ranges::sort(indexes);
  std::ranges::sort(metas);
  std::string out = fmt::format("disk index={} meta={}", Joined(indexes, ","), Joined(metas, ","));
  if (!Exists(*env.files, JoinPath(kUnitDirectory, kDefaultStateFile)).value_or(true)) return out;
  const absl::StatusOr<std::optional<CheckpointState>> state = GetCheckpointState(env, kUnitDirectory);
  if (!state.ok()) return out + " state=invalid";
  if (!state->has_value()) return out + " state=none all=";
  return out + fmt::format(" state={} all={}", Basename((*state)->model_checkpoint_path),
                           Joined(Basenames((*state)->all_model_checkpoint_paths), ","));
}

}  // namespace vigil::replays

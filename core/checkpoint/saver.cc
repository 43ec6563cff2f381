#include "vigil/core/checkpoint/saver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/session/classify.h"

namespace vigil {
namespace {

// "save", "save_1", ...: the first of which the graph has no node yet.
std::string FreeScope(const Graph& graph) {
  std::string scope = "save";
  for (int i = 1; graph.Find(scope + "/Const").has_value(); ++i) scope = fmt::format("save_{}", i);
  return scope;
}

// Whether `name` is a data file of that checkpoint, of any shard. In the pattern '#' stands for any character.
bool IsDataFile(std::string_view name, std::string_view base) {
  constexpr std::string_view kPattern = ".data-#####-of-#####";
  if (!name.starts_with(base)) return false;
  name.remove_prefix(base.size());
  return std::ranges::equal(name, kPattern, [](char c, char wanted) { return wanted == '#' || c == wanted; });
}

absl::Status RemoveIfThere(Files& files, const std::string& path) {
  return Exists(files, path) ? files.Remove(path) : absl::OkStatus();
}

// NOT_FOUND and INVALID_ARGUMENT of a restore say what it means.
absl::Status Explain(const absl::Status& status) {
  const Code code = CodeOf(status);
  if (code != Code::kNotFound && code != Code::kInvalidArgument) return status;
  return WithMessage(
      status,
      fmt::format(
          "Restoring from checkpoint failed. This is most likely due to {}. Please ensure that you have not altered "
          "the graph expected based on the checkpoint. Original error:\n\n{}",
          code == Code::kNotFound ? "a Variable name or other graph key that is missing from the checkpoint"
                                  : "a mismatch between the current graph and the graph from the checkpoint",
          MessageOf(status)));
}

}  // namespace

Saver::Saver(const Env& env, SaverOptions options) : env_(env), options_(std::move(options)) {}

absl::Status Saver::Build(Graph& graph) {
  if (ops_.has_value()) return absl::OkStatus();
  std::vector<Output> variables =
      options_.variables.has_value() ? *options_.variables : graph.Collection(kGlobalVariables);
  if (variables.empty()) {
    if (!options_.allow_empty) return UsageError("No variables to save");
    ops_.emplace();
    return absl::OkStatus();
  }
  VIGIL_ASSIGN_OR_RETURN(ops_, AddOps(graph, std::move(variables), options_.sharded));
  return absl::OkStatus();
}

absl::StatusOr<Saver::Ops> Saver::AddOps(Graph& graph, std::vector<Output> variables, bool sharded) {
  Builder b(graph);
  const std::string scope = FreeScope(graph);
  std::vector<std::string> names;
  std::vector<DType> types;
  for (const Output variable : variables) {
    if (!graph.Has(variable))
      return UsageError("A variable to save is not a node of the graph that the saver is built in.");
    names.push_back(graph.node(variable.node).name);
    types.push_back(graph.TypeOf(variable));
  }
  const Output model = b.Const(scope + "/filename/input", Tensor::Scalar<std::string>("model"));
  const Output filename = b.Op("PlaceholderWithDefault", {model}, {.name = scope + "/filename"});
  const Output prefix = b.Op("PlaceholderWithDefault", {filename}, {.name = scope + "/Const"});
  const Output keys = b.Const(scope + "/SaveV2/tensor_names", Tensor::Vector(names));
  const Output slices =
      b.Const(scope + "/SaveV2/shape_and_slices", Tensor::Vector(std::vector<std::string>(names.size())));
  std::vector<Output> saved{prefix, keys, slices};
  saved.insert(saved.end(), variables.begin(), variables.end());
  const Output save = b.Op("SaveV2", saved, {.name = scope + "/SaveV2"});
  const Output done =
      b.Op("Identity", {prefix},
           {.name = scope + (sharded ? "/Identity" : "/control_dependency"), .control_inputs = {save.node}});

  const Output restored =
      b.Op("RestoreV2", {prefix, keys, slices}, {.name = scope + "/RestoreV2", .attrs = {{"dtypes", types}}});
  std::vector<NodeId> assigned;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(variables.size()); ++i) {
    const Output value{restored.node, i};
    assigned.push_back(
        b.Op("Assign", {variables[static_cast<std::size_t>(i)], value}, {.name = scope + "/Assign"}).node);
  }
  const Output all = b.Group(scope + "/restore_all", assigned);
  VIGIL_RETURN_IF_ERROR(b.status());
  graph.AddToCollection(kWellKnownCalls, WellKnownCall{done.node, CallKind::kSave});
  graph.AddToCollection(kWellKnownCalls, WellKnownCall{all.node, CallKind::kRestore});
  Ops ops;
  ops.variables = std::move(variables);
  ops.save.feeds = ops.restore.feeds = {prefix};
  ops.save.fetches = {done};
  ops.restore.targets = {all.node};
  return ops;
}

absl::StatusOr<std::string> Saver::Save(Session& session, const std::string& path,
                                        std::optional<std::int64_t> global_step) {
  if (!ops_.has_value()) return UsageError("`build()` should be called before save if defer_build==True");
  if (!global_step.has_value() && !options_.sharded && Basename(path) == kDefaultStateFile) {
    return UsageError(
        fmt::format("'latest_filename' collides with 'save_path': '{}' and '{}'", kDefaultStateFile, path));
  }
  if (ops_->variables.empty()) return std::string();
  const std::string prefix = global_step.has_value() ? fmt::format("{}-{}", path, *global_step) : path;
  const std::string directory = Dirname(path);
  std::string written;
  const absl::Status status = SaveAndRecord(session, prefix, directory, &written);
  if (status.ok()) return written;
  const Code code = CodeOf(status);
  if (code == Code::kFailedPrecondition || code == Code::kNotFound) {
    const absl::StatusOr<FileInfo> parent = env_.files->Stat(directory.empty() ? "." : directory);
    if (!parent.ok() || !parent->is_directory) {
      return UsageError(fmt::format("Parent directory of {} doesn't exist, can't save.", path));
    }
  }
  return status;
}

absl::Status Saver::SaveAndRecord(Session& session, const std::string& prefix, const std::string& directory,
                                  std::string* written) {
  const Tensor fed = Tensor::Scalar<std::string>(prefix);
  std::vector<Tensor> fetched;
  VIGIL_RETURN_IF_ERROR(session.Run({.spec = ops_->save, .feed_values = {&fed, 1}}, &fetched));
  *written = fetched[0].scalar<std::string>();
  Record(*written);
  CheckpointState state{.model_checkpoint_path = *written, .all_model_checkpoint_paths = last_checkpoints()};
  VIGIL_RETURN_IF_ERROR(UpdateCheckpointState(env_, directory, std::move(state), options_.save_relative_paths));
  DeleteOne();
  return absl::OkStatus();
}

void Saver::Record(const std::string& prefix) {
  const auto keep = static_cast<std::size_t>(options_.max_to_keep.value_or(0));
  if (keep == 0) return;
  std::erase_if(last_, [&prefix](const Checkpoint& each) { return each.prefix == prefix; });
  last_.push_back({prefix, env_.clock->Now()});
  if (last_.size() <= keep) return;
  to_be_deleted_.push_back(std::move(last_.front()));
  last_.erase(last_.begin());
}

void Saver::DeleteOne() {
  if (to_be_deleted_.empty()) return;
  const Checkpoint checkpoint = std::move(to_be_deleted_.front());
  to_be_deleted_.pop_front();
  const absl::Status status = DeleteFiles(checkpoint.prefix);
  if (!status.ok()) env_.log->Write(Severity::kWarning, fmt::format("Ignoring: {}", MessageOf(status)));
}

absl::Status Saver::DeleteFiles(const std::string& prefix) const {
  Files& files = *env_.files;
  VIGIL_RETURN_IF_ERROR(RemoveIfThere(files, prefix + ".meta"));
  VIGIL_RETURN_IF_ERROR(RemoveIfThere(files, IndexFileName(prefix)));
  const std::string directory = Dirname(prefix);
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(directory.empty() ? "." : directory));
  for (const std::string& name : names) {
    if (IsDataFile(name, Basename(prefix))) VIGIL_RETURN_IF_ERROR(files.Remove(JoinPath(directory, name)));
  }
  return absl::OkStatus();
}

absl::Status Saver::Restore(Session& session, const std::string& path) {
  if (!ops_.has_value()) return UsageError("`build()` should be called before restore if defer_build==True");
  if (ops_->variables.empty()) return absl::OkStatus();
  if (path.empty()) return UsageError("Can't load save_path when it is None.");
  if (!CheckpointExists(env_, path)) {
    return UsageError(fmt::format("The passed save_path is not a valid checkpoint: {}", path));
  }
  env_.log->Write(Severity::kInfo, fmt::format("Restoring parameters from {}", path));
  const Tensor fed = Tensor::Scalar<std::string>(path);
  std::vector<Tensor> fetched;
  return Explain(session.Run({.spec = ops_->restore, .feed_values = {&fed, 1}}, &fetched));
}

absl::Status Saver::RecoverLastCheckpoints(const std::vector<std::string>& paths) {
  last_.clear();
  for (const std::string& path : paths) {
    absl::StatusOr<FileInfo> info = env_.files->Stat(IndexFileName(path));
    if (!info.ok()) info = env_.files->Stat(path);
    if (info.ok()) last_.push_back({path, info->modified});
  }
  return absl::OkStatus();
}

std::vector<std::string> Saver::last_checkpoints() const {
  std::vector<std::string> out;
  for (const Checkpoint& each : last_) out.push_back(each.prefix);
  return out;
}

}  // namespace vigil

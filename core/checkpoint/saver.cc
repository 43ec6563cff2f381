#include "vigil/core/checkpoint/saver.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/captured_values.h"
#include "vigil/core/checkpoint/saver_meta_graph.h"
#include "vigil/core/graph/group.h"
#include "vigil/core/graph/meta_graph.pb.h"

namespace vigil {
namespace {

constexpr std::string_view kTemporaryStream = "checkpoint/temporary";

// NOT_FOUND and INVALID_ARGUMENT of a restore say what it means.
absl::Status Explain(const absl::Status& status) {
  const Code code = CodeOf(status);
  if (code != Code::kNotFound && code != Code::kInvalidArgument) return status;
  return WithMessage(
      status,
      fmt::format(
          "Restoring from checkpoint failed. This is most likely due to {} from the checkpoint. Please ensure that you "
          "have not altered the graph expected based on the checkpoint. Original error:\n\n{}",
          code == Code::kNotFound ? "a Variable name or other graph key that is missing"
                                  : "a mismatch between the current graph and the graph",
          MessageOf(status)));
}

absl::Status CheckFileNames(const std::string& path, bool numbered, bool sharded, const std::string& latest_filename) {
  if (latest_filename.find('/') != std::string::npos) {
    return UsageError("'latest_filename' must not contain path components");
  }
  if (!numbered && !sharded && Basename(path) == latest_filename) {
    return UsageError(fmt::format("'latest_filename' collides with 'save_path': '{}' and '{}'", latest_filename, path));
  }
  return absl::OkStatus();
}

}  // namespace

Saver::Saver(const Env& env, SaverOptions options) : env_(env), options_(std::move(options)), keeper_(env) {}

absl::Status Saver::Build(Graph& graph) {
  if (built_) return absl::OkStatus();
  if (options_.variables.has_value() && options_.variables_by_name.has_value()) {
    return UsageError("Variables to save should be passed in a dict or a list, not in both.");
  }
  if (options_.behaviour.keep_limits && options_.max_to_keep.value_or(0) < 0) {
    return UsageError(
        fmt::format("Expected `max_to_keep` to be at least 0 (all are kept), got {}.", *options_.max_to_keep));
  }
  NamedVariables variables;
  if (options_.variables_by_name.has_value()) {
    variables = *options_.variables_by_name;
    VIGIL_RETURN_IF_ERROR(CheckNamedVariables(graph, variables));
  } else {
    VIGIL_ASSIGN_OR_RETURN(variables,
                           NameVariables(graph, options_.variables.value_or(graph.Collection(kGlobalVariables))));
  }
  if (variables.empty()) {
    if (!options_.allow_empty) return UsageError("No variables to save");
    built_ = true;
    return absl::OkStatus();
  }
  VIGIL_ASSIGN_OR_RETURN(SaverOps ops, AddSaverOps(graph, variables,
                                                   {.name = options_.name,
                                                    .filename = options_.filename,
                                                    .reshape = options_.reshape,
                                                    .sharded = options_.sharded,
                                                    .synced = options_.behaviour.durable_saves,
                                                    .unique = env_.random->Unique(kTemporaryStream)}));
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();  // of the field in the file
  ops.def.set_max_to_keep(static_cast<std::int32_t>(std::min(options_.max_to_keep.value_or(0), kMost)));
  ops.def.set_keep_checkpoint_every_n_hours(static_cast<float>(options_.keep_checkpoint_every_n_hours));
  TakeDef(std::move(ops));
  return absl::OkStatus();
}

absl::StatusOr<SaverPtr> Saver::FromDef(const Env& env, Graph& graph, const proto::SaverDef& def,
                                        const std::string& scope, SaverOptions options) {
  VIGIL_ASSIGN_OR_RETURN(SaverOps ops, FindSaverOps(graph, def, scope));
  options.max_to_keep = def.max_to_keep();
  options.keep_checkpoint_every_n_hours = static_cast<double>(def.keep_checkpoint_every_n_hours());
  options.sharded = def.sharded();
  auto saver = std::make_shared<Saver>(env, std::move(options));
  saver->TakeDef(std::move(ops));
  return saver;
}

void Saver::TakeDef(SaverOps ops) {
  ops_ = std::move(ops);
  built_ = true;
  keeper_.Start({.max_to_keep = ops_->def.max_to_keep(),
                 .preserve_every = PreserveEvery(static_cast<double>(ops_->def.keep_checkpoint_every_n_hours())),
                 .relative_paths = options_.save_relative_paths,
                 .limits_hold = options_.behaviour.keep_limits,
                 .synced = options_.behaviour.durable_saves});
}

absl::StatusOr<std::string> Saver::Save(Session& session, const std::string& path, Output global_step,
                                        const SaveOptions& options) {
  VIGIL_ASSIGN_OR_RETURN(const Tensor value, RunFetch(session, global_step));
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, StepOf(value));
  return Save(session, path, std::optional<std::int64_t>(step), options);
}

absl::StatusOr<std::string> Saver::Save(Session& session, const std::string& path,
                                        std::optional<std::int64_t> global_step, const SaveOptions& options) {
  WaitForSaves();
  VIGIL_ASSIGN_OR_RETURN(const Target target, TargetOf(path, global_step, options));
  return Write(session, target, options, [&] { return ExportMetaGraph(session.graph()); });
}

absl::StatusOr<PendingSavePtr> Saver::SaveBeside(Session& session, const std::string& path,
                                                 std::optional<std::int64_t> global_step, const SaveOptions& options) {
  const std::shared_ptr<Saver> self = weak_from_this().lock();
  if (self == nullptr) {
    return UsageError("A saver that saves beside the training must be made by std::make_shared: its task shares it.");
  }
  VIGIL_ASSIGN_OR_RETURN(Target target, TargetOf(path, global_step, options));
  if (ops_.has_value() && ops_->saved.empty()) {
    return MakeStatus(
        Code::kUnimplemented,
        fmt::format("'{}' is not made of SaveV2: it cannot save {} beside the training. Save it by Save().",
                    ops_->def.save_tensor_name(), target.file));
  }
  SaveQueue& beside = Beside();
  beside.WaitForRoom();
  // Here, since collections may change while the training goes on.
  std::shared_ptr<const proto::MetaGraphDef> meta;
  if (options.write_meta_graph) {
    VIGIL_ASSIGN_OR_RETURN(proto::MetaGraphDef def, ExportMetaGraph(session.graph()));
    meta = std::make_shared<const proto::MetaGraphDef>(std::move(def));
  }
  VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<CapturedValues> values,
                         CapturedValues::Take(env_, session, ops_.has_value() ? ops_->saved : std::vector<Output>()));
  if (ops_.has_value()) VIGIL_RETURN_IF_ERROR(values->Prepare(ops_->save));
  std::string what = target.file;
  auto write = [this, values, meta, options, target = std::move(target)] {
    return Write(*values, target, options, [&meta]() -> absl::StatusOr<proto::MetaGraphDef> { return *meta; }).status();
  };
  return beside.Add(std::move(what), std::move(write), self);
}

SaveQueue& Saver::Beside() {
  if (beside_ == nullptr) beside_ = std::make_shared<SaveQueue>(env_);
  return *beside_;
}

void Saver::WaitForSaves() const {
  if (beside_ != nullptr) beside_->WaitUntilIdle();
}

std::shared_ptr<Task> Saver::SavesBeside(std::string name) { return Beside().AsTask(std::move(name)); }

absl::StatusOr<Saver::Target> Saver::TargetOf(const std::string& path, std::optional<std::int64_t> global_step,
                                              const SaveOptions& options) const {
  if (!built_) return UsageError("`build()` should be called before save if defer_build==True");
  VIGIL_RETURN_IF_ERROR(CheckFileNames(path, global_step.has_value(), options_.sharded, options.latest_filename));
  std::string file = path;
  if (global_step.has_value()) {
    file = options_.pad_step_number ? fmt::format("{}-{:08}", path, *global_step)
                                    : fmt::format("{}-{}", path, *global_step);
  }
  return Target{.file = std::move(file), .path = path, .directory = Dirname(path)};
}

absl::StatusOr<std::string> Saver::Write(Session& session, const Target& target, const SaveOptions& options,
                                         const MetaGraphSource& meta) {
  if (!ops_.has_value()) {
    if (options.write_meta_graph) VIGIL_RETURN_IF_ERROR(WriteMeta(meta, target.file, options));
    return std::string();
  }
  std::string written;
  const absl::Status status = WriteAll(session, target, options, meta, &written);
  const Code code = CodeOf(status);
  if (code == Code::kFailedPrecondition || code == Code::kNotFound) {
    const absl::StatusOr<FileInfo> parent = env_.files->Stat(target.directory.empty() ? "." : target.directory);
    if (CodeOf(parent.status()) == Code::kNotFound || (parent.ok() && !parent->is_directory)) {
      return UsageError(fmt::format("Parent directory of {} doesn't exist, can't save.", target.path));
    }
  }
  VIGIL_RETURN_IF_ERROR(status);
  if (options.write_meta_graph && !options_.behaviour.meta_before_state) {
    VIGIL_RETURN_IF_ERROR(WriteMeta(meta, target.file, options));
  }
  return written;
}

absl::Status Saver::WriteAll(Session& session, const Target& target, const SaveOptions& options,
                             const MetaGraphSource& meta, std::string* written) {
  Keeper::Save save{.directory = target.directory,
                    .save_path = target.path,
                    .state_file = options.latest_filename,
                    .written = {},
                    .meta_graph_suffix = options.meta_graph_suffix};
  if (options.write_state) VIGIL_RETURN_IF_ERROR(keeper_.Begin(save));
  EmitSaverDetail(env_.events, SaverDetail::kSaves, target.file);
  const absl::StatusOr<std::vector<Tensor>> fetched = RunSave(session, target.file);
  const bool told = fetched.ok() && (*fetched)[0].dtype() == DType::kString && (*fetched)[0].num_elements() == 1;
  if (told) *written = save.written = (*fetched)[0].scalar<std::string>();
  EmitSaverDetail(env_.events, SaverDetail::kWritten, *written,
                  {.kind = EventKind::kSaverDetail, .code = CodeOf(fetched.status())});
  VIGIL_RETURN_IF_ERROR(fetched.status());
  if (!told) {
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("The save op gives {}, not the prefix that it wrote.", (*fetched)[0].Describe()));
  }
  // A directory that was made for this may not be on the disk yet.
  if (options_.behaviour.durable_saves && !synced_parents_.contains(target.directory)) {
    VIGIL_RETURN_IF_ERROR(SyncParents(*env_.files, target.directory));
    synced_parents_.insert(target.directory);
  }
  if (options.write_state) keeper_.Add(save);
  if (options.write_meta_graph && options_.behaviour.meta_before_state) {
    VIGIL_RETURN_IF_ERROR(WriteMeta(meta, target.file, options));
  }
  return options.write_state ? keeper_.Commit(save) : absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> Saver::RunSave(Session& session, const std::string& file) {
  const bool has_temporary = ops_->save.feeds.size() > 1;
  std::vector<Tensor> fed = {Tensor::Scalar<std::string>(file)};
  if (has_temporary) fed.emplace_back();
  constexpr int kAttempts = 20;  // processes that were given the same seed draw the same numbers, and may meet again
  for (int attempt = 1;; ++attempt) {
    if (has_temporary) fed[1] = Tensor::Scalar(TemporarySuffix(env_.random->Unique(kTemporaryStream)));
    std::vector<Tensor> fetched;
    const absl::Status status = session.Run({.spec = ops_->save, .feed_values = fed}, &fetched);
    if (status.ok()) return fetched;
    if (!has_temporary || CodeOf(status) != Code::kAlreadyExists || attempt == kAttempts) return status;
  }
}

absl::Status Saver::WriteMeta(const MetaGraphSource& meta, const std::string& file, const SaveOptions& options) const {
  EmitSaverDetail(env_.events, SaverDetail::kWritesMeta, file);
  VIGIL_ASSIGN_OR_RETURN(proto::MetaGraphDef def, meta());
  // What has a default is not written anyway (ops/implied_attrs.cc).
  if (options.strip_default_attrs) def.mutable_meta_info_def()->set_stripped_default_attrs(true);
  return WriteMetaGraph(env_, def, MetaGraphFileName(file, options.meta_graph_suffix), false,
                        options_.behaviour.durable_saves);
}

absl::StatusOr<proto::MetaGraphDef> Saver::ExportMetaGraph(const Graph& graph, ExportMetaGraphOptions options) const {
  if (ops_.has_value()) options.saver_def = ops_->def;
  options.codecs.insert(options.codecs.end(), options_.codecs.begin(), options_.codecs.end());
  options.codecs.push_back(SaverCodec(env_));
  return vigil::ExportMetaGraph(graph, options);
}

absl::Status Saver::Restore(Session& session, const std::string& path) {
  return RunRestore(session, path, ops_.has_value() ? ops_->restore : RunSpec());
}

absl::Status Saver::RestoreMissingLast(Session& session, const std::string& path,
                                       const std::vector<std::string>& missing) {
  if (missing.empty() || !ops_.has_value()) return Restore(session, path);
  const Graph& graph = session.graph();
  RunSpec first{.feeds = ops_->restore.feeds};
  RunSpec last{.feeds = ops_->restore.feeds};
  for (const NodeId id : NodesOfGroup(graph, ops_->restore.targets[0])) {
    const Node& node = graph.node(id);
    const bool is_missing = !node.inputs.empty() && node.TakesReference(0) &&
                            std::ranges::find(missing, graph.node(node.inputs[0].node).name) != missing.end();
    (is_missing ? last : first).targets.push_back(id);
  }
  if (first.targets.empty() || last.targets.empty()) return Restore(session, path);
  VIGIL_RETURN_IF_ERROR(RunRestore(session, path, first));
  return RunRestore(session, path, last);
}

absl::Status Saver::RunRestore(Session& session, const std::string& path, const RunSpec& restore) {
  if (!built_) return UsageError("`build()` should be called before restore if defer_build==True");
  if (!ops_.has_value()) return absl::OkStatus();
  if (path.empty()) return UsageError("Can't load save_path when it is None.");
  WaitForSaves();
  VIGIL_ASSIGN_OR_RETURN(const bool there, CheckpointExists(env_, path));
  if (!there) {
    return UsageError(fmt::format("The passed save_path is not a valid checkpoint: {}", path));
  }
  env_.log->Write(Severity::kInfo, fmt::format("Restoring parameters from {}", path));
  const Tensor fed = Tensor::Scalar<std::string>(path);
  std::vector<Tensor> fetched;
  return Explain(session.Run({.spec = restore, .feed_values = {&fed, 1}}, &fetched));
}

absl::Status Saver::RecoverLastCheckpoints(const std::vector<std::string>& paths) {
  WaitForSaves();
  std::vector<KeptCheckpoint> found;
  for (const std::string& path : paths) {
    VIGIL_ASSIGN_OR_RETURN(const std::vector<Time> modified, GetCheckpointMtimes(env_, {path}));
    if (!modified.empty()) found.push_back({path, modified[0]});
  }
  keeper_.Set(std::move(found));
  return absl::OkStatus();
}

void Saver::SetLastCheckpoints(const std::vector<std::string>& paths) {
  std::vector<KeptCheckpoint> checkpoints;
  for (const std::string& path : paths) checkpoints.push_back({path, kNever});
  SetLastCheckpointsWithTime(std::move(checkpoints));
}

void Saver::SetLastCheckpointsWithTime(std::vector<KeptCheckpoint> checkpoints) {
  WaitForSaves();
  keeper_.Set(std::move(checkpoints));
}

std::vector<std::string> Saver::last_checkpoints() const {
  WaitForSaves();
  return keeper_.paths();
}

}  // namespace vigil

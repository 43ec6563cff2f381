#include "vigil/replays/stage/directory.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/summary/events_file.h"
#include "vigil/core/summary/file_writer.h"
#include "vigil/core/train/training_util.h"

namespace vigil::replays {
namespace {

constexpr std::string_view kBase = "model.ckpt-";

absl::Status Preload(const Env& env, const std::string& directory, const CheckpointSpec& spec) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env, b));
  const Output value = ops::Placeholder(b, "value", DType::kInt64);
  const NodeId assign = ops::Assign(b, "set_step", step, value).node;
  VIGIL_RETURN_IF_ERROR(b.status());
  Saver saver(env,
              {.sharded = true, .max_to_keep = spec.preload_keep.value_or(5), .behaviour = Behaviour::TensorFlow()});
  VIGIL_RETURN_IF_ERROR(saver.Build(graph));
  const std::unique_ptr<Session> session = NewDirectSession(env, graph);
  const RunSpec set{.feeds = {value}, .fetches = {}, .targets = {assign}, .unresolved = {}};
  std::vector<Tensor> nothing;
  std::string meta_graph;  // the same for all
  for (const std::int64_t s : spec.preload) {
    const std::vector<Tensor> values = {Tensor::Scalar<std::int64_t>(s)};
    VIGIL_RETURN_IF_ERROR(session->Run({.spec = set, .feed_values = values}, &nothing));
    VIGIL_ASSIGN_OR_RETURN(const std::string prefix, saver.Save(*session, JoinPath(directory, "model.ckpt"), s,
                                                                {.write_meta_graph = meta_graph.empty()}));
    const std::string beside = MetaGraphFileName(prefix);
    if (!meta_graph.empty()) {
      VIGIL_RETURN_IF_ERROR(WriteAtomically(*env.files, beside, meta_graph));
    } else {
      VIGIL_ASSIGN_OR_RETURN(meta_graph, ReadAll(*env.files, beside));
    }
  }
  return session->Close();
}

absl::Status WriteFile(Files& files, const std::string& path, std::string_view text) {
  VIGIL_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, files.Open(path, OpenMode::kTruncate));
  VIGIL_RETURN_IF_ERROR(file->Append(text));
  return file->Close();
}

absl::Status Apply(Files& files, const std::string& directory, const CheckpointSpec& spec) {
  const std::string state = JoinPath(directory, kDefaultStateFile);
  const std::string newest =
      spec.preload.empty() ? "" : JoinPath(directory, std::string(kBase) + std::to_string(spec.preload.back()));
  switch (spec.damage) {
    case Damage::kNone:
      return absl::OkStatus();
    case Damage::kEmptyState:
      return WriteFile(files, state, "");
    case Damage::kGarbageState:
      return WriteFile(files, state, "!!! not a state file {{{");
    case Damage::kMissingState: {
      VIGIL_ASSIGN_OR_RETURN(const bool there, Exists(files, state));
      return there ? files.Remove(state) : absl::OkStatus();
    }
    case Damage::kMissingIndex:
      return files.Remove(IndexFileName(newest));
    case Damage::kMissingData:
      return files.Remove(DataFileName(newest, 0, 1));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PrepareDirectory(const Env& env, const std::string& directory, const CheckpointSpec& spec) {
  VIGIL_RETURN_IF_ERROR(env.files->MakeDirectory(directory));
  Process earlier;
  Env quiet = env;
  quiet.events = nullptr;
  quiet.process = &earlier;
  if (!spec.preload.empty()) VIGIL_RETURN_IF_ERROR(Preload(quiet, directory, spec));
  if (spec.events) {
    const std::string name = EventsFileName(env.clock->Now(), FileWriterOptions().host, "");
    VIGIL_RETURN_IF_ERROR(WriteFile(*env.files, JoinPath(directory, name), "an earlier process wrote this"));
  }
  return Apply(*env.files, directory, spec);
}

FinalState StateOfDirectory(const Env& env, const std::string& directory) {
  FinalState out;
  const absl::StatusOr<std::vector<std::string>> names = env.files->List(directory);
  if (!names.ok()) return out;
  out.events_files = std::count_if(names->begin(), names->end(),
                                   [](std::string_view name) { return name.starts_with("events.out.tfevents."); });
  for (const std::string_view name : *names) {
    constexpr std::string_view kIndex = ".index";
    if (!name.starts_with(kBase) || !name.ends_with(kIndex)) continue;
    const std::string_view number = name.substr(kBase.size(), name.size() - kBase.size() - kIndex.size());
    std::int64_t step = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), step);
    if (error == std::errc() && end == number.data() + number.size()) out.checkpoints.push_back(step);
  }
  std::sort(out.checkpoints.begin(), out.checkpoints.end());
  const absl::StatusOr<std::optional<CheckpointState>> state = GetCheckpointState(env, directory);
  if (!state.ok()) {
    out.latest = "invalid";
  } else if (state->has_value()) {
    out.latest = Basename((*state)->model_checkpoint_path);
    out.all.emplace();
    for (const std::string& path : (*state)->all_model_checkpoint_paths) out.all->push_back(Basename(path));
  }
  return out;
}

}  // namespace vigil::replays

// Graphs between TensorFlow and vigil, for the scripts of this folder. Standard output has one line for each result.
//
//   play TOLERANCE FILE...          plays what TensorFlow recorded: "FILE same", or "FILE differs: what"
//   gradients TOLERANCE FILE...     the same with vigil's gradients in the place of TensorFlow's (own_gradients.h)
//   record SEED FIRST COUNT FOLDER [repeatable]
//                                   draws programs, trains each for 20 steps, writes FOLDER/program_N.play: "FILE
//                                   ABOUT"
//   train META FOLDER STEP          a monitored training session in FOLDER, of the collections interop_train and
//                                   interop_loss, up to that step: a line for each run, its loss
//   export META_IN META_OUT         imports a meta graph and writes it again
//   ops FILE...                     plays recorded cases of ops: "WHERE OP: what" for what differs, then "played N"
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/saver_meta_graph.h"
#include "vigil/core/coord/queue_runner_def.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/interop/drawn_program.h"
#include "vigil/interop/record_program.h"
#include "vigil/interop/tool.h"
#include "vigil/replays/graphs/graph_player.h"
#include "vigil/replays/graphs/own_gradients.h"
#include "vigil/replays/ops/op_player.h"

namespace vigil::interop {
namespace {

absl::Status Play(const Env& env, const Words& words, bool own_gradients) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    absl::StatusOr<RecordedPlay> play = ReadPlay(words[i]);
    if (play.ok() && own_gradients) play = WithOwnGradients(*play);
    const std::string differs = play.ok() ? Differences(env, *play, std::stod(words[0])) : TextOf(play.status());
    Say(fmt::format("{} {}", words[i], differs.empty() ? "same" : "differs: " + differs));
  }
  return absl::OkStatus();
}

absl::Status Record(const Env& env, const Words& words) {
  const int first = std::stoi(words.at(1));
  const bool repeatable = words.size() > 4;
  for (int i = first; i < first + std::stoi(words.at(2)); ++i) {
    Graph graph(BuiltinOps());
    VIGIL_ASSIGN_OR_RETURN(const DrawnProgram program,
                           DrawProgram(env, graph, std::stoull(words.at(0)), i, repeatable));
    VIGIL_ASSIGN_OR_RETURN(const RecordedPlay play, RecordProgram(env, graph, program));
    const std::string path = fmt::format("{}/program_{}.play", words.at(3), i);
    VIGIL_RETURN_IF_ERROR(WritePlay(*env.files, path, play));
    Say(fmt::format("{} {}", path, program.about));
  }
  return absl::OkStatus();
}

absl::StatusOr<Output> OnlyItem(const Graph& graph, std::string_view collection) {
  const std::vector<Output>& items = graph.Collection(CollectionKey<Output>{collection});
  if (items.size() == 1) return items[0];
  return UsageError(fmt::format("collection '{}' has {} items, not one", collection, items.size()));
}

absl::Status Train(const Env& env, const Words& words) {
  Graph graph(BuiltinOps());
  const ImportSaverOptions options{.meta_graph = {.codecs = {QueueRunnerCodec(env)}}};
  VIGIL_ASSIGN_OR_RETURN(SaverPtr saver, ImportMetaGraphFile(env, words.at(0), graph, options));
  VIGIL_ASSIGN_OR_RETURN(const Output train, OnlyItem(graph, "interop_train"));
  VIGIL_ASSIGN_OR_RETURN(const Output loss, OnlyItem(graph, "interop_loss"));
  VIGIL_ASSIGN_OR_RETURN(auto stop, StopAtStepHook::Create(env, {.last_step = std::stoll(words.at(2))}));
  const auto scaffold = std::make_shared<Scaffold>(env, graph, ScaffoldOptions{.saver = std::move(saver)});
  VIGIL_ASSIGN_OR_RETURN(auto session, MonitoredTrainingSession(env, graph,
                                                                {.checkpoint_dir = words.at(1),
                                                                 .scaffold = scaffold,
                                                                 .hooks = {stop},
                                                                 .save_checkpoint_steps = 5,
                                                                 .save_summaries_steps = 1,
                                                                 .log_step_count_steps = 5}));
  const Fetches wanted = Fetches::List({Fetches::Op(train.node), loss});
  return WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    while (true) {
      VIGIL_ASSIGN_OR_RETURN(const bool stops, s.ShouldStop());
      if (stops) return absl::OkStatus();
      VIGIL_ASSIGN_OR_RETURN(const RunResult result, s.Run(wanted));
      double number = 0;
      result.values().flat()[0].AsNumber(&number);
      Say(fmt::format("{:.17g}", number));
    }
  });
}

absl::Status Export(const Env& env, const Words& words) {
  Graph graph(BuiltinOps());
  const ImportSaverOptions options{.meta_graph = {.codecs = {QueueRunnerCodec(env)}}};
  VIGIL_ASSIGN_OR_RETURN(const SaverPtr saver, ImportMetaGraphFile(env, words.at(0), graph, options));
  return ExportMetaGraphFile(
             env, graph,
             {.saver = saver.get(), .filename = words.at(1), .meta_graph = {.codecs = {QueueRunnerCodec(env)}}})
      .status();
}

absl::Status Ops(const Env& env, const Words& words) {
  int played = 0;
  for (const std::string& file : words) {
    for (const replays::OpCase& each : replays::ReadOpCases(file)) {
      const replays::OpResult result = replays::PlayOp(env, each);
      ++played;
      if (!result.differs.empty()) {
        Say(fmt::format("{} {}: {}", each.where, each.op, result.differs));
      } else if (result.text_differs) {
        Say(fmt::format("{} {}: says '{}', TensorFlow '{}'", each.where, each.op, result.said, each.error));
      }
    }
  }
  Say(fmt::format("played {}", played));
  return absl::OkStatus();
}

absl::Status Do(const Env& env, const std::string& command, const Words& words) {
  if (command == "play" || command == "gradients") return Play(env, words, command == "gradients");
  if (command == "record") return Record(env, words);
  if (command == "train") return Train(env, words);
  if (command == "export") return Export(env, words);
  if (command == "ops") return Ops(env, words);
  return UsageError(
      fmt::format("there is no command '{}': play, gradients, record, train, export and ops are known", command));
}

}  // namespace
}  // namespace vigil::interop

int main(int argc, char** argv) { return vigil::interop::RunTool("graph_tool", argc, argv, &vigil::interop::Do); }

// Writes and reads events files as it is told, for interop/events_exchange.py.
//
//   write FOLDER    of standard input, a line for each event (bytes are hex digits; "-" is none):
//                     summary BYTES STEP | log STATUS STEP PATH | metadata NODES TAG STEP | graph BYTES
//                   NODES: name:op:start:end in nanoseconds, joined by commas
//   read FILE       a line for each event, as this library understands it: what it is, its step, its fields
#include <fmt/format.h>

#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/graph/meta_graph.pb.h"
#include "vigil/core/io/event.pb.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/ops/meta_graph.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/summary/file_writer.h"
#include "vigil/interop/words.h"
#include "vigil/replays/graphs/event_text.h"

namespace vigil::interop {
namespace {

std::optional<std::int64_t> StepOf(const std::string& word) {
  if (word == "-") return std::nullopt;
  return std::stoll(word);
}

absl::Status WriteGraph(SummaryWriter& writer, const std::string& bytes) {
  proto::MetaGraphDef def;
  if (!def.ParseFromString(bytes)) return UsageError("the bytes are no MetaGraphDef");
  Graph graph(BuiltinOps());
  VIGIL_RETURN_IF_ERROR(ImportMetaGraph(def, graph).status());
  VIGIL_RETURN_IF_ERROR(writer.AddGraph(graph));
  return writer.AddMetaGraph(graph);
}

absl::Status WriteLine(SummaryWriter& writer, const std::vector<std::string>& words) {
  if (words.at(0) == "summary") return writer.AddSummary(FromHex(words.at(1)), StepOf(words.at(2)));
  if (words.at(0) == "log") {
    const auto status = static_cast<SessionLogStatus>(std::stoi(words.at(1)));
    return writer.AddSessionLog(status, StepOf(words.at(2)), FromHex(words.at(3)));
  }
  if (words.at(0) == "graph") return WriteGraph(writer, FromHex(words.at(1)));
  if (words.at(0) != "metadata") return UsageError(fmt::format("there is no event '{}'", words.at(0)));
  RunMetadata metadata;
  for (const std::string& node : Split(words.at(1), ',')) {
    const std::vector<std::string> parts = Split(node, ':');
    metadata.step_stats.push_back({.node_name = parts.at(0),
                                   .op = parts.at(1),
                                   .start_ns = std::stoll(parts.at(2)),
                                   .end_ns = std::stoll(parts.at(3))});
  }
  return writer.AddRunMetadata(metadata, FromHex(words.at(2)), StepOf(words.at(3)));
}

absl::Status Write(const Env& env, const std::string& folder) {
  VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<SummaryWriter> writer, NewFileWriter(env, {.logdir = folder}));
  for (std::string line; std::getline(std::cin, line);) {
    VIGIL_RETURN_IF_ERROR(WriteLine(*writer, Split(line, ' ')));
  }
  return writer->Close();
}

absl::Status Read(const Env& env, const std::string& path) {
  VIGIL_ASSIGN_OR_RETURN(const std::string bytes, ReadAll(*env.files, path));
  RecordReader reader(bytes);
  while (true) {
    VIGIL_ASSIGN_OR_RETURN(const std::optional<std::string_view> record, reader.Next());
    if (!record.has_value()) return absl::OkStatus();
    proto::Event event;
    if (!event.ParseFromString(std::string(*record))) return MakeStatus(Code::kDataLoss, "a record is no Event");
    std::cout << EventText(event) << '\n';
  }
}

}  // namespace
}  // namespace vigil::interop

int main(int argc, char** argv) {
  const std::string command = argc == 3 ? argv[1] : "";
  if (command != "write" && command != "read") {
    std::cerr << "events_tool write FOLDER | read FILE\n";
    return 2;
  }
  vigil::RealEnv real({.log_threshold = vigil::Severity::kWarning});
  const absl::Status status =
      command == "write" ? vigil::interop::Write(real.env(), argv[2]) : vigil::interop::Read(real.env(), argv[2]);
  if (status.ok()) return 0;
  std::cerr << "events_tool: " << vigil::MessageOf(status) << '\n';
  return 1;
}

#include "vigil/replays/graphs/event_text.h"

#include <fmt/format.h>

#include <string>

#include "absl/strings/escaping.h"
#include "vigil/core/graph/meta_graph.pb.h"

namespace vigil {
namespace {

// "-": nothing.
std::string Hexadecimal(const std::string& bytes) { return bytes.empty() ? "-" : absl::BytesToHexString(bytes); }

std::string ValueText(const proto::Summary::Value& value) {
  std::string text = fmt::format(" tag={}", value.tag());
  if (value.has_metadata()) text += fmt::format(" plugin={}", value.metadata().plugin_data().plugin_name());
  if (value.has_simple_value()) text += fmt::format(" value={:.9g}", static_cast<double>(value.simple_value()));
  if (value.has_histo()) {
    text += fmt::format(" histogram={:.17g},{:.17g}", value.histo().num(), value.histo().sum());
    for (const double count : value.histo().bucket()) text += fmt::format(",{:.17g}", count);
  }
  return text;
}

}  // namespace

std::string EventText(const proto::Event& event) {
  if (event.has_file_version()) return "version " + event.file_version();
  if (event.has_session_log()) {
    const proto::SessionLog& log = event.session_log();
    return fmt::format("log step={} {} '{}'", event.step(), static_cast<int>(log.status()), log.checkpoint_path());
  }
  if (event.has_tagged_run_metadata()) {
    const proto::TaggedRunMetadata& tagged = event.tagged_run_metadata();
    return fmt::format("metadata step={} tag={} {}", event.step(), tagged.tag(), Hexadecimal(tagged.run_metadata()));
  }
  if (event.has_graph_def() || event.has_meta_graph_def()) {
    proto::GraphDef graph;
    proto::MetaGraphDef meta;
    const bool is_graph = event.has_graph_def();
    if (!(is_graph ? graph.ParseFromString(event.graph_def()) : meta.ParseFromString(event.meta_graph_def()))) {
      return "broken graph";
    }
    return fmt::format("{} nodes={}", is_graph ? "graph" : "meta graph",
                       is_graph ? graph.node_size() : meta.graph_def().node_size());
  }
  std::string text = fmt::format("summary step={}", event.step());
  for (const proto::Summary::Value& value : event.summary().value()) text += ValueText(value);
  return text;
}

}  // namespace vigil

#include "vigil/core/train/hooks/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "vigil/core/session/run_metadata.h"

namespace vigil {
namespace {

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string Micros(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

// Writes the list of events. `more`: further fields, each with a comma before it.
class Events {
 public:
  void AddProcess(int pid, std::string_view name) {
    Add(fmt::format(R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":{}}}}})", pid, Quoted(name)));
  }
  void Add(char phase, std::string_view category, std::string_view name, int pid, std::int64_t ns,
           std::string_view more = "") {
    Add(fmt::format(R"({{"ph":"{}","cat":"{}","name":{},"pid":{},"tid":0,"ts":{}{}}})", phase, category, Quoted(name),
                    pid, Micros(ns), more));
  }
  std::string Text() const { return "{\"traceEvents\":[\n" + text_ + "\n]}\n"; }

 private:
  void Add(std::string_view event) {
    if (!text_.empty()) text_ += ",\n";
    text_ += event;
  }
  std::string text_;
};

// A node that ran. Its first output stands for what it made.
struct Ran {
  const NodeStats* stats = nullptr;
  std::optional<NodeId> node;  // nullopt: not of this graph
  int device = 0;
  std::int64_t last_use_ns = 0;
};

class Trace {
 public:
  Trace(const Graph& graph, const RunMetadata& metadata) : graph_(graph) {
    for (const NodeStats& stats : metadata.step_stats) {
      Ran ran{.stats = &stats, .node = graph.Find(stats.node_name), .device = 0, .last_use_ns = stats.end_ns};
      std::string_view device = stats.device;
      if (device.empty() && ran.node.has_value()) device = graph.node(*ran.node).device;
      ran.device = DeviceNumber(device.empty() ? kLocalDevice : device);
      // The read of a variable and the node itself both go by the node's name: the last one counts.
      if (ran.node.has_value()) by_node_[*ran.node] = ran_.size();
      ran_.push_back(ran);
    }
  }

  std::string Text(const ChromeTraceOptions& options) {
    events_.AddProcess(0, "Allocators");
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      events_.AddProcess(ComputePid(static_cast<int>(i)), fmt::format("{} Compute", devices_[i]));
      events_.AddProcess(TensorsPid(static_cast<int>(i)), fmt::format("{} Tensors", devices_[i]));
    }
    for (Ran& ran : ran_) AddNode(ran, options.show_dataflow);
    if (options.show_memory) AddMemory();
    return events_.Text();
  }

 private:
  static int ComputePid(int device) { return 1 + 2 * device; }
  static int TensorsPid(int device) { return 2 + 2 * device; }

  int DeviceNumber(std::string_view name) {
    const auto place = std::ranges::find(devices_, name) - devices_.begin();
    if (place == std::ssize(devices_)) devices_.emplace_back(name);
    return static_cast<int>(place);
  }

  void AddNode(Ran& ran, bool show_dataflow) {
    const NodeStats& stats = *ran.stats;
    std::string args = fmt::format("\"name\":{},\"op\":{}", Quoted(stats.node_name), Quoted(stats.op));
    if (ran.node.has_value()) {
      const std::vector<Output>& inputs = graph_.node(*ran.node).inputs;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        args += fmt::format(",\"input{}\":{}", i, Quoted(graph_.NameOf(inputs[i])));
        AddUse(inputs[i], ran, show_dataflow);
      }
    }
    events_.Add('X', "Op", stats.op, ComputePid(ran.device), stats.start_ns,
                fmt::format(",\"dur\":{},\"args\":{{{}}}", Micros(stats.end_ns - stats.start_ns), args));
  }

  void AddUse(Output input, const Ran& user, bool show_dataflow) {
    const auto it = by_node_.find(input.node);
    if (it == by_node_.end()) return;
    Ran& maker = ran_[it->second];
    maker.last_use_ns = std::max(maker.last_use_ns, user.stats->end_ns);
    // Within one row the boxes stand in order anyway.
    if (!show_dataflow || maker.device == user.device) return;
    const std::string id = fmt::format(",\"id\":{}", flows_++);
    const std::string name = graph_.NameOf(input);
    events_.Add('s', "DataFlow", name, ComputePid(maker.device), maker.stats->end_ns, id);
    events_.Add('t', "DataFlow", name, ComputePid(user.device), user.stats->start_ns, id);
  }

  void AddMemory() {
    std::multimap<std::int64_t, std::int64_t> changes;  // of the bytes held, by time
    for (std::size_t i = 0; i < ran_.size(); ++i) {
      const Ran& ran = ran_[i];
      const NodeStats& stats = *ran.stats;
      const std::string id = fmt::format(",\"id\":{}", i);
      const int pid = TensorsPid(ran.device);
      events_.Add('N', "Tensor", stats.node_name, pid, stats.start_ns, id);
      events_.Add('O', "Tensor", stats.node_name, pid, stats.end_ns,
                  fmt::format("{},\"args\":{{\"snapshot\":{{\"bytes\":{}}}}}", id, stats.output_bytes));
      events_.Add('D', "Tensor", stats.node_name, pid, ran.last_use_ns, id);
      changes.emplace(stats.start_ns, stats.output_bytes);
      changes.emplace(ran.last_use_ns, -stats.output_bytes);
    }
    std::int64_t held = 0;
    for (const auto& [ns, bytes] : changes) {
      held += bytes;
      events_.Add('C', "Memory", "cpu", 0, ns, fmt::format(",\"args\":{{\"cpu\":{}}}", held));
    }
  }

  const Graph& graph_;
  std::vector<Ran> ran_;
  std::map<NodeId, std::size_t> by_node_;  // place in ran_
  std::vector<std::string> devices_;
  int flows_ = 0;
  Events events_;
};

}  // namespace

std::string ChromeTrace(const Graph& graph, const RunMetadata& metadata, const ChromeTraceOptions& options) {
  return Trace(graph, metadata).Text(options);
}

}  // namespace vigil

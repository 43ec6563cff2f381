#include "vigil/core/train/run_events.h"

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace vigil {
namespace {

// Tells the values of tensors apart that are no numbers; exact as a double. Of the first bytes: whoever feeds much must
// not wait for it.
double Checksum(const Tensor& value) {
  std::uint32_t sum = 0;
  std::size_t left = 1024;
  const auto add = [&sum, &left](std::string_view bytes) {
    bytes = bytes.substr(0, left);
    left -= bytes.size();
    for (const char byte : bytes) sum = std::rotl(sum, 5) * 31 + static_cast<unsigned char>(byte);
  };
  if (value.dtype() == DType::kString) {
    for (const std::string& each : value.flat<std::string>()) {
      if (left == 0) break;
      add(each);
    }
  } else if (value.valid()) {
    add(value.bytes());
  }
  return sum;
}

}  // namespace

void RunEvents::Emit(RunPart part, std::int32_t whose, std::string_view subject, std::optional<double> value) {
  events_->Emit({.kind = EventKind::kRunPart,
                 .call = static_cast<std::uint8_t>(part),
                 .has_value = value.has_value(),
                 .index = whose,
                 .value = value.value_or(0),
                 .subject = subject});
}

void RunEvents::AddName(const Graph& graph, Output tensor) {
  // A name that the graph does not have, or an output of another graph: the session refuses it later.
  const bool known = graph.HasNode(tensor.node);
  fmt::format_to(std::back_inserter(text_), "{}:{} ", known ? std::string_view(graph.node(tensor.node).name) : "?",
                 tensor.index);
}

void RunEvents::EmitFeed(std::int32_t whose, const Graph& graph, Output tensor, const Tensor& value) {
  double number = 0;
  const bool is_number = value.AsNumber(&number);
  text_.clear();
  AddName(graph, tensor);
  text_.pop_back();
  // Without has_value the value is a checksum.
  events_->Emit({.kind = EventKind::kRunPart,
                 .call = static_cast<std::uint8_t>(RunPart::kFeed),
                 .has_value = is_number,
                 .index = whose,
                 .value = is_number ? number : Checksum(value),
                 .subject = text_});
}

void RunEvents::EmitOptions(std::int32_t whose, const RunOptions& options) {
  const auto say = [&](std::string_view name, double value) {
    if (value != 0) Emit(RunPart::kOption, whose, name, value);
  };
  say("trace_level", static_cast<double>(options.trace_level));
  say("timeout_in_ms", static_cast<double>(options.timeout_in_ms));
  say("inter_op_thread_pool", options.inter_op_thread_pool);
  say("output_partition_graphs", options.output_partition_graphs ? 1 : 0);
  say("report_tensor_allocations_upon_oom", options.report_tensor_allocations_upon_oom ? 1 : 0);
  say("reset_disk_byte_usage", options.reset_disk_byte_usage ? 1 : 0);
  for (const DebugTensorWatch& watch : options.debug_tensor_watch_opts) {
    Emit(RunPart::kWatch, whose, fmt::format("{}:{}", watch.node_name, watch.output_slot));
  }
}

void RunEvents::CallerGives(const Graph& graph, const Feeds& feeds, const RunOptions& options) {
  if (events_ == nullptr) return;
  for (const Feed& feed : feeds) EmitFeed(kOfCaller, graph, feed.tensor, feed.value);
  EmitOptions(kOfCaller, options);
}

void RunEvents::HookAsks(std::size_t hook, const Graph& graph, const RunArgs& asked) {
  if (events_ == nullptr) return;
  const auto whose = static_cast<std::int32_t>(hook);
  asked_.Clear();
  asked.fetches.AppendTo(graph, &asked_);
  text_.clear();
  for (const Output tensor : asked_.fetches) AddName(graph, tensor);
  if (!text_.empty()) Emit(RunPart::kFetches, whose, text_);
  for (const Feed& feed : asked.feeds) EmitFeed(whose, graph, feed.tensor, feed.value);
  if (asked.options.has_value()) EmitOptions(whose, *asked.options);
}

void RunEvents::SessionGets(const Graph& graph, const RunSpec& spec, std::span<const Tensor> fed,
                            const RunOptions& options) {
  if (events_ == nullptr) return;
  for (std::size_t i = 0; i < spec.feeds.size(); ++i) EmitFeed(kMerged, graph, spec.feeds[i], fed[i]);
  EmitOptions(kMerged, options);
}

void RunEvents::HookSees(std::size_t hook, const Graph& graph, const RunSpec& spec, std::span<const Tensor> returned,
                         const FetchedValues& seen) {
  if (events_ == nullptr || seen.flat().empty()) return;
  text_.clear();
  for (const Tensor& value : seen.flat()) {
    // Told from where the value stands among those of the run, whatever the hook asked for.
    const std::ptrdiff_t at = &value - returned.data();
    const bool inside = at >= 0 && at < static_cast<std::ptrdiff_t>(spec.fetches.size());
    AddName(graph, inside ? spec.fetches[static_cast<std::size_t>(at)] : Output{kNoNode, 0});
  }
  Emit(RunPart::kResults, static_cast<std::int32_t>(hook), text_);
}

}  // namespace vigil

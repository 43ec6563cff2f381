#include "vigil/properties/model/run_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace vigil::properties::model {
namespace {

using replays::FetchSpec;
using replays::ModelSpec;

bool IsNameInGraph(const std::string& name, const ModelSpec& model) {
  if (name == "step") return model.global_step;
  if (name == "base") return model.fed_variable;
  return name == "train" || name == "train_op" || name == "fed" || name == "loss";
}

std::string LevelName(TraceLevel level) {
  switch (level) {
    case TraceLevel::kNoTrace:
      return "none";
    case TraceLevel::kSoftwareTrace:
      return "software";
    case TraceLevel::kHardwareTrace:
      return "hardware";
    case TraceLevel::kFullTrace:
      return "full";
  }
  return "?";
}

}  // namespace

std::string NumberText(double value) { return std::isnan(value) ? "nan" : fmt::format("{:g}", value); }

bool IsInGraph(const FetchSpec& fetch, const ModelSpec& model) {
  if (fetch.kind == FetchSpec::Kind::kName) return IsNameInGraph(fetch.name, model);
  return std::all_of(fetch.items.begin(), fetch.items.end(),
                     [&model](const FetchSpec& item) { return IsInGraph(item, model); });
}

bool LossTrains(const ModelSpec& model) { return model.global_step && model.nan_at.has_value(); }

bool FetchTrains(const FetchSpec& fetch, const ModelSpec& model) {
  if (fetch.kind == FetchSpec::Kind::kName) {
    return fetch.name == "train" || fetch.name == "train_op" || (fetch.name == "loss" && LossTrains(model));
  }
  return std::any_of(fetch.items.begin(), fetch.items.end(),
                     [&model](const FetchSpec& item) { return FetchTrains(item, model); });
}

std::optional<double> FetchedNumber(const FetchSpec& fetch, const RunValues& values) {
  if (fetch.kind != FetchSpec::Kind::kName) return std::nullopt;
  if (fetch.name == "step") return static_cast<double>(values.before);
  if (fetch.name == "train") return static_cast<double>(values.after);
  if (fetch.name == "fed") return static_cast<double>(values.fed);
  if (fetch.name == "base") return static_cast<double>(values.base);
  if (fetch.name == "loss") return values.loss;
  return std::nullopt;
}

std::string FetchedText(const FetchSpec& fetch, const RunValues& values) {
  if (fetch.kind == FetchSpec::Kind::kName) {
    const std::optional<double> number = FetchedNumber(fetch, values);
    if (!number.has_value()) return "none";
    return fetch.name == "loss" ? NumberText(*number) : fmt::to_string(static_cast<std::int64_t>(*number));
  }
  const bool map = fetch.kind == FetchSpec::Kind::kMap;
  std::string text;
  for (std::size_t i = 0; i < fetch.items.size(); ++i) {
    if (i > 0) text += ", ";
    if (map) text += fetch.keys[i] + ": ";
    text += FetchedText(fetch.items[i], values);
  }
  return map ? "{" + text + "}" : "[" + text + "]";
}

void MergeRunOptions(const RunOptions& from, RunOptions& into) {
  into.trace_level = std::max(into.trace_level, from.trace_level);
  into.timeout_in_ms = std::max(into.timeout_in_ms, from.timeout_in_ms);
  into.inter_op_thread_pool = std::max(into.inter_op_thread_pool, from.inter_op_thread_pool);
  into.output_partition_graphs = into.output_partition_graphs || from.output_partition_graphs;
  into.report_tensor_allocations_upon_oom =
      into.report_tensor_allocations_upon_oom || from.report_tensor_allocations_upon_oom;
  into.reset_disk_byte_usage = into.reset_disk_byte_usage || from.reset_disk_byte_usage;
  into.debug_tensor_watch_opts.insert(into.debug_tensor_watch_opts.end(), from.debug_tensor_watch_opts.begin(),
                                      from.debug_tensor_watch_opts.end());
}

std::string RunOptionsText(const RunOptions& options) {
  std::string text;
  if (options.trace_level != TraceLevel::kNoTrace) text += " trace_level=" + LevelName(options.trace_level);
  if (options.timeout_in_ms != 0) text += fmt::format(" timeout_in_ms={}", options.timeout_in_ms);
  if (options.inter_op_thread_pool != 0) text += fmt::format(" inter_op_thread_pool={}", options.inter_op_thread_pool);
  if (options.output_partition_graphs) text += " output_partition_graphs";
  if (options.report_tensor_allocations_upon_oom) text += " report_tensor_allocations_upon_oom";
  if (options.reset_disk_byte_usage) text += " reset_disk_byte_usage";
  const std::vector<DebugTensorWatch>& watches = options.debug_tensor_watch_opts;
  for (std::size_t i = 0; i < watches.size(); ++i)
    text += fmt::format("{}{}:{}", i == 0 ? " watches=" : ",", watches[i].node_name, watches[i].output_slot);
  return text.empty() ? "defaults" : text.substr(1);
}

bool IsTraced(const RunOptions& options, bool on_server) {
  if (on_server) return options.trace_level == TraceLevel::kFullTrace;
  return options.trace_level != TraceLevel::kNoTrace || options.report_tensor_allocations_upon_oom;
}

}  // namespace vigil::properties::model

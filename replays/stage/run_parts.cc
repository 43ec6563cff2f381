#include "vigil/replays/stage/run_parts.h"

#include <fmt/format.h>

#include <cmath>

#include "vigil/replays/format/names.h"

namespace vigil::replays {
namespace {

constexpr char kInNoGraph[] = "missing:0";

Fetches OfTensor(const std::optional<Output>& tensor) {
  return tensor.has_value() ? Fetches(*tensor) : Fetches::Named(kInNoGraph);
}

std::string TensorText(const Tensor& tensor) {
  if (tensor.dtype() == DType::kInt64) return fmt::format("{}", tensor.scalar<std::int64_t>());
  if (tensor.dtype() != DType::kFloat) return "?";
  const double value = tensor.scalar<float>();
  return std::isnan(value) ? "nan" : fmt::format("{:g}", value);
}

}  // namespace

Fetches FetchesOf(const Model& model, std::string_view name) {
  if (name == "step") return OfTensor(model.read);
  if (name == "base") return OfTensor(model.base);
  if (name == "train") return model.train;
  if (name == "train_op") return Fetches::Op(model.train.node);
  if (name == "fed") return model.fed;
  if (name == "loss") return model.loss;
  return Fetches::Named(kInNoGraph);
}

Fetches FetchesOf(const Model& model, const FetchSpec& spec) {
  if (spec.kind == FetchSpec::Kind::kName) return FetchesOf(model, spec.name);
  if (spec.kind == FetchSpec::Kind::kList) {
    std::vector<Fetches> items;
    for (const FetchSpec& item : spec.items) items.push_back(FetchesOf(model, item));
    return Fetches::List(std::move(items));
  }
  std::vector<std::pair<std::string, Fetches>> items;
  for (std::size_t i = 0; i < spec.items.size(); ++i) items.emplace_back(spec.keys[i], FetchesOf(model, spec.items[i]));
  return Fetches::Map(std::move(items));
}

std::string ValueText(const FetchedValues& values) {
  if (values.none()) return "none";
  if (values.is_tensor()) return TensorText(values.tensor());
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ", ";
    if (values.is_map()) text += fmt::format("{}: ", values.key(i));
    text += ValueText(values[i]);
  }
  return values.is_map() ? fmt::format("{{{}}}", text) : fmt::format("[{}]", text);
}

std::string OptionsText(const RunOptions& options) {
  std::string text;
  const auto add = [&text](std::string_view part) { text.append(text.empty() ? "" : " ").append(part); };
  if (options.trace_level != TraceLevel::kNoTrace)
    add(fmt::format("trace_level={}", NameOf(kTraceLevels, options.trace_level)));
  if (options.timeout_in_ms != 0) add(fmt::format("timeout_in_ms={}", options.timeout_in_ms));
  if (options.inter_op_thread_pool != 0) add(fmt::format("inter_op_thread_pool={}", options.inter_op_thread_pool));
  if (options.output_partition_graphs) add("output_partition_graphs");
  if (options.report_tensor_allocations_upon_oom) add("report_tensor_allocations_upon_oom");
  if (options.reset_disk_byte_usage) add("reset_disk_byte_usage");
  std::string watches;
  for (const DebugTensorWatch& watch : options.debug_tensor_watch_opts) {
    watches += fmt::format("{}{}:{}", watches.empty() ? "" : ",", watch.node_name, watch.output_slot);
  }
  if (!watches.empty()) add("watches=" + watches);
  return text.empty() ? "defaults" : text;
}

std::string_view TracedText(const RunMetadata& metadata) { return metadata.step_stats.empty() ? "no" : "yes"; }

}  // namespace vigil::replays

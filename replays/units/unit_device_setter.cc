// Unit "device_setter": ReplicaDeviceSetter.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/cluster_spec.h"
#include "vigil/core/cluster/device_setter.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/replays/format/args.h"
#include "vigil/replays/units/unit.h"

namespace vigil::replays {
namespace {

// `jobs` names the job of each task.
absl::StatusOr<ClusterSpec> ClusterOf(const std::vector<std::string>& jobs) {
  std::map<std::string, std::vector<std::string>> tasks;
  for (const std::string& job : jobs) tasks[job].push_back(fmt::format("host{}:2222", tasks[job].size()));
  ClusterSpec::Jobs cluster;
  for (auto& [job, hosts] : tasks) cluster.emplace(job, std::move(hosts));
  return ClusterSpec::Create(cluster);
}

absl::StatusOr<ReplicaDeviceSetterOptions> OptionsOf(const Args& args) {
  ReplicaDeviceSetterOptions options;
  options.ps_tasks = static_cast<int>(IntegerArg(args, "ps_tasks").value_or(0));
  options.ps_device = StringArg(args, "ps_device", options.ps_device);
  options.worker_device = StringArg(args, "worker_device", options.worker_device);
  options.merge_devices = BoolArg(args, "merge_devices", options.merge_devices);
  if (IsGiven(args, "cluster")) {
    VIGIL_ASSIGN_OR_RETURN(options.cluster, ClusterOf(ListArg(args, "cluster")));
  }
  if (IsGiven(args, "ps_ops")) options.ps_ops = ListArg(args, "ps_ops");
  return options;
}

Output MakeNode(Builder& b, const std::string& type) {
  if (type == "Const") return b.Const("const", Tensor::Scalar<float>(1.0F));
  if (type == "Placeholder") return ops::Placeholder(b, "placeholder", DType::kFloat);
  if (type == "NoOp") return b.Op("NoOp", {});
  if (type == "VariableV2") return b.Op("VariableV2", {}, {.attrs = {{"dtype", DType::kFloat}}});
  b.Fail(UsageError(fmt::format("unit \"device_setter\" makes no {}", type)));
  return {};
}

// The device of a new node, or what making it failed with.
std::string Place(Graph& graph, const DeviceFunction& setter, const UnitOp& op) {
  const std::string type = StringArg(op.args, "type");
  Builder b(graph);
  const DeviceScope scope(b, setter);
  std::optional<DeviceScope> inner;
  if (IsGiven(op.args, "device")) inner.emplace(b, std::string_view(StringArg(op.args, "device")));
  const Output node = MakeNode(b, type);
  if (!b.status().ok()) return fmt::format("{} failed {}", type, CodeName(CodeOf(b.status())));
  const std::string& device = graph.node(node.node).device;
  return fmt::format("{} -> {}", type, device.empty() ? "anywhere" : device);
}

}  // namespace

absl::Status PlayDeviceSetter(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines) {
  VIGIL_ASSIGN_OR_RETURN(ReplicaDeviceSetterOptions options, OptionsOf(unit.args));
  const absl::StatusOr<DeviceFunction> setter = ReplicaDeviceSetter(env, std::move(options));
  if (!setter.ok()) {
    lines.push_back(fmt::format("error {}", CodeName(CodeOf(setter.status()))));
    return absl::OkStatus();
  }
  lines.emplace_back(*setter == nullptr ? "no setter" : "constructed");
  Graph graph(BuiltinOps());
  for (const UnitOp& op : unit.ops) lines.push_back(Place(graph, *setter, op));
  return absl::OkStatus();
}

}  // namespace vigil::replays

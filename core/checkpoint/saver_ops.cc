#include "vigil/core/checkpoint/saver_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/device_spec.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/ops/static_shape.h"
#include "vigil/core/session/classify.h"

namespace vigil {
namespace {

// A variable, or an iterator for its state.
bool IsSaveable(const Graph& graph, Output output) {
  return ops::IsIterator(graph, output) || ops::IsVariable(graph, output);
}

std::string KeyOf(const Graph& graph, Output saved) {
  return ops::IsIterator(graph, saved) ? graph.NameOf(saved) + "_STATE" : graph.node(saved.node).name;
}

std::string Describe(const Graph& graph, Output output) {
  return graph.Has(output) ? graph.NameOf(output) : "it is not in the graph that the saver is built in";
}

// "save", "save_1", ...: the first of which the graph has no node yet.
std::string FreeScope(const Graph& graph, const std::string& name) {
  std::string scope = name;
  for (int i = 1; graph.Find(scope + "/Const").has_value(); ++i) scope = fmt::format("{}_{}", name, i);
  return scope;
}

// Files are read and written by the processor of the machine where the variables are.
absl::StatusOr<std::string> ProcessorOf(const std::string& device) {
  if (device.empty()) return device;
  VIGIL_ASSIGN_OR_RETURN(DeviceSpec spec, DeviceSpec::Parse(device));
  spec.device_type = "CPU";
  spec.device_index = 0;
  return spec.ToString();
}

class SaverBuilder {
 public:
  SaverBuilder(Graph& graph, const SaverOpsOptions& options)
      : graph_(graph), options_(options), scope_(FreeScope(graph, options.name)), b_(graph) {
    for (const ops::Variable& each : graph.Collection(ops::kVariables)) made_.emplace(each.ref, each);
    const Output model = b_.Const(Name("filename/input"), Tensor::Scalar<std::string>(options.filename));
    const Output filename = b_.Op("PlaceholderWithDefault", {model}, {.name = Name("filename")});
    prefix_ = b_.Op("PlaceholderWithDefault", {filename}, {.name = Name("Const")});
  }

  absl::StatusOr<SaverOps> Build(const NamedVariables& variables) {
    std::map<std::string, NamedVariables> by_device;
    for (const auto& [name, variable] : variables) {
      VIGIL_ASSIGN_OR_RETURN(const std::string device, ProcessorOf(graph_.node(variable.node).device));
      by_device[options_.sharded ? device : ""].emplace(name, variable);
    }
    const Output saved = options_.sharded ? SaveShards(by_device) : Save(by_device.begin()->second, prefix_);
    std::vector<NodeId> restored;
    for (const auto& [device, shard] : by_device) {
      b_.device = device;
      const std::vector<NodeId> assigned = Restore(shard);
      if (options_.sharded) {
        restored.push_back(b_.Group(Name("restore_shard"), assigned).node);
      } else {
        restored = assigned;
      }
    }
    b_.device.clear();
    const Output all = b_.Group(Name("restore_all"), restored);
    VIGIL_RETURN_IF_ERROR(b_.status());
    SaverOps out;
    out.save.feeds = out.restore.feeds = {prefix_};
    if (temporary_.has_value()) out.save.feeds.push_back(*temporary_);
    out.save.fetches = {saved};
    out.restore.targets = {all.node};
    out.def.set_filename_tensor_name(graph_.NameOf(prefix_));
    out.def.set_save_tensor_name(graph_.NameOf(saved));
    out.def.set_restore_op_name(graph_.node(all.node).name);
    out.def.set_sharded(options_.sharded);
    out.def.set_version(proto::SaverDef::V2);
    return out;
  }

 private:
  std::string Name(std::string_view name) const { return fmt::format("{}/{}", scope_, name); }

  Attrs Syncing() const { return options_.synced ? Attrs() : Attrs{{std::string(ops::kNotSynced), true}}; }

  // What is saved under which names: the first inputs of SaveV2 and RestoreV2.
  std::vector<Output> Keys(std::string_view op, Output prefix, const NamedVariables& variables) {
    std::vector<std::string> names, parts;
    for (const auto& [name, variable] : variables) {
      const auto made = made_.find(variable);
      const bool is_part = made != made_.end() && made->second.slice.has_value();
      // Under the name of the whole, unless the caller has given one.
      names.push_back(is_part && name == KeyOf(graph_, variable) ? made->second.slice->full_name : name);
      parts.push_back(is_part ? made->second.slice->Spec() : "");
    }
    const Output keys = b_.Const(Name(fmt::format("{}/tensor_names", op)), Tensor::Vector(names));
    const Output slices = b_.Const(Name(fmt::format("{}/shape_and_slices", op)), Tensor::Vector(parts));
    return {prefix, keys, slices};
  }

  // The prefix, once all is written under it.
  Output Save(const NamedVariables& variables, Output prefix) {
    std::vector<Output> inputs = Keys("SaveV2", prefix, variables);
    for (const auto& [name, variable] : variables) inputs.push_back(ValueOf(variable));
    Attrs attrs = Syncing();
    if (options_.sharded) attrs.emplace(ops::kWritesPart, true);
    const Output save = b_.Op("SaveV2", std::move(inputs), {.name = Name("SaveV2"), .attrs = std::move(attrs)});
    return b_.Op("Identity", {prefix}, {.name = Name("control_dependency"), .control_inputs = {save.node}});
  }

  Output ValueOf(Output saved) {
    if (ops::IsResourceVariable(graph_, saved)) {
      return b_.Op("ReadVariableOp", {saved},
                   {.name = Name("ReadVariableOp"), .attrs = {{"dtype", ops::VariableType(graph_, saved)}}});
    }
    if (!ops::IsIterator(graph_, saved)) return saved;
    return b_.Op("SerializeIterator", {saved}, {.name = "SerializeIterator"});
  }

  // Each device writes a part beside the checkpoint; the parts are then merged into it.
  Output SaveShards(const std::map<std::string, NamedVariables>& by_device) {
    const auto count = static_cast<std::int32_t>(by_device.size());
    temporary_ = b_.Const(Name("Const_1"), Tensor::Scalar(TemporarySuffix(options_.unique)));
    const Output temporary = b_.Op("StringJoin", {prefix_, *temporary_}, {.name = Name("StringJoin")});
    const Output shards = b_.Const(Name("num_shards"), Tensor::Scalar(count));
    std::vector<Output> parts;
    std::vector<NodeId> saves;
    std::int32_t number = 0;
    for (const auto& [device, variables] : by_device) {
      b_.device = device;
      const Output shard = b_.Const(Name("ShardedFilename/shard"), Tensor::Scalar(number++));
      parts.push_back(b_.Op("ShardedFilename", {temporary, shard, shards}, {.name = Name("ShardedFilename")}));
      saves.push_back(Save(variables, parts.back()).node);
    }
    const Output packed =
        b_.Op("Pack", parts, {.name = Name("MergeV2Checkpoints/checkpoint_prefixes"), .control_inputs = saves});
    const Output merge = b_.Op("MergeV2Checkpoints", {packed, prefix_},
                               {.name = Name("MergeV2Checkpoints"), .control_inputs = saves, .attrs = Syncing()});
    const Output saved = b_.Op("Identity", {prefix_}, {.name = Name("Identity"), .control_inputs = {merge.node}});
    b_.device.clear();
    return saved;
  }

  std::vector<NodeId> Restore(const NamedVariables& variables) {
    std::vector<DType> types;
    for (const auto& [name, variable] : variables) {
      types.push_back(ops::IsIterator(graph_, variable) ? DType::kString : ops::VariableType(graph_, variable));
    }
    const Output restored = b_.Op("RestoreV2", Keys("RestoreV2", prefix_, variables),
                                  {.name = Name("RestoreV2"), .attrs = {{"dtypes", std::move(types)}}});
    std::vector<NodeId> assigned;
    std::int32_t index = 0;
    for (const auto& [name, variable] : variables) {
      Output value{restored.node, index++};
      if (ops::IsIterator(graph_, variable)) {
        assigned.push_back(b_.Op("DeserializeIterator", {variable, value}, {.name = Name("DeserializeIterator")}).node);
        continue;
      }
      if (options_.reshape) value = b_.Op("Reshape", {value, ShapeOf(variable)}, {.name = Name("Reshape")});
      const bool is_resource = ops::IsResourceVariable(graph_, variable);
      const std::string op = is_resource ? "AssignVariableOp" : "Assign";
      Attrs attrs;
      if (!is_resource && !StaticShape(graph_, variable).has_value()) attrs.emplace("validate_shape", false);
      assigned.push_back(b_.Op(op, {variable, value}, {.name = Name(op), .attrs = std::move(attrs)}).node);
    }
    return assigned;
  }

  // The variable's shape, also before it is initialized: that of its initial value.
  Output ShapeOf(Output variable) {
    const auto made = made_.find(variable);
    const Output initial = made == made_.end() ? variable : graph_.node(made->second.initializer).inputs[1];
    if (const Node& node = graph_.node(initial.node); node.op == "Const") {
      const Shape& shape = std::get<Tensor>(node.attrs.find("value")->second).shape();
      return b_.Const(Name("Reshape/shape"), Tensor::Vector<std::int64_t>(shape.dims()));
    }
    return b_.Op("Shape", {initial}, {.name = Name("Shape")});
  }

  Graph& graph_;
  const SaverOpsOptions& options_;
  const std::string scope_;
  Builder b_;
  Output prefix_;
  std::optional<Output> temporary_;
  std::map<Output, ops::Variable> made_;
};

void NoteCalls(Graph& graph, const SaverOps& ops) {
  const auto note = [&graph](NodeId node, CallKind kind) {
    const std::vector<WellKnownCall>& known = graph.Collection(kWellKnownCalls);
    if (std::ranges::count(known, node, &WellKnownCall::node) == 0) {
      graph.AddToCollection(kWellKnownCalls, WellKnownCall{node, kind});
    }
  };
  note(ops.save.fetches[0].node, CallKind::kSave);
  note(ops.restore.targets[0], CallKind::kRestore);
}

// The handle of the resource variable whose value that is; else the value itself.
Output VariableBehind(const Graph& graph, Output value) {
  const Node* node = &graph.node(value.node);
  while (node->op == "Identity") node = &graph.node(node->inputs[0].node);
  if (node->op != "ReadVariableOp") return value;
  return {graph.node(node->inputs[0].node).refers_to, 0};
}

// What the nodes of the save that write tensors write: all but their first three inputs.
std::vector<Output> FindSaved(const Graph& graph, NodeId save) {
  std::set<Output> saved;
  std::set<NodeId> seen = {save};
  std::vector<NodeId> left = {save};
  const auto visit = [&](NodeId id) {
    if (seen.insert(id).second) left.push_back(id);
  };
  while (!left.empty()) {
    const Node& node = graph.node(left.back());
    left.pop_back();
    if (node.op == "SaveV2") {
      for (std::size_t i = 3; i < node.inputs.size(); ++i) saved.insert(VariableBehind(graph, node.inputs[i]));
      continue;
    }
    for (const Output input : node.inputs) visit(input.node);
    for (const NodeId input : node.control_inputs) visit(input);
  }
  return {saved.begin(), saved.end()};
}

// Where a sharded saver's graph says where its parts go: "<scope>Const_1". nullopt: it was made by someone who does it
// otherwise.
std::optional<Output> FindTemporary(const Graph& graph, const proto::SaverDef& def) {
  if (!def.sharded()) return std::nullopt;
  const std::string& prefix = def.filename_tensor_name();
  const std::optional<NodeId> id = graph.Find(prefix.substr(0, prefix.rfind('/') + 1) + "Const_1");
  if (!id.has_value()) return std::nullopt;
  const Node& node = graph.node(*id);
  const auto value = node.attrs.find("value");
  if (node.op != "Const" || value == node.attrs.end()) return std::nullopt;
  const Tensor* const text = std::get_if<Tensor>(&value->second);
  const bool is_temporary = text != nullptr && text->dtype() == DType::kString && text->num_elements() == 1 &&
                            text->scalar<std::string>().starts_with(kTemporaryFolder);
  return is_temporary ? std::optional(Output{*id, 0}) : std::nullopt;
}

}  // namespace

std::string TemporarySuffix(std::uint64_t unique) { return fmt::format("{}_{:016x}/part", kTemporaryFolder, unique); }

absl::StatusOr<NamedVariables> NameVariables(const Graph& graph, const std::vector<Output>& variables) {
  NamedVariables out;
  std::set<std::string> wholes;  // of which some variables are parts
  for (const ops::Variable& each : graph.Collection(ops::kVariables)) {
    const bool is_saved = std::ranges::find(variables, each.ref) != variables.end();
    if (is_saved && each.slice.has_value()) wholes.insert(each.slice->full_name);
  }
  for (const Output variable : variables) {
    if (!IsSaveable(graph, variable)) {
      return UsageError(fmt::format("Variable to save is not a Variable: {}", Describe(graph, variable)));
    }
    const std::string name = KeyOf(graph, variable);
    if (!out.emplace(name, variable).second || wholes.contains(name)) {
      return UsageError(fmt::format("At least two variables have the same name: {}", name));
    }
  }
  return out;
}

absl::Status CheckNamedVariables(const Graph& graph, const NamedVariables& variables) {
  std::set<Output> seen;
  for (const auto& [name, variable] : variables) {
    if (!IsSaveable(graph, variable)) {
      return UsageError(
          fmt::format("names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a variable: {}",
                      Describe(graph, variable)));
    }
    if (!seen.insert(variable).second) {
      return UsageError(fmt::format("The same saveable will be restored with two names: {}", name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SaverOps> AddSaverOps(Graph& graph, const NamedVariables& variables, const SaverOpsOptions& options) {
  VIGIL_ASSIGN_OR_RETURN(SaverOps ops, SaverBuilder(graph, options).Build(variables));
  ops.saved = FindSaved(graph, ops.save.fetches[0].node);
  NoteCalls(graph, ops);
  return ops;
}

absl::StatusOr<SaverOps> FindSaverOps(Graph& graph, const proto::SaverDef& def, const std::string& scope) {
  const auto required = [&def](std::string_view what) {
    return UsageError(fmt::format("saver_def must specify the {}: {}", what, def.ShortDebugString()));
  };
  if (def.save_tensor_name().empty()) return required("save_tensor_name");
  if (def.restore_op_name().empty()) return required("restore_op_name");
  if (def.version() != proto::SaverDef::V2) {
    return MakeStatus(Code::kUnimplemented, fmt::format("a saver of checkpoints of format {}: there is only V2 here",
                                                        proto::SaverDef::CheckpointFormatVersion_Name(def.version())));
  }
  const auto scoped = [&scope](const std::string& name) {
    return scope.empty() ? name : fmt::format("{}/{}", scope, name);
  };
  const auto missing = [](const std::string& name) {
    return UsageError(fmt::format("saver_def names '{}', which is not in the graph", name));
  };
  if (def.max_to_keep() < 0) {
    return MakeStatus(
        Code::kInvalidArgument,
        fmt::format("saver_def.max_to_keep must be at least 0 (all are kept), got {}", def.max_to_keep()));
  }
  if (std::isnan(def.keep_checkpoint_every_n_hours()) || def.keep_checkpoint_every_n_hours() < 0) {
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("saver_def.keep_checkpoint_every_n_hours must be at least 0, got {}",
                                  def.keep_checkpoint_every_n_hours()));
  }
  SaverOps out;
  out.def = def;
  out.def.set_filename_tensor_name(scoped(def.filename_tensor_name()));
  out.def.set_save_tensor_name(scoped(def.save_tensor_name()));
  out.def.set_restore_op_name(scoped(def.restore_op_name()));
  const std::optional<Output> prefix = graph.FindOutput(out.def.filename_tensor_name());
  if (!prefix.has_value()) return missing(out.def.filename_tensor_name());
  const std::optional<Output> saved = graph.FindOutput(out.def.save_tensor_name());
  if (!saved.has_value()) return missing(out.def.save_tensor_name());
  const std::optional<NodeId> restore = graph.Find(out.def.restore_op_name());
  if (!restore.has_value()) return missing(out.def.restore_op_name());
  if (graph.TypeOf(*prefix) != DType::kString || graph.TypeOf(*saved) != DType::kString) {
    return MakeStatus(
        Code::kInvalidArgument,
        fmt::format("saver_def names '{}' ({}) and '{}' ({}) for the names of checkpoints: both must be strings",
                    out.def.filename_tensor_name(), DTypeName(graph.TypeOf(*prefix)), out.def.save_tensor_name(),
                    DTypeName(graph.TypeOf(*saved))));
  }
  out.save.feeds = out.restore.feeds = {*prefix};
  if (const std::optional<Output> temporary = FindTemporary(graph, out.def)) out.save.feeds.push_back(*temporary);
  out.save.fetches = {*saved};
  out.restore.targets = {*restore};
  out.saved = FindSaved(graph, saved->node);
  NoteCalls(graph, out);
  return out;
}

}  // namespace vigil

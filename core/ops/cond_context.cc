#include "vigil/core/ops/cond_context.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/control_flow.pb.h"
#include "vigil/core/tensor/proto_util.h"

namespace vigil {
namespace {

constexpr std::string_view kName = "cond_context";

// As it is written.
struct CondContext {
  std::string bytes;
};
constexpr CollectionKey<CondContext> kCondContexts{kName};

std::string Scoped(const std::string& name, const std::string& scope) {
  return name.empty() ? name : fmt::format("{}/{}", scope, name);
}

void PutUnder(const std::string& scope, proto::CondContextDef& context) {
  for (std::string* const name :
       {context.mutable_context_name(), context.mutable_pred_name(), context.mutable_pivot_name()}) {
    *name = Scoped(*name, scope);
  }
  for (std::string& name : *context.mutable_values_def()->mutable_values()) name = Scoped(name, scope);
  // The map's order means nothing: it is written in that of the names.
  google::protobuf::Map<std::string, std::string> external;
  for (const auto& [inside, outside] : context.values_def().external_values()) {
    external[Scoped(inside, scope)] = Scoped(outside, scope);
  }
  *context.mutable_values_def()->mutable_external_values() = std::move(external);
  for (proto::ControlFlowContextDef& nested : *context.mutable_nested_contexts()) {
    if (nested.has_cond_ctxt()) PutUnder(scope, *nested.mutable_cond_ctxt());
  }
}

absl::Status Read(Graph& graph, const std::vector<std::string>& items, const std::string& scope) {
  if (HoldsOtherItems(graph, kCondContexts)) {
    return MakeStatus(Code::kInvalidArgument, "the graph has something else under that name");
  }
  for (const std::string& item : items) {
    proto::CondContextDef context;
    if (!context.ParseFromString(item)) return MakeStatus(Code::kInvalidArgument, "an item is no CondContextDef");
    if (!scope.empty()) PutUnder(scope, context);
    VIGIL_ASSIGN_OR_RETURN(std::string bytes, SerializeDeterministically(context));
    graph.AddToCollection(kCondContexts, CondContext{std::move(bytes)});
  }
  return absl::OkStatus();
}

std::vector<std::string> Write(const Graph& graph) {
  std::vector<std::string> items;
  const std::vector<CondContext>* const contexts = graph.FindCollection(kCondContexts);
  if (contexts == nullptr) return items;  // none, or something else of that name
  for (const CondContext& each : *contexts) items.push_back(each.bytes);
  return items;
}

}  // namespace

CollectionCodec CondContextCodec() { return {.name = std::string(kName), .write = Write, .read = Read}; }

}  // namespace vigil

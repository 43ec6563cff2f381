// Nodes as TensorFlow writes them in messages.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/graph/attr_value.h"
#include "vigil/core/graph/attr_value.pb.h"
#include "vigil/core/graph/inference_context.h"
#include "vigil/core/tensor/tensor_shape.pb.h"
#include "vigil/core/tensor/types.pb.h"

namespace vigil {
namespace {

std::string Listed(const auto& items, auto show) {
  std::vector<std::string> shown;
  for (const auto& item : items) shown.push_back(show(item));
  return fmt::format("[{}]", fmt::join(shown, ", "));
}

std::string TypeText(int type) { return proto::DataType_Name(static_cast<proto::DataType>(type)); }

std::string ShapeText(const proto::TensorShapeProto& shape) {
  if (shape.unknown_rank()) return "<unknown>";
  std::vector<std::string> dims;
  for (const auto& dim : shape.dim()) dims.push_back(dim.size() < 0 ? "?" : fmt::format("{}", dim.size()));
  return fmt::format("[{}]", fmt::join(dims, ","));
}

std::string ListText(const proto::AttrValue::ListValue& list) {
  if (list.s_size() > 0) return Listed(list.s(), [](const std::string& text) { return fmt::format("\"{}\"", text); });
  if (list.i_size() > 0) return Listed(list.i(), [](auto i) { return fmt::format("{}", i); });
  if (list.f_size() > 0) return Listed(list.f(), [](float f) { return fmt::format("{:.6g}", f); });
  if (list.b_size() > 0) return Listed(list.b(), [](bool b) { return fmt::format("{}", b); });
  if (list.type_size() > 0) return Listed(list.type(), [](int type) { return TypeText(type); });
  return Listed(list.shape(), ShapeText);
}

std::string ValueText(const proto::AttrValue& value) {
  switch (value.value_case()) {
    case proto::AttrValue::kS:
      return fmt::format("\"{}\"", value.s());
    case proto::AttrValue::kI:
      return fmt::format("{}", value.i());
    case proto::AttrValue::kF:
      return fmt::format("{:.6g}", value.f());
    case proto::AttrValue::kB:
      return value.b() ? "true" : "false";
    case proto::AttrValue::kType:
      return TypeText(value.type());
    case proto::AttrValue::kShape:
      return ShapeText(value.shape());
    case proto::AttrValue::kList:
      return ListText(value.list());
    default:
      return "Tensor<...>";  // a constant has no input that could be wrong
  }
}

}  // namespace

std::string SummarizeNode(const Graph& graph, const Node& node) {
  std::map<std::string, std::string, std::less<>> attrs;
  for (std::string_view rest = node.def->default_attrs; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(';'));
    const std::size_t equals = one.find('=');
    attrs.emplace(one.substr(0, equals), one.substr(equals + 1));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  for (const ImpliedAttr& attr : node.def->implied_attrs) attrs[attr.name] = ValueText(ImpliedValue(attr, graph, node));
  for (const auto& [name, value] : node.attrs) {
    proto::AttrValue proto;
    ToProto(value, &proto);
    attrs[name] = ValueText(proto);
  }
  std::vector<std::string> shown, inputs;
  for (const auto& [name, value] : attrs) shown.push_back(fmt::format("{}={}", name, value));
  for (const Output input : node.inputs) {
    const std::string& from = graph.node(input.node).name;
    inputs.push_back(input.index == 0 ? from : fmt::format("{}:{}", from, input.index));
  }
  for (const NodeId control : node.control_inputs) inputs.push_back("^" + graph.node(control).name);
  return fmt::format("{{{{node {}}}}} = {}[{}]({})", node.name, node.op, fmt::join(shown, ", "),
                     fmt::join(inputs, ", "));
}

}  // namespace vigil

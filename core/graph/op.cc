#include "vigil/core/graph/op.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/graph/graph.h"

namespace vigil {

OpRegistry::OpRegistry(const OpRegistry& other) {
  for (const auto& [name, op] : other.ops_) Register(op);
}

void OpRegistry::Register(OpDef op) {
  std::string name = op.name;
  const auto [it, added] = ops_.emplace(std::move(name), std::move(op));
  VIGIL_CHECK(added);
  by_name_.emplace(it->first, &it->second);
}

OpDef& OpRegistry::Registered(std::string_view name) {
  const auto it = ops_.find(name);
  VIGIL_CHECK(it != ops_.end());
  return it->second;
}

void OpRegistry::Imply(std::string_view name, std::vector<ImpliedAttr> attrs) {
  Registered(name).implied_attrs = std::move(attrs);
}

void OpRegistry::Infer(std::string_view name, ShapeFn shape_fn) { Registered(name).shape_fn = std::move(shape_fn); }

void OpRegistry::Default(std::string_view name, std::string_view attrs) { Registered(name).default_attrs = attrs; }

const OpDef* OpRegistry::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

OutputTypesFn SameAsInput(int i) {
  return [i](const Node& node, const std::vector<DType>& inputs) -> absl::StatusOr<std::vector<DType>> {
    const auto at = static_cast<std::size_t>(i);
    if (at >= inputs.size()) return UsageError(fmt::format("'{}' Op needs at least {} inputs.", node.op, i + 1));
    return std::vector<DType>{inputs[at]};
  };
}

OutputTypesFn Always(std::vector<DType> types) {
  return [types = std::move(types)](const Node&, const std::vector<DType>&) -> absl::StatusOr<std::vector<DType>> {
    return types;
  };
}

OutputTypesFn FromAttr(std::string attr) {
  return [attr = std::move(attr)](const Node& node, const std::vector<DType>&) -> absl::StatusOr<std::vector<DType>> {
    const auto it = node.attrs.find(attr);
    const DType* const type = it == node.attrs.end() ? nullptr : std::get_if<DType>(&it->second);
    if (type == nullptr)
      return UsageError(fmt::format("'{}' Op needs an attribute '{}' of type DType.", node.op, attr));
    if (*type == DType::kInvalid) {
      return UsageError(fmt::format("'{}' Op has an attribute '{}' that is no type of a tensor.", node.op, attr));
    }
    return std::vector<DType>{*type};
  };
}

}  // namespace vigil

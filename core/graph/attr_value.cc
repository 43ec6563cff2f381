#include "vigil/core/graph/attr_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/attr_value.pb.h"
#include "vigil/core/tensor/tensor_proto.h"
#include "vigil/core/tensor/tensor_shape.pb.h"

namespace vigil {
namespace {

using MaybeValue = std::optional<AttrValue>;

// One function for each kind of value.
struct Writer {
  proto::AttrValue* out;

  void operator()(std::int64_t value) const { out->set_i(value); }
  void operator()(double value) const { out->set_f(static_cast<float>(value)); }
  void operator()(bool value) const { out->set_b(value); }
  void operator()(const std::string& value) const { out->set_s(value); }
  void operator()(DType value) const { out->set_type(ToProto(value)); }
  void operator()(const Shape& value) const { ToProto(value, out->mutable_shape()); }
  void operator()(const Tensor& value) const { ToProto(value, out->mutable_tensor()); }
  // An empty list is one, too.
  void operator()(const std::vector<std::string>& values) const {
    auto& all = *out->mutable_list();
    for (const std::string& value : values) all.add_s(value);
  }
  void operator()(const std::vector<DType>& values) const {
    auto& all = *out->mutable_list();
    for (const DType value : values) all.add_type(ToProto(value));
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    auto& all = *out->mutable_list();
    for (const std::int64_t value : values) all.add_i(value);
  }
  void operator()(const std::vector<double>& values) const {
    auto& all = *out->mutable_list();
    for (const double value : values) all.add_f(static_cast<float>(value));
  }
  void operator()(const std::vector<bool>& values) const {
    auto& all = *out->mutable_list();
    for (const bool value : values) all.add_b(value);
  }
  void operator()(const std::vector<Shape>& values) const {
    auto& all = *out->mutable_list();
    for (const Shape& value : values) ToProto(value, all.add_shape());
  }
};

// -1 for a dimension that is not known.
absl::StatusOr<Shape> PartlyKnown(const proto::TensorShapeProto& shape) {
  proto::TensorShapeProto known = shape;
  std::vector<std::int64_t> dims;
  for (proto::TensorShapeProto::Dim& dim : *known.mutable_dim()) {
    dims.push_back(std::max<std::int64_t>(dim.size(), -1));
    if (dim.size() < 0) dim.set_size(1);
  }
  VIGIL_RETURN_IF_ERROR(FromProto(known).status());
  return Shape(std::move(dims));
}

absl::StatusOr<MaybeValue> FromList(const proto::AttrValue::ListValue& list) {
  if (list.tensor_size() > 0) return MakeStatus(Code::kUnimplemented, "There are no lists of tensors here.");
  if (list.s_size() > 0) return MaybeValue(std::vector<std::string>(list.s().begin(), list.s().end()));
  if (list.i_size() > 0) return MaybeValue(std::vector<std::int64_t>(list.i().begin(), list.i().end()));
  if (list.f_size() > 0) return MaybeValue(std::vector<double>(list.f().begin(), list.f().end()));
  if (list.b_size() > 0) return MaybeValue(std::vector<bool>(list.b().begin(), list.b().end()));
  if (list.type_size() > 0) {
    std::vector<DType> types;
    for (int i = 0; i < list.type_size(); ++i) {
      VIGIL_ASSIGN_OR_RETURN(const DType type, FromProto(list.type(i)));
      types.push_back(type);
    }
    return MaybeValue(std::move(types));
  }
  std::vector<Shape> shapes;
  for (const proto::TensorShapeProto& shape : list.shape()) {
    if (shape.unknown_rank()) return MaybeValue();
    VIGIL_ASSIGN_OR_RETURN(shapes.emplace_back(), PartlyKnown(shape));
  }
  return shapes.empty() ? MaybeValue() : MaybeValue(std::move(shapes));
}

}  // namespace

AttrValue::AttrValue() = default;
AttrValue::AttrValue(const AttrValue& other) = default;
AttrValue::AttrValue(AttrValue&& other) noexcept = default;
AttrValue& AttrValue::operator=(const AttrValue& other) = default;
AttrValue& AttrValue::operator=(AttrValue&& other) noexcept = default;
AttrValue::~AttrValue() = default;

void ToProto(const AttrValue& value, proto::AttrValue* out) {
  out->Clear();
  std::visit(Writer{out}, value);
}

absl::StatusOr<std::optional<AttrValue>> FromProto(const proto::AttrValue& value, std::int64_t* may_fill) {
  switch (value.value_case()) {
    case proto::AttrValue::kS:
      return MaybeValue(value.s());
    case proto::AttrValue::kI:
      return MaybeValue(std::int64_t{value.i()});
    case proto::AttrValue::kF:
      return MaybeValue(double{value.f()});
    case proto::AttrValue::kB:
      return MaybeValue(value.b());
    case proto::AttrValue::kType: {
      VIGIL_ASSIGN_OR_RETURN(const DType type, FromProto(value.type()));
      return MaybeValue(type);
    }
    case proto::AttrValue::kShape: {
      if (value.shape().unknown_rank()) return MaybeValue();
      VIGIL_ASSIGN_OR_RETURN(Shape shape, PartlyKnown(value.shape()));
      return MaybeValue(std::move(shape));
    }
    case proto::AttrValue::kTensor: {
      VIGIL_ASSIGN_OR_RETURN(Tensor tensor, FromProto(value.tensor(), may_fill));
      return MaybeValue(std::move(tensor));
    }
    case proto::AttrValue::kList:
      return FromList(value.list());
    case proto::AttrValue::kPlaceholder:
      return MakeStatus(Code::kUnimplemented, "There are no functions here.");
    case proto::AttrValue::VALUE_NOT_SET:
      break;
  }
  // A value of a kind that the message does not know is a function.
  if (value.ByteSizeLong() > 0) return MakeStatus(Code::kUnimplemented, "There are no functions here.");
  return MaybeValue();
}

proto::AttrValue ImpliedValue(const ImpliedAttr& attr, const Graph& graph, const Node& node) {
  proto::AttrValue out;
  const auto first = static_cast<std::size_t>(attr.i);
  switch (attr.kind) {
    case ImpliedAttr::Kind::kInputType:
      out.set_type(ToProto(graph.TypeOf(node.inputs[first])));
      break;
    case ImpliedAttr::Kind::kOutputType:
      out.set_type(ToProto(node.output_types[first]));
      break;
    case ImpliedAttr::Kind::kInputTypes:
      out.mutable_list();
      for (std::size_t i = first; i < node.inputs.size(); ++i) {
        out.mutable_list()->add_type(ToProto(graph.TypeOf(node.inputs[i])));
      }
      break;
    case ImpliedAttr::Kind::kOutputTypes:
      out.mutable_list();
      for (const DType type : node.output_types) out.mutable_list()->add_type(ToProto(type));
      break;
    case ImpliedAttr::Kind::kInputCount:
      out.set_i(static_cast<std::int64_t>(node.inputs.size()) - attr.i);
      break;
    case ImpliedAttr::Kind::kInputPairs:
      out.set_i(static_cast<std::int64_t>(node.inputs.size()) / 2);
      break;
    case ImpliedAttr::Kind::kUnknownShape:
      out.mutable_shape()->set_unknown_rank(true);
      break;
    case ImpliedAttr::Kind::kUnknownShapes:
      out.mutable_list();
      if (attr.i < 0) break;  // an empty list of anything, which a node means that has none
      for (std::size_t i = 0; i < node.output_types.size(); ++i)
        out.mutable_list()->add_shape()->set_unknown_rank(true);
      break;
  }
  return out;
}

}  // namespace vigil

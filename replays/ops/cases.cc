#include "vigil/replays/ops/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/escaping.h"
#include "vigil/core/base/check.h"

namespace vigil::replays {
namespace {

using Json = nlohmann::json;

DType TypeOf(const std::string& name) {
  for (const DType type : {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64, DType::kBool, DType::kString}) {
    if (DTypeName(type) == name) return type;
  }
  if (name == "float32") return DType::kFloat;
  VIGIL_CHECK(name == "float64");
  return DType::kDouble;
}

double NumberOf(const Json& value) {
  if (!value.is_string()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  return value == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

template <typename T>
void Fill(const Json& values, Tensor& out) {
  VIGIL_CHECK(static_cast<std::int64_t>(values.size()) == out.num_elements());
  T* to = out.mutable_flat<T>().data();
  for (const Json& value : values) {
    if constexpr (std::is_same_v<T, bool>) {
      *to++ = value.get<bool>();
    } else if constexpr (std::is_integral_v<T>) {
      *to++ = value.get<T>();
    } else {
      *to++ = static_cast<T>(NumberOf(value));
    }
  }
}

Tensor TensorOf(const Json& json) {
  Tensor out(TypeOf(json["t"]), Shape(json["s"].get<std::vector<std::int64_t>>()));
  switch (out.dtype()) {
    case DType::kFloat:
      Fill<float>(json["v"], out);
      break;
    case DType::kDouble:
      Fill<double>(json["v"], out);
      break;
    case DType::kInt32:
      Fill<std::int32_t>(json["v"], out);
      break;
    case DType::kInt64:
      Fill<std::int64_t>(json["v"], out);
      break;
    case DType::kString: {
      std::string* to = out.mutable_flat<std::string>().data();
      for (const Json& value : json["v"]) *to++ = absl::HexStringToBytes(value.get<std::string>());
      break;
    }
    default:
      Fill<bool>(json["v"], out);
  }
  return out;
}

AttrValue AttrOf(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) return json.get<std::vector<std::int64_t>>();
  if (json.contains("strings")) return json["strings"].get<std::vector<std::string>>();
  if (json.contains("types")) {
    std::vector<DType> types;
    for (const Json& type : json["types"]) types.push_back(TypeOf(type));
    return types;
  }
  if (json.contains("shapes")) {
    std::vector<Shape> shapes;
    for (const Json& shape : json["shapes"]) shapes.emplace_back(shape.get<std::vector<std::int64_t>>());
    return shapes;
  }
  return TypeOf(json["type"]);
}

// Null is not known, be it the whole shape or a dimension.
PartialShape PartialShapeOf(const Json& json) {
  if (json.is_null()) return PartialShape();
  std::vector<std::int64_t> dims;
  for (const Json& dim : json) dims.push_back(dim.is_null() ? PartialShape::kUnknownDim : dim.get<std::int64_t>());
  return PartialShape(std::move(dims));
}

std::vector<std::pair<std::string, double>> NumbersOf(const Json& json) {
  std::vector<std::pair<std::string, double>> out;
  for (const auto& [name, value] : json.items()) {
    if (value.is_boolean()) {
      out.emplace_back(name, value.get<bool>() ? 1 : 0);
    } else if (value.is_number()) {
      out.emplace_back(name, value.get<double>());
    }
  }
  return out;
}

template <typename Read>
void EachLine(const std::string& file, Read read) {
  std::ifstream in(file);
  VIGIL_CHECK(in.good());
  int number = 0;
  for (std::string line; std::getline(in, line);) read(Json::parse(line), fmt::format("{}:{}", file, ++number));
}

std::string StringsDiffer(const Tensor& value, const Tensor& recorded) {
  const auto is = value.flat<std::string>();
  const auto was = recorded.flat<std::string>();
  for (std::size_t i = 0; i < is.size(); ++i) {
    if (is[i] != was[i]) return fmt::format("element {} is '{}', not '{}'", i, is[i], was[i]);
  }
  return "";
}

template <typename T>
std::string ElementsDiffer(const Tensor& value, const Tensor& recorded, double tolerance) {
  const auto is = value.flat<T>();
  const auto was = recorded.flat<T>();
  for (std::size_t i = 0; i < is.size(); ++i) {
    if (is[i] == was[i]) continue;
    const auto a = static_cast<double>(is[i]);
    const auto b = static_cast<double>(was[i]);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b))) continue;
    return fmt::format("element {} is {}, not {}", i, is[i], was[i]);
  }
  return "";
}

}  // namespace

std::string Differs(const Tensor& value, const Tensor& recorded, double float_tolerance, double double_tolerance) {
  if (value.Describe() != recorded.Describe()) return fmt::format("{}, not {}", value.Describe(), recorded.Describe());
  switch (value.dtype()) {
    case DType::kFloat:
      return ElementsDiffer<float>(value, recorded, float_tolerance);
    case DType::kDouble:
      return ElementsDiffer<double>(value, recorded, double_tolerance);
    case DType::kInt32:
      return ElementsDiffer<std::int32_t>(value, recorded, 0);
    case DType::kInt64:
      return ElementsDiffer<std::int64_t>(value, recorded, 0);
    case DType::kString:
      return StringsDiffer(value, recorded);
    default:
      return ElementsDiffer<bool>(value, recorded, 0);
  }
}

std::vector<OpCase> ReadOpCases(const std::string& file) {
  std::vector<OpCase> cases;
  EachLine(file, [&cases](const Json& json, std::string where) {
    OpCase& each = cases.emplace_back();
    each.where = std::move(where);
    each.op = json["op"];
    for (const auto& [name, value] : json["attrs"].items()) each.attrs.emplace(name, AttrOf(value));
    for (const Json& input : json["inputs"]) each.inputs.push_back(TensorOf(input));
    each.refs = json.value("refs", 0);
    if (json.contains("error")) {
      each.error_code = json["error"][0];
      each.error = json["error"][1];
      return;
    }
    for (const Json& output : json["outputs"]) each.outputs.push_back(TensorOf(output));
    each.has_grads = json.contains("grads");
    if (!each.has_grads) return;
    for (const Json& grad : json["grads"]) {
      each.grads.push_back(grad.is_null() ? std::nullopt : std::optional(TensorOf(grad)));
    }
  });
  return cases;
}

std::vector<ShapeCase> ReadShapeCases(const std::string& file) {
  std::vector<ShapeCase> cases;
  EachLine(file, [&cases](const Json& json, std::string where) {
    ShapeCase& each = cases.emplace_back();
    each.where = std::move(where);
    each.op = json["op"];
    for (const auto& [name, value] : json["attrs"].items()) {
      if (!value.is_object() || !value.contains("shape")) {
        each.attrs.emplace(name, AttrOf(value));
      } else if (!value["shape"].is_null()) {
        each.attrs.emplace(name, Shape(value["shape"].get<std::vector<std::int64_t>>()));
      }
    }
    for (const Json& input : json["inputs"]) {
      ShapeCase::Input& into = each.inputs.emplace_back();
      into.dtype = TypeOf(input["t"]);
      if (input.contains("v")) into.value = TensorOf(input);
      if (input.contains("s")) into.shape = PartialShapeOf(input["s"]);
      if (input.contains("shape_of")) into.of = PartialShapeOf(input["shape_of"]);
      if (input.contains("pack")) into.packed = PartialShapeOf(input["pack"]);
    }
    each.refs = json.value("refs", 0);
    each.error = json.value("error", "");
    if (!each.error.empty()) return;
    for (const Json& shape : json["shapes"]) each.shapes.push_back(PartialShapeOf(shape));
  });
  return cases;
}

std::vector<Trajectory> ReadTrajectories(const std::string& file) {
  std::vector<Trajectory> all;
  EachLine(file, [&all](const Json& json, std::string where) {
    if (!json.contains("optimizer")) return;
    Trajectory& each = all.emplace_back();
    each.where = std::move(where);
    each.optimizer = json["optimizer"];
    each.is_double = json["double"];
    each.options = NumbersOf(json["options"]);
    each.variables = json["variables"].get<std::vector<std::string>>();
    each.steps = json["steps"].get<std::vector<int>>();
    for (const Json& step : json["values"]) {
      std::vector<Tensor>& values = each.values.emplace_back();
      for (const Json& value : step) values.push_back(TensorOf(value));
    }
  });
  return all;
}

std::vector<DecayCase> ReadDecays(const std::string& file) {
  std::vector<DecayCase> all;
  EachLine(file, [&all](const Json& json, std::string where) {
    if (!json.contains("decay")) return;
    DecayCase& each = all.emplace_back();
    each.where = std::move(where);
    each.decay = json["decay"];
    each.arguments = NumbersOf(json["arguments"]);
    if (json["arguments"].contains("boundaries")) {
      each.boundaries = json["arguments"]["boundaries"].get<std::vector<std::int64_t>>();
      each.values = json["arguments"]["values"].get<std::vector<float>>();
    }
    each.steps = json["steps"].get<std::vector<std::int64_t>>();
    each.rates = json["rates"].get<std::vector<float>>();
  });
  return all;
}

}  // namespace vigil::replays

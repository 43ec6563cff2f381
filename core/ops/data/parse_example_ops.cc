// ParseExample, ParseExampleV2 and ParseSingleExample: features of tf.train.Example as tensors.
//
// Dense features (of one shape, or of one that is open in its first dimension and padded) and sparse ones. Each example
// is looked through twice: once for what is wrong and how much there is, and, once all outputs have their sizes, for
// the values. Ragged features are refused.
// Source: example_parsing_ops.cc, example_proto_fast_parsing.cc.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "vigil/core/ops/data/example_reader.h"
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

using FeatureKind = ExampleFeature::Kind;

// What one example says of a wanted feature.
struct Found {
  bool seen = false;
  bool has_values = false;
  std::string_view list;
  std::int64_t count = 0;
};

struct WantedFeature {
  std::string key;
  DType dtype = DType::kInvalid;
  bool dense = false;
  // Of a dense one.
  std::vector<std::int64_t> dims = {};  // the first may be -1
  const Tensor* otherwise = nullptr;
  std::vector<Found> found = {};  // of each example

  bool varies() const { return !dims.empty() && dims[0] == -1; }
  // Elements of one example; of one step of the open dimension.
  std::int64_t stride() const {
    std::int64_t n = 1;
    for (const std::int64_t dim : dims) n *= dim == -1 ? 1 : dim;
    return n;
  }
};

// "[?,2]"
std::string OpenShapeText(const std::vector<std::int64_t>& dims) {
  std::vector<std::string> parts;
  for (const std::int64_t dim : dims) parts.push_back(dim == -1 ? "?" : fmt::format("{}", dim));
  return fmt::format("[{}]", fmt::join(parts, ","));
}

DType TypeOfKind(FeatureKind kind) {
  if (kind == FeatureKind::kBytes) return DType::kString;
  return kind == FeatureKind::kFloat ? DType::kFloat : DType::kInt64;
}

template <typename T>
bool CountValues(std::string_view list, std::int64_t* count) {
  std::vector<T> values;
  if (!ReadList(list, &values)) return false;
  *count = static_cast<std::int64_t>(values.size());
  return true;
}

bool CountList(DType dtype, std::string_view list, std::int64_t* count) {
  if (dtype == DType::kFloat) return CountValues<float>(list, count);
  if (dtype == DType::kInt64) return CountValues<std::int64_t>(list, count);
  return CountValues<std::string_view>(list, count);
}

template <typename From, typename To>
void WriteValues(std::string_view list, std::int64_t at, Tensor& out) {
  std::vector<From> values;
  ReadList(list, &values);
  To* to = out.mutable_flat<To>().data() + at;
  for (const From& value : values) *to++ = To(value);
}

// REQUIRES: CountList() has counted it, and there is room.
void WriteList(std::string_view list, std::int64_t at, Tensor& out) {
  if (out.dtype() == DType::kFloat) return WriteValues<float, float>(list, at, out);
  if (out.dtype() == DType::kInt64) return WriteValues<std::int64_t, std::int64_t>(list, at, out);
  WriteValues<std::string_view, std::string>(list, at, out);
}

std::string_view TypeInWords(DType type) { return type == DType::kString ? "bytes" : DTypeName(type); }

// All features that a node wants, the sparse ones first, and the examples that it has them from.
class ExampleParser {
 public:
  ExampleParser(std::vector<WantedFeature> wanted, const Tensor& serialized, const Tensor* names, bool batch)
      : wanted_(std::move(wanted)), serialized_(serialized), names_(names), batch_(batch) {}

  absl::Status Parse() {
    for (std::size_t w = 0; w < wanted_.size(); ++w) {
      if (!by_key_.emplace(wanted_[w].key, w).second) {
        return InvalidArgument("Feature '{}' is wanted twice.", wanted_[w].key);
      }
      wanted_[w].found.resize(static_cast<std::size_t>(serialized_.num_elements()));
    }
    const auto examples = serialized_.flat<std::string>();
    for (std::size_t i = 0; i < examples.size(); ++i) VIGIL_RETURN_IF_ERROR(Look(examples[i], i));
    return absl::OkStatus();
  }

  // Indices, values, shapes of the sparse ones; values of the dense ones. REQUIRES: Parse() has succeeded.
  absl::Status Write(KernelContext& c) const {
    const auto sparse = static_cast<int>(std::ranges::count(wanted_, false, &WantedFeature::dense));
    for (int w = 0; w < static_cast<int>(wanted_.size()); ++w) {
      const WantedFeature& each = wanted_[static_cast<std::size_t>(w)];
      VIGIL_RETURN_IF_ERROR(each.dense ? WriteDense(each, 2 * sparse + w, c) : WriteSparse(each, w, sparse, c));
    }
    return absl::OkStatus();
  }

 private:
  // "Name: n, Key: k, Index: i.  "
  std::string Place(std::string_view key, std::size_t i) const {
    if (!batch_) return fmt::format("Key: {}.  ", key);
    return fmt::format("Name: {}, Key: {}, Index: {}.  ", NameOf(i), key, i);
  }
  std::string_view NameOf(std::size_t i) const {
    if (names_ == nullptr || names_->num_elements() == 0) return "<unknown>";
    return names_->flat<std::string>()[i];
  }

  absl::Status Look(const std::string& example, std::size_t i) {
    const std::optional<std::vector<ExampleFeature>> features = ReadExample(example);
    if (!features.has_value()) return InvalidArgument("Could not parse example input, value: '{}'", example);
    for (auto feature = features->rbegin(); feature != features->rend(); ++feature) {  // of one name the last counts
      const auto it = by_key_.find(feature->name);
      if (it == by_key_.end()) continue;
      if (feature->kind == FeatureKind::kUnknown) return InvalidArgument("Unsupported datatype.");
      WantedFeature& wanted = wanted_[it->second];
      Found& found = wanted.found[i];
      if (found.seen || (feature->kind == FeatureKind::kNone && (wanted.dense || !batch_))) continue;
      found.seen = true;
      if (feature->kind == FeatureKind::kNone) continue;
      VIGIL_RETURN_IF_ERROR(CheckFeature(wanted, *feature, i, found));
    }
    for (const WantedFeature& wanted : wanted_) {
      if (!wanted.dense || wanted.varies() || wanted.found[i].seen || wanted.otherwise->num_elements() > 0) continue;
      const std::string name = batch_ ? fmt::format("Name: {}, ", NameOf(i)) : "";
      return InvalidArgument("{}Feature: {} (data type: {}) is required but could not be found.", name, wanted.key,
                             DTypeName(wanted.dtype));
    }
    return absl::OkStatus();
  }

  absl::Status CheckFeature(const WantedFeature& wanted, const ExampleFeature& feature, std::size_t i,
                            Found& found) const {
    const DType type = TypeOfKind(feature.kind);
    if (type != wanted.dtype && wanted.dense) {
      return InvalidArgument("{}Data types don't match. Data type: {} but expected type: {}", Place(wanted.key, i),
                             DTypeName(type), DTypeName(wanted.dtype));
    }
    if (type != wanted.dtype) {
      return InvalidArgument("{}Data types don't match. Expected type: {}, Actual type: {}", Place(wanted.key, i),
                             DTypeName(wanted.dtype), DTypeName(type));
    }
    found.list = feature.list;
    found.has_values = true;
    if (!CountList(type, found.list, &found.count)) {
      const bool counts_first = type == DType::kString && (!wanted.dense || wanted.varies());
      return CannotParse(wanted, i, counts_first ? "Could not get num elements in {}." : "Parsing {} failed.");
    }
    return wanted.dense ? CheckCount(wanted, found.count, i) : absl::OkStatus();
  }

  // Of a single Example it is told why: {} is the list.
  absl::Status CannotParse(const WantedFeature& wanted, std::size_t i, std::string_view why) const {
    if (batch_) return InvalidArgument("{}Can't parse serialized Example.", Place(wanted.key, i));
    const std::string list = fmt::format("{}_list", TypeInWords(wanted.dtype));
    return InvalidArgument("{}Can't parse serialized Example: {}", Place(wanted.key, i),
                           fmt::format(fmt::runtime(why), list));
  }

  absl::Status CheckCount(const WantedFeature& wanted, std::int64_t count, std::size_t i) const {
    const std::int64_t stride = wanted.stride();
    if (wanted.varies() ? stride != 0 && count % stride == 0 : count == stride) return absl::OkStatus();
    const bool too_many_strings = wanted.dtype == DType::kString && !wanted.varies() && count > stride;
    if (!batch_ && wanted.varies()) {
      return InvalidArgument(
          "Error while parsing feature with key {}: number of elements should be divisible by {}, found {} instead",
          wanted.key, stride, count);
    }
    if (!batch_ || too_many_strings) {
      return CannotParse(wanted, i, too_many_strings ? "Parsing {} failed." : "Some {} slice was not parsed.");
    }
    const std::string_view type = TypeInWords(wanted.dtype);
    if (wanted.varies()) {
      return InvalidArgument(
          "{}Number of {} values is not a multiple of stride length. Saw {} values but output shape is: {}",
          Place(wanted.key, i), type, count, OpenShapeText(wanted.dims));
    }
    return InvalidArgument("{}Number of {} values != expected.  Values size: {} but output shape: {}",
                           Place(wanted.key, i), type, count, OpenShapeText(wanted.dims));
  }

  absl::Status WriteDense(const WantedFeature& wanted, int output, KernelContext& c) const {
    std::vector<std::int64_t> dims = wanted.dims;
    const std::int64_t stride = wanted.stride();
    if (wanted.varies()) {
      dims[0] = 0;
      for (const Found& found : wanted.found) dims[0] = std::max(dims[0], found.count == 0 ? 0 : found.count / stride);
    }
    const std::int64_t row = wanted.varies() ? dims[0] * stride : stride;
    if (batch_) dims.insert(dims.begin(), static_cast<std::int64_t>(wanted.found.size()));
    VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(wanted.dtype, std::move(dims)));
    for (std::size_t i = 0; i < wanted.found.size(); ++i) {
      const Found& found = wanted.found[i];
      const std::int64_t at = static_cast<std::int64_t>(i) * row;
      if (found.has_values) {
        WriteList(found.list, at, out);
      } else if (!wanted.varies()) {
        CopyElements(*wanted.otherwise, 0, out, at, row);
      }
      if (!wanted.varies()) continue;
      for (std::int64_t k = found.count; k < row; ++k) CopyElements(*wanted.otherwise, 0, out, at + k, 1);
    }
    c.set_output(output, std::move(out));
    return absl::OkStatus();
  }

  absl::Status WriteSparse(const WantedFeature& wanted, int w, int sparse, KernelContext& c) const {
    std::int64_t total = 0;
    std::int64_t longest = 0;
    for (const Found& found : wanted.found) {
      total += found.count;
      longest = std::max(longest, found.count);
    }
    VIGIL_ASSIGN_OR_RETURN(Tensor values, Tensor::Make(wanted.dtype, {total}));
    VIGIL_ASSIGN_OR_RETURN(Tensor indices, Tensor::Make(DType::kInt64, {total, batch_ ? 2 : 1}));
    std::int64_t* index = indices.mutable_flat<std::int64_t>().data();
    std::int64_t at = 0;
    for (std::size_t i = 0; i < wanted.found.size(); ++i) {
      const Found& found = wanted.found[i];
      if (found.count > 0) WriteList(found.list, at, values);
      at += found.count;
      for (std::int64_t k = 0; k < found.count; ++k) {
        if (batch_) *index++ = static_cast<std::int64_t>(i);
        *index++ = k;
      }
    }
    std::vector<std::int64_t> shape{longest};
    if (batch_) shape.insert(shape.begin(), static_cast<std::int64_t>(wanted.found.size()));
    c.set_output(w, std::move(indices));
    c.set_output(sparse + w, std::move(values));
    c.set_output(2 * sparse + w, Tensor::Vector(shape));
    return absl::OkStatus();
  }

  std::vector<WantedFeature> wanted_;
  std::map<std::string_view, std::size_t> by_key_;  // into wanted_
  const Tensor& serialized_;
  const Tensor* names_;
  bool batch_;
};

using KeyList = std::vector<std::string>;
using TypeList = std::vector<DType>;

// Sparse and dense features from keys, attributes and defaults (the node's last inputs).
absl::StatusOr<std::vector<WantedFeature>> WantedOf(const KernelContext& c, const KeyList& sparse,
                                                    const KeyList& dense) {
  std::vector<WantedFeature> wanted;
  const auto sparse_types = c.attr_or<TypeList>("sparse_types", {});
  for (std::size_t i = 0; i < sparse.size(); ++i) wanted.push_back({.key = sparse[i], .dtype = sparse_types[i]});
  const auto shapes = c.attr_or<std::vector<Shape>>("dense_shapes", {});
  for (std::size_t d = 0; d < dense.size(); ++d) {
    const Tensor& otherwise = c.input(c.num_inputs() - static_cast<int>(dense.size() - d));
    WantedFeature each{.key = dense[d], .dtype = otherwise.dtype(), .dense = true, .dims = shapes[d].dims()};
    each.otherwise = &otherwise;
    if (each.varies() && otherwise.num_elements() != 1) {
      return InvalidArgument(
          "dense_shape[{}] is a variable length shape: {}, therefore def_value[{}] must contain a single element (the "
          "padding element).  But its shape is: {}",
          d, OpenShapeText(each.dims), d, otherwise.shape().ToString());
    }
    if (!each.varies() && otherwise.num_elements() > 0 && otherwise.shape() != shapes[d]) {
      return InvalidArgument("def_value[{}].shape() == {} is not compatible with dense_shapes_[{}] == {}", d,
                             otherwise.shape().ToString(), d, shapes[d].ToString());
    }
    wanted.push_back(std::move(each));
  }
  return wanted;
}

absl::Status CheckExampleNames(const KernelContext& c) {
  const Tensor& names = c.input(1);
  if (names.num_elements() == 0 || names.shape() == c.input(0).shape()) return absl::OkStatus();
  return InvalidArgument("Expected names have the same shape as serialized: name.shape={}, serialized.shape={}",
                         names.shape().ToString(), c.input(0).shape().ToString());
}

absl::Status ParseAndWrite(KernelContext& c, const KeyList& sparse, const KeyList& dense, const Tensor* names) {
  VIGIL_ASSIGN_OR_RETURN(std::vector<WantedFeature> wanted, WantedOf(c, sparse, dense));
  ExampleParser parser(std::move(wanted), c.input(0), names, c.input(0).shape().rank() == 1);
  VIGIL_RETURN_IF_ERROR(parser.Parse());
  return parser.Write(c);
}

absl::Status ParseSingleExample(KernelContext& c) {
  if (c.input(0).shape().rank() != 0) {
    return InvalidArgument("Expected serialized to be a scalar, got shape: {}", c.input(0).shape().ToString());
  }
  return ParseAndWrite(c, c.attr_or<KeyList>("sparse_keys", {}), c.attr_or<KeyList>("dense_keys", {}), nullptr);
}

absl::Status ParseExample(KernelContext& c) {
  if (c.input(0).shape().rank() != 1) {
    return InvalidArgument("Expected serialized to be a vector, got shape: {}", c.input(0).shape().ToString());
  }
  VIGIL_RETURN_IF_ERROR(CheckExampleNames(c));
  const auto sparse = static_cast<int>(c.attr<std::int64_t>("Nsparse"));
  const auto dense = static_cast<int>(c.attr<std::int64_t>("Ndense"));
  KeyList keys[2];
  for (int i = 0; i < sparse + dense; ++i) {
    const Tensor& key = c.input(2 + i);
    if (key.num_elements() != 1) return InvalidArgument("Key {} must be a scalar, got {}", i, key.Describe());
    keys[i < sparse ? 0 : 1].push_back(key.flat<std::string>()[0]);
  }
  return ParseAndWrite(c, keys[0], keys[1], &c.input(1));
}

absl::Status ParseExampleV2(KernelContext& c) {
  if (c.input(0).shape().rank() > 1) {
    return InvalidArgument("Expected serialized to be a scalar or vector, got shape: {}",
                           c.input(0).shape().ToString());
  }
  VIGIL_RETURN_IF_ERROR(CheckExampleNames(c));
  const auto keys = [&c](int i) {
    const auto all = c.input(i).flat<std::string>();
    return KeyList(all.begin(), all.end());
  };
  const KeyList sparse = keys(2);
  const KeyList dense = keys(3);
  const std::int64_t num_sparse = c.attr<std::int64_t>("num_sparse");
  if (static_cast<int>(dense.size()) != c.num_inputs() - 5) {
    return InvalidArgument("Expected len(dense_keys) == len(dense_types) but got: {} vs. {}", dense.size(),
                           c.num_inputs() - 5);
  }
  if (static_cast<std::int64_t>(sparse.size()) != num_sparse) {
    return InvalidArgument("Expected len(sparse_keys) == num_sparse but got: {} vs. {}", sparse.size(), num_sparse);
  }
  if (!keys(4).empty()) {
    return InvalidArgument("Expected len(ragged_keys) == len(ragged_value_types) but got: {} vs. 0", keys(4).size());
  }
  return ParseAndWrite(c, sparse, dense, &c.input(1));
}

constexpr std::int64_t kMostFeatures = 1 << 16;

// How many of something; USAGE unless it is a number that a node can have.
absl::StatusOr<std::size_t> CountAttr(const Node& node, std::string_view name) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::int64_t>(node, name));
  const auto count = std::get<std::int64_t>(node.attrs.find(name)->second);
  if (count < 0 || count > kMostFeatures) {
    return UsageError(fmt::format("'{}' Op cannot have {} = {}.", node.op, name, count));
  }
  return static_cast<std::size_t>(count);
}

// How many elements a list has that may be missing.
template <typename T>
absl::StatusOr<std::size_t> ListSize(const Node& node, std::string_view name) {
  const auto it = node.attrs.find(name);
  if (it == node.attrs.end()) return 0;
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::vector<T>>(node, name));
  return std::get<std::vector<T>>(it->second).size();
}

absl::Status CheckLength(const Node& node, std::string_view name, std::size_t length, std::size_t wanted) {
  if (length == wanted) return absl::OkStatus();
  return UsageError(
      fmt::format("'{}' Op needs an attribute '{}' with {} elements, not {}.", node.op, name, wanted, length));
}

absl::Status CheckDenseShapes(const Node& node, std::size_t dense) {
  VIGIL_ASSIGN_OR_RETURN(const std::size_t count, ListSize<Shape>(node, "dense_shapes"));
  VIGIL_RETURN_IF_ERROR(CheckLength(node, "dense_shapes", count, dense));
  if (dense == 0) return absl::OkStatus();
  for (const Shape& shape : std::get<std::vector<Shape>>(node.attrs.find("dense_shapes")->second)) {
    std::vector<std::int64_t> dims = shape.dims();
    if (!dims.empty() && dims[0] == -1) dims[0] = 1;
    if (Shape::Make(std::move(dims)).ok()) continue;
    return UsageError(fmt::format("'{}' Op cannot have a dense shape {}: only its first dimension may be open.",
                                  node.op, OpenShapeText(shape.dims())));
  }
  return absl::OkStatus();
}

// The outputs of `sparse` features and of the dense ones, whose defaults are the last inputs.
absl::StatusOr<TypeList> FeatureTypes(const Node& node, const TypeList& inputs, std::size_t sparse, std::size_t dense) {
  VIGIL_ASSIGN_OR_RETURN(const std::size_t count, ListSize<DType>(node, "sparse_types"));
  VIGIL_RETURN_IF_ERROR(CheckLength(node, "sparse_types", count, sparse));
  VIGIL_RETURN_IF_ERROR(CheckDenseShapes(node, dense));
  TypeList types(sparse, DType::kInt64);
  for (std::size_t i = 0; i < sparse; ++i) {
    const DType type = std::get<TypeList>(node.attrs.find("sparse_types")->second)[i];
    if (type != DType::kFloat && type != DType::kInt64 && type != DType::kString) {
      return UsageError(fmt::format("'{}' Op has no features of type {}.", node.op, DTypeName(type)));
    }
    types.push_back(type);
  }
  types.insert(types.end(), sparse, DType::kInt64);
  for (std::size_t i = inputs.size() - dense; i < inputs.size(); ++i) {
    VIGIL_RETURN_IF_ERROR(
        RequireType(node, inputs, static_cast<int>(i), {DType::kFloat, DType::kInt64, DType::kString}));
    types.push_back(inputs[i]);
  }
  if (!node.attrs.contains("Tdense")) return types;
  VIGIL_RETURN_IF_ERROR(RequireAttr<TypeList>(node, "Tdense"));
  if (!std::ranges::equal(std::get<TypeList>(node.attrs.find("Tdense")->second),
                          std::span(inputs).subspan(inputs.size() - dense))) {
    return UsageError(fmt::format("'{}' Op has an attribute 'Tdense' that is not what its defaults are.", node.op));
  }
  return types;
}

absl::Status NeedsStrings(const Node& node, const TypeList& inputs, std::size_t strings, std::size_t all) {
  if (inputs.size() != all) {
    return UsageError(fmt::format("'{}' Op needs {} inputs, not {}.", node.op, all, inputs.size()));
  }
  for (std::size_t i = 0; i < strings; ++i) {
    VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, static_cast<int>(i), {DType::kString}));
  }
  return absl::OkStatus();
}

absl::StatusOr<TypeList> ParseExampleTypes(const Node& node, const TypeList& inputs) {
  VIGIL_ASSIGN_OR_RETURN(const std::size_t sparse, CountAttr(node, "Nsparse"));
  VIGIL_ASSIGN_OR_RETURN(const std::size_t dense, CountAttr(node, "Ndense"));
  VIGIL_RETURN_IF_ERROR(NeedsStrings(node, inputs, 2 + sparse + dense, 2 + sparse + 2 * dense));
  return FeatureTypes(node, inputs, sparse, dense);
}

absl::StatusOr<TypeList> ParseExampleV2Types(const Node& node, const TypeList& inputs) {
  VIGIL_ASSIGN_OR_RETURN(const std::size_t sparse, CountAttr(node, "num_sparse"));
  for (const std::string_view name : {"ragged_value_types", "ragged_split_types"}) {
    VIGIL_ASSIGN_OR_RETURN(const std::size_t ragged, ListSize<DType>(node, name));
    if (ragged > 0) {
      return MakeStatus(Code::kUnimplemented, "'ParseExampleV2' Op: there are no ragged features here.");
    }
  }
  VIGIL_RETURN_IF_ERROR(NeedsStrings(node, inputs, 5, std::max<std::size_t>(inputs.size(), 5)));
  return FeatureTypes(node, inputs, sparse, inputs.size() - 5);
}

absl::StatusOr<TypeList> ParseSingleExampleTypes(const Node& node, const TypeList& inputs) {
  VIGIL_ASSIGN_OR_RETURN(const std::size_t sparse, CountAttr(node, "num_sparse"));
  VIGIL_RETURN_IF_ERROR(NeedsStrings(node, inputs, 1, std::max<std::size_t>(inputs.size(), 1)));
  VIGIL_ASSIGN_OR_RETURN(const std::size_t sparse_keys, ListSize<std::string>(node, "sparse_keys"));
  VIGIL_ASSIGN_OR_RETURN(const std::size_t dense_keys, ListSize<std::string>(node, "dense_keys"));
  VIGIL_RETURN_IF_ERROR(CheckLength(node, "sparse_keys", sparse_keys, sparse));
  VIGIL_RETURN_IF_ERROR(CheckLength(node, "dense_keys", dense_keys, inputs.size() - 1));
  return FeatureTypes(node, inputs, sparse, inputs.size() - 1);
}

}  // namespace

void RegisterExampleOps(OpRegistry& registry) {
  const auto add = [&registry](std::string name, OutputTypesFn types, Kernel kernel,
                               std::initializer_list<std::string_view> lists) {
    registry.Register({.name = name, .inputs = -1, .output_types = std::move(types), .compute = std::move(kernel)});
    std::vector<ImpliedAttr> empty;  // lists that a node has only if there is something in them
    for (const std::string_view list : lists) {
      empty.push_back({.name = std::string(list), .kind = ImpliedAttr::Kind::kUnknownShapes, .i = -1});
    }
    registry.Imply(name, std::move(empty));
  };
  add("ParseExample", ParseExampleTypes, ParseExample, {"sparse_types", "Tdense", "dense_shapes"});
  add("ParseExampleV2", ParseExampleV2Types, ParseExampleV2,
      {"sparse_types", "Tdense", "dense_shapes", "ragged_value_types", "ragged_split_types"});
  add("ParseSingleExample", ParseSingleExampleTypes, ParseSingleExample,
      {"sparse_keys", "dense_keys", "sparse_types", "Tdense", "dense_shapes"});
}

}  // namespace vigil

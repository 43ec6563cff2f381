// Resource variables: VarHandleOp and the ops that take its handle. They are read and changed where these ops stand,
// and nowhere else: a handle has no value.
#include <algorithm>
#include <functional>
#include <type_traits>

#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"
#include "vigil/core/ops/variable.h"
#include "vigil/core/tensor/eigen_view.h"

namespace vigil {
namespace {

using Types = absl::StatusOr<std::vector<DType>>;

// The type that the op's own attribute says is the variable's.
absl::StatusOr<vigil::Variable*> VariableOf(KernelContext& c, DType said) {
  VIGIL_ASSIGN_OR_RETURN(vigil::Variable* const variable, vigil::Variable::Of(c));
  const DType type = vigil::Variable::TypeOf(c.holder());
  if (type == said) return variable;
  return InvalidArgument("Trying to use variable '{}' with wrong dtype. Expected {} got {}", c.holder().name,
                         DTypeName(type), DTypeName(said));
}

absl::Status ReadVariableOp(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const vigil::Variable* const variable, VariableOf(c, c.attr<DType>("dtype")));
  Tensor value = variable->Read();
  if (!value.valid()) return UninitializedVariable(c);
  c.set_output(0, std::move(value));
  return absl::OkStatus();
}

absl::Status VarIsInitialized(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const vigil::Variable* const variable, vigil::Variable::Of(c));
  c.set_output(0, Tensor::Scalar<bool>(variable->Read().valid()));
  return absl::OkStatus();
}

absl::Status AssignVariable(KernelContext& c) {
  const Tensor& value = c.input(1);
  VIGIL_ASSIGN_OR_RETURN(vigil::Variable* const variable, VariableOf(c, value.dtype()));
  const PartialShape declared = DeclaredShape(c.holder());
  if (c.attr_or<bool>("validate_shape", false) && !declared.IsCompatibleWith(value.shape())) {
    return InvalidArgument("Trying to assign to variable '{}' with shape {} a value of shape {}", c.holder().name,
                           declared.ToString(), value.shape().ToString());
  }
  variable->Assign(value);
  return absl::OkStatus();
}

template <absl::Status (*kCombine)(Tensor&, const Tensor&)>
absl::Status UpdateVariable(KernelContext& c) {
  const Tensor& by = c.input(1);
  VIGIL_ASSIGN_OR_RETURN(vigil::Variable* const variable, VariableOf(c, by.dtype()));
  return variable->Update([&](Tensor* value) {
    if (!value->valid()) return UninitializedVariable(c);
    if (value->shape() != by.shape()) {
      return InvalidArgument("Cannot update variable with shape {} using a Tensor with shape {}, shapes must be equal.",
                             value->shape().ToString(), by.shape().ToString());
    }
    return kCombine(*value, by);
  });
}

// Its value goes; who assigns to it makes it anew.
absl::Status Destroy(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(vigil::Variable* const variable, vigil::Variable::Of(c));
  return variable->Update([&c](Tensor* value) {
    if (!value->valid() && !c.attr_or<bool>("ignore_lookup_error", true)) {
      return MakeStatus(Code::kNotFound, fmt::format("Resource {} does not exist.", c.holder().name));
    }
    *value = Tensor();
    return absl::OkStatus();
  });
}

absl::Status ShapeOfVariable(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const vigil::Variable* const variable, vigil::Variable::Of(c));
  const Tensor value = variable->Read();
  if (!value.valid()) return UninitializedVariable(c);
  const std::vector<std::int64_t>& dims = value.shape().dims();
  if (c.node().output_types[0] == DType::kInt64) {
    c.set_output(0, Tensor::Vector<std::int64_t>(dims));
  } else {
    c.set_output(0, Tensor::Vector<std::int32_t>(std::vector<std::int32_t>(dims.begin(), dims.end())));
  }
  return absl::OkStatus();
}

// Rows of a variable by their numbers.
struct Rows {
  std::vector<std::int64_t> indices;
  std::int64_t count = 0;  // of the variable
  std::int64_t size = 0;   // elements of each
};

absl::StatusOr<Rows> FindRows(const Tensor& value, const Tensor& indices) {
  if (value.shape().rank() == 0) return InvalidArgument("params must be at least 1 dimensional");
  Rows rows;
  VIGIL_ASSIGN_OR_RETURN(rows.indices, Integers(indices));
  rows.count = value.shape().dim(0);
  rows.size = rows.count == 0 ? 0 : value.num_elements() / rows.count;
  for (std::size_t i = 0; i < rows.indices.size(); ++i) {
    if (rows.indices[i] < 0 || rows.indices[i] >= rows.count) {
      return InvalidArgument("{} = {} is not in [0, {})", ElementName("indices", indices.shape(), i), rows.indices[i],
                             rows.count);
    }
  }
  return rows;
}

absl::Status Gather(KernelContext& c) {
  if (c.attr_or<std::int64_t>("batch_dims", 0) != 0) {
    return MakeStatus(Code::kUnimplemented, fmt::format("'{}' Op: batch_dims must be 0 here", c.node().op));
  }
  VIGIL_ASSIGN_OR_RETURN(const vigil::Variable* const variable, VariableOf(c, c.node().output_types[0]));
  const Tensor value = variable->Read();
  if (!value.valid()) return UninitializedVariable(c);
  VIGIL_ASSIGN_OR_RETURN(const Rows rows, FindRows(value, c.input(1)));
  std::vector<std::int64_t> dims = c.input(1).shape().dims();
  dims.insert(dims.end(), value.shape().dims().begin() + 1, value.shape().dims().end());
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(value.dtype(), std::move(dims)));
  std::int64_t to = 0;
  for (const std::int64_t index : rows.indices) {
    CopyElements(value, index * rows.size, out, to, rows.size);
    to += rows.size;
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <typename T, typename F>
T Combined(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>) {  // wraps around
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(f(static_cast<Unsigned>(a), static_cast<Unsigned>(b)));
  } else {
    return f(a, b);
  }
}

// The updates are one for each index, or one scalar for all. (TensorFlow takes rows of another length than the
// variable's, too, and writes where they come to lie.)
absl::Status CheckUpdates(const Shape& value, const Shape& indices, const Shape& updates) {
  if (updates.rank() == 0) return absl::OkStatus();
  std::vector<std::int64_t> wanted = indices.dims();
  if (value.rank() > 0) wanted.insert(wanted.end(), value.dims().begin() + 1, value.dims().end());
  if (updates.dims() == wanted) return absl::OkStatus();
  const bool fits = updates.dims().size() == wanted.size();
  if (fits && !std::ranges::equal(updates.dims().begin(), updates.dims().begin() + indices.rank(),
                                  indices.dims().begin(), indices.dims().end())) {
    return InvalidArgument("The shape of indices ({}) must be a prefix of the shape of updates ({})",
                           indices.ToString(), updates.ToString());
  }
  return InvalidArgument(
      "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape {}, "
      "indices.shape {}, params.shape {}",
      updates.ToString(), indices.ToString(), value.ToString());
}

template <typename F>
absl::Status ScatterWith(KernelContext& c, Tensor& value, F f) {
  const Tensor& updates = c.input(2);
  VIGIL_RETURN_IF_ERROR(CheckUpdates(value.shape(), c.input(1).shape(), updates.shape()));
  VIGIL_ASSIGN_OR_RETURN(const Rows rows, FindRows(value, c.input(1)));
  const bool scalar = updates.shape().rank() == 0;
  const bool known = ForNumeric(value.dtype(), [&]<typename T>() {
    const T* from = updates.flat<T>().data();
    T* const to = value.mutable_flat<T>().data();
    for (const std::int64_t index : rows.indices) {
      for (std::int64_t i = 0; i < rows.size; ++i) {
        T& element = to[index * rows.size + i];
        element = Combined(element, *from, f);
        if (!scalar) ++from;
      }
    }
  });
  return known ? absl::OkStatus()
               : MakeStatus(Code::kUnimplemented,
                            fmt::format("'{}' Op has no kernel for {}", c.node().op, DTypeName(value.dtype())));
}

template <typename F>
absl::Status Scatter(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(vigil::Variable* const variable, VariableOf(c, c.input(2).dtype()));
  return variable->Update([&c](Tensor* value) {
    if (!value->valid()) return UninitializedVariable(c);
    return ScatterWith(c, *value, F());
  });
}

struct TakeUpdate {
  template <typename T>
  T operator()(T /*old*/, T update) const {
    return update;
  }
};

template <typename T>
absl::Status DescendResource(Tensor& value, const Tensor& alpha, const Tensor& delta) {
  return Rewrite(value, [&](const Tensor& old, Tensor& out) {
    AsMutableArray<T>(out) = AsArray<T>(old) - AsArray<T>(delta) * alpha.scalar<T>();
  });
}

absl::Status ApplyGradientDescentToResource(KernelContext& c) {
  const Tensor& alpha = c.input(1);
  const Tensor& delta = c.input(2);
  VIGIL_ASSIGN_OR_RETURN(vigil::Variable* const variable, VariableOf(c, delta.dtype()));
  return variable->Update([&](Tensor* value) {
    if (!value->valid()) return UninitializedVariable(c);
    if (alpha.shape().rank() != 0) return InvalidArgument("alpha is not a scalar: {}", alpha.shape().ToString());
    if (value->shape() != delta.shape()) {
      return InvalidArgument("var and delta do not have the same shape{} {}", value->shape().ToString(),
                             delta.shape().ToString());
    }
    return value->dtype() == DType::kFloat ? DescendResource<float>(*value, alpha, delta)
                                           : DescendResource<double>(*value, alpha, delta);
  });
}

Types HandleTypes(const Node& node, const std::vector<DType>&) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<DType>(node, "dtype"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<Shape>(node, "shape"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "container"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "shared_name"));
  VIGIL_RETURN_IF_ERROR(FromAttr("dtype")(node, {}).status());
  return std::vector<DType>{DType::kResource};
}

Types ReadTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kResource}));
  return FromAttr("dtype")(node, inputs);
}

Types BoolOfHandle(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kResource}));
  return std::vector<DType>{DType::kBool};
}

Types EffectOnHandle(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kResource}));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "validate_shape"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "ignore_lookup_error"));
  return std::vector<DType>{};
}

Types UpdateTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64}));
  return EffectOnHandle(node, inputs);
}

Types ShapeOfVariableTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kResource}));
  VIGIL_RETURN_IF_ERROR(AllowAttr<DType>(node, "out_type"));
  const auto it = node.attrs.find("out_type");
  const DType type = it == node.attrs.end() ? DType::kInt32 : std::get<DType>(it->second);
  if (type == DType::kInt32 || type == DType::kInt64) return std::vector<DType>{type};
  return UsageError(fmt::format("'{}' Op gives int32 or int64, not {}.", node.op, DTypeName(type)));
}

Types ResourceGatherTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::int64_t>(node, "batch_dims"));
  return ReadTypes(node, inputs);
}

Types ResourceScatterTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32, DType::kInt64}));
  return EffectOnHandle(node, inputs);
}

Types ApplyToResourceTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kFloat, DType::kDouble}));
  VIGIL_RETURN_IF_ERROR(RequireSameTypes(node, inputs, 1, 2));
  return EffectOnHandle(node, inputs);
}

}  // namespace

void RegisterResourceVariableOps(OpRegistry& registry) {
  registry.Register({.name = "VarHandleOp",
                     .output_types = HandleTypes,
                     .is_resource = true,
                     .resource_kind = ResourceVariable::kKind});
  const auto add = [&registry](std::string name, int inputs, OutputTypesFn types, Kernel compute) {
    registry.Register({.name = std::move(name),
                       .inputs = inputs,
                       .output_types = std::move(types),
                       .compute = std::move(compute),
                       .ref_inputs = 1});
  };
  add("ReadVariableOp", 1, ReadTypes, ReadVariableOp);
  add("VarIsInitializedOp", 1, BoolOfHandle, VarIsInitialized);
  add("AssignVariableOp", 2, EffectOnHandle, AssignVariable);
  add("AssignAddVariableOp", 2, UpdateTypes, UpdateVariable<AddInto>);
  add("AssignSubVariableOp", 2, UpdateTypes, UpdateVariable<SubtractFrom>);
  add("DestroyResourceOp", 1, EffectOnHandle, Destroy);
  add("VariableShape", 1, ShapeOfVariableTypes, ShapeOfVariable);
  add("ResourceGather", 2, ResourceGatherTypes, Gather);
  add("ResourceScatterAdd", 3, ResourceScatterTypes, Scatter<std::plus<>>);
  add("ResourceScatterSub", 3, ResourceScatterTypes, Scatter<std::minus<>>);
  add("ResourceScatterUpdate", 3, ResourceScatterTypes, Scatter<TakeUpdate>);
  add("ResourceApplyGradientDescent", 3, ApplyToResourceTypes, ApplyGradientDescentToResource);
}

}  // namespace vigil

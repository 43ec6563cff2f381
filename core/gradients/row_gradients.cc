// Gradients of ops that pick or add up rows: IndexedSlices, where rows of the first axis are picked.
#include <cstdint>
#include <utility>
#include <vector>

#include "vigil/core/gradients/families.h"

namespace vigil {
namespace {

// The shape of `shape` from `begin` on.
Output Tail(GradientCall& g, Output shape, Output begin) {
  return g.Op("Slice", {shape, g.Op("Reshape", {begin, g.Ints({1})}), g.Ints({-1})});
}

// [elements of `indices`, then the dimensions of `shape` after the first].
Output RowsShape(GradientCall& g, Output indices, Output shape) {
  const Output count = g.Op("Reshape", {g.Op("Size", {indices}), g.Ints({1})});
  return g.Op("ConcatV2", {count, Tail(g, shape, g.Int(1)), g.Int(0)});
}

Gradient PickedRowsOf(GradientCall& g, Output shape) {
  const Output values = g.Op("Reshape", {g.grad(), RowsShape(g, g.in(1), shape)});
  const Output indices = g.Op("Reshape", {g.in(1), g.Ints({-1})});
  return {.values = values, .indices = indices, .dense_shape = shape};
}

Gradient PickedRows(GradientCall& g) { return PickedRowsOf(g, g.ShapeOf(g.in(0))); }

// Along another axis, or of batches: the dimensions are taken together to [batches, before the axis, axis, behind it].
// The axis is brought behind the batches, and the rows of all batches are added up at once: those of batch i begin at i
// times the length of the axis.
Output PickedAlong(GradientCall& g) {
  const Output shape = g.ShapeOf(g.in(0));
  const Output indices_shape = g.ShapeOf(g.in(1));
  const auto concat = [&g](std::vector<Output> parts) {
    parts.push_back(g.Int(0));
    return g.Op("ConcatV2", std::move(parts));
  };
  const auto product = [&g](Output of, Output begin, Output size) {
    return g.Op("Prod", {g.Op("Slice", {of, begin, size}), g.Ints({0})}, {{"keep_dims", true}});
  };
  const auto scalar = [&g](Output one) { return g.Op("Reshape", {one, g.Ints({})}); };
  const Output given = g.Op("Reshape", {g.Cast(g.in(2), DType::kInt32), g.Ints({1})});
  const Output axis = g.Op("FloorMod", {given, g.Op("Size", {shape})});
  const auto dims = static_cast<std::int32_t>(g.attr_or<std::int64_t>("batch_dims", 0));
  const Output batch_dims = dims >= 0 ? g.Ints({dims}) : g.Op("AddV2", {g.Ints({dims}), g.Op("Size", {indices_shape})});
  const Output batches = product(shape, g.Ints({0}), batch_dims);
  const Output before = product(shape, batch_dims, g.Op("Sub", {axis, batch_dims}));
  const Output length = g.Op("Slice", {shape, axis, g.Ints({1})});
  const Output next = g.Op("AddV2", {axis, g.Int(1)});
  const Output rest = g.Ints({-1});
  const Output behind = product(shape, next, rest);
  const Output picked = product(indices_shape, batch_dims, rest);
  const Output values = g.Op("Reshape", {g.grad(), concat({batches, before, picked, behind})});
  const Output rows = g.Op("Transpose", {values, g.Ints({0, 2, 1, 3})});
  const Output number = g.Op("Range", {g.Int(0), scalar(batches), g.Int(1)});
  const Output first = g.Op("Reshape", {g.Op("Mul", {number, length}), concat({batches, g.Ints({1})})});
  const Output indices =
      g.Op("AddV2", {g.Op("Reshape", {g.in(1), concat({batches, picked})}), g.Cast(first, g.type_of(g.in(1)))});
  const Output sums = g.Op("UnsortedSegmentSum", {rows, indices, scalar(g.Op("Mul", {batches, length}))});
  const Output apart = g.Op("Reshape", {sums, concat({batches, length, before, behind})});
  return g.Op("Reshape", {g.Op("Transpose", {apart, g.Ints({0, 2, 1, 3})}), shape});
}

// Of a resource variable, whose shape its handle tells.
std::vector<Gradient> ResourceGatherGradient(GradientCall& g) {
  const Output shape = g.Op("VariableShape", {g.in(0)});
  return {PickedRowsOf(g, shape), Gradient()};
}

std::vector<Gradient> GatherGradient(GradientCall& g) { return {PickedRows(g), Gradient()}; }

std::vector<Gradient> GatherV2Gradient(GradientCall& g) {
  const Tensor* const axis = g.constant(2);
  double number = 1;
  const bool first = axis != nullptr && axis->AsNumber(&number) && number == 0;
  return {first ? PickedRows(g) : Gradient{.values = PickedAlong(g)}, Gradient(), Gradient()};
}

// Each row has the gradient of the sum that it is in; a row that was dropped (its number is negative) has none.
std::vector<Gradient> UnsortedSegmentSumGradient(GradientCall& g) {
  const Output ids = g.in(1);
  const Output zero = g.Op("ZerosLike", {ids});
  const Output rows = g.Op("GatherV2", {g.grad(), g.Op("Maximum", {ids, zero}), g.Int(0)});
  const Output taken = g.Op("GreaterEqual", {ids, zero});
  const Output shape = g.ShapeOf(g.in(0));
  const Output missing = g.Op("Sub", {g.Op("Rank", {rows}), g.Op("Rank", {ids})});
  const Output ones = g.Op("Fill", {g.Op("Reshape", {missing, g.Ints({1})}), g.Int(1)});
  const Output column = g.Op("Reshape", {taken, g.Op("ConcatV2", {g.ShapeOf(ids), ones, g.Int(0)})});
  const Output mask = g.Op("BroadcastTo", {column, shape});
  return Dense({g.Op("Select", {mask, rows, g.Op("ZerosLike", {rows})}), {}, {}});
}

// As TensorFlow's: each data input has what lies at its indices.
std::vector<Gradient> DynamicStitchGradient(GradientCall& g) {
  const int n = g.num_inputs() / 2;
  std::vector<Output> grads(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) grads.push_back(g.Op("GatherV2", {g.grad(), g.in(i), g.Int(0)}));
  return Dense(std::move(grads));
}

}  // namespace

void RegisterRowGradients(GradientRegistry& registry) {
  registry.Register("Gather", GatherGradient);
  registry.Register("GatherV2", GatherV2Gradient);
  registry.Register("ResourceGather", ResourceGatherGradient);
  registry.Register("UnsortedSegmentSum", UnsortedSegmentSumGradient);
  registry.Register("DynamicStitch", DynamicStitchGradient);
}

}  // namespace vigil

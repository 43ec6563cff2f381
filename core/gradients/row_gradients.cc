// Gradients of ops that pick or add up rows: IndexedSlices, where rows of the first axis are picked.
#include <fmt/format.h>

#include "vigil/core/base/code.h"
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

// Along another axis: that axis is brought to the front, its rows are added up, and it goes back.
Output PickedAlong(GradientCall& g) {
  const Output shape = g.ShapeOf(g.in(0));
  const Output rank = g.Op("Size", {shape});
  const Output given = g.Op("Reshape", {g.Cast(g.in(2), DType::kInt32), g.Ints({1})});
  const Output axis = g.Op("FloorMod", {given, rank});
  const Output next = g.Op("AddV2", {axis, g.Int(1)});
  const Output count = g.Op("Reshape", {g.Op("Size", {g.in(1)}), g.Ints({1})});
  const Output before = g.Op("Slice", {shape, g.Ints({0}), axis});
  const Output values = g.Op("ConcatV2", {before, count, Tail(g, shape, next), g.Int(0)});
  const auto scalar = [&g](Output one) { return g.Op("Reshape", {one, g.Ints({})}); };
  const Output first = g.Op("Range", {g.Int(0), scalar(axis), g.Int(1)});
  const Output last = g.Op("Range", {scalar(next), rank, g.Int(1)});
  const Output perm = g.Op("ConcatV2", {axis, first, last, g.Int(0)});
  const Output rows = g.Op("Transpose", {g.Op("Reshape", {g.grad(), values}), perm});
  const Output indices = g.Op("Reshape", {g.in(1), g.Ints({-1})});
  const Output length = g.Op("Reshape", {g.Op("Slice", {shape, axis, g.Ints({1})}), g.Ints({})});
  const Output sums = g.Op("UnsortedSegmentSum", {rows, indices, length});
  return g.Op("Transpose", {sums, g.Op("InvertPermutation", {perm})});
}

// Of a resource variable, whose shape its handle tells.
std::vector<Gradient> ResourceGatherGradient(GradientCall& g) {
  const Output shape = g.Op("VariableShape", {g.in(0)});
  return {PickedRowsOf(g, shape), Gradient()};
}

std::vector<Gradient> GatherGradient(GradientCall& g) { return {PickedRows(g), Gradient()}; }

std::vector<Gradient> GatherV2Gradient(GradientCall& g) {
  if (g.attr_or<std::int64_t>("batch_dims", 0) != 0) {
    g.builder().Fail(MakeStatus(
        Code::kUnimplemented, fmt::format("'{}' (GatherV2): with batch_dims it has no gradient here", g.node().name)));
    return {Gradient(), Gradient(), Gradient()};
  }
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

// Gradients of ops that move elements: what they move back.
#include "vigil/core/gradients/families.h"

namespace vigil {
namespace {

// The shape of input 0 again; further inputs are shapes and axes.
std::vector<Gradient> ReshapedBack(GradientCall& g) {
  std::vector<Output> grads(static_cast<std::size_t>(g.num_inputs()));
  grads[0] = g.Op("Reshape", {g.grad(), g.ShapeOf(g.in())});
  return Dense(std::move(grads));
}

std::vector<Gradient> TransposeGradient(GradientCall& g) {
  return Dense({g.Op("Transpose", {g.grad(), g.Op("InvertPermutation", {g.in(1)})}), {}});
}

// Every axis as two: how often it comes, and what comes; the first is summed over.
std::vector<Gradient> TileGradient(GradientCall& g) {
  const Output shape = g.ShapeOf(g.in());
  const Output times = g.Cast(g.in(1), DType::kInt32);
  const Output pairs = g.Op("Pack", {times, shape}, {{"axis", std::int64_t{0}}});
  const Output split = g.Op("Reshape", {g.Op("Transpose", {pairs, g.Ints({1, 0})}), g.Ints({-1})});
  const Output axes = g.Op("Range", {g.Int(0), g.Op("Size", {split}), g.Int(2)});
  const Output sum = g.Sum(g.Op("Reshape", {g.grad(), split}), axes);
  return Dense({g.Op("Reshape", {sum, shape}), {}});
}

std::vector<Gradient> BroadcastToGradient(GradientCall& g) {
  const Output shape = g.ShapeOf(g.in());
  const Output axes = g.Op("BroadcastGradientArgs", {g.ShapeOf(g.out()), shape});
  return Dense({g.Op("Reshape", {g.Sum(g.grad(), {axes.node, 1}, true), shape}), {}});
}

std::vector<Gradient> FillGradient(GradientCall& g) {
  const Output axes = g.Op("Range", {g.Int(0), g.Op("Rank", {g.grad()}), g.Int(1)});
  return Dense({{}, g.Sum(g.grad(), axes)});
}

std::vector<Gradient> PackGradient(GradientCall& g) {
  const auto axis = g.attr_or<std::int64_t>("axis", 0);
  const Output parts = g.Op("Unpack", {g.grad()}, {{"num", std::int64_t{g.num_inputs()}}, {"axis", axis}});
  std::vector<Output> grads;
  for (int i = 0; i < g.num_inputs(); ++i) grads.push_back({parts.node, i});
  return Dense(std::move(grads));
}

std::vector<Gradient> UnpackGradient(GradientCall& g) {
  std::vector<Output> grads;
  for (int i = 0; i < static_cast<int>(g.node().output_types.size()); ++i) {
    const Output grad = g.grad(i);
    grads.push_back(grad.node != kNoNode ? grad : g.Op("ZerosLike", {g.out(i)}));
  }
  return Dense({g.Op("Pack", grads, {{"axis", g.attr_or<std::int64_t>("axis", 0)}})});
}

std::vector<Gradient> ConcatGradient(GradientCall& g) {
  const int n = g.num_inputs() - 1;
  const Output axis = g.Op("FloorMod", {g.Cast(g.in(n), DType::kInt32), g.Op("Rank", {g.in(0)})});
  if (n == 1) return Dense({g.grad(), {}});
  std::vector<Output> inputs{axis};
  for (int i = 0; i < n; ++i) inputs.push_back(g.ShapeOf(g.in(i)));
  const Output offsets = g.Op("ConcatOffset", inputs);
  std::vector<Output> grads;
  for (int i = 0; i < n; ++i) {
    grads.push_back(g.Op("Slice", {g.grad(), {offsets.node, i}, inputs[static_cast<std::size_t>(i) + 1]}));
  }
  grads.emplace_back();
  return Dense(std::move(grads));
}

// Zeros before and after.
std::vector<Gradient> SliceGradient(GradientCall& g) {
  const DType type = g.type_of(g.in(1));
  const auto column = [&g](Output vector) { return g.Op("ExpandDims", {vector, g.Int(1)}); };
  const Attrs shape_type{{"out_type", type}};
  const Output whole = g.Op("Shape", {g.in(0)}, shape_type);
  const Output taken = g.Op("Shape", {g.out()}, shape_type);
  const Output after = g.Op("Sub", {g.Op("Sub", {whole, taken}), g.in(1)});
  const Output paddings = g.Op("ConcatV2", {column(g.in(1)), column(after), g.Int(1)});
  return Dense({g.Op("Pad", {g.grad(), paddings}), {}, {}});
}

// What was taken goes back to where it lay, and back again.
std::vector<Gradient> StridedSliceGradient(GradientCall& g) {
  const Output shape = g.Op("Shape", {g.in(0)}, {{"out_type", g.type_of(g.in(1))}});
  return Dense({g.Op("StridedSliceGrad", {shape, g.in(1), g.in(2), g.in(3), g.grad()}, g.attrs()), {}, {}, {}});
}

std::vector<Gradient> StridedSliceGradGradient(GradientCall& g) {
  return Dense({{}, {}, {}, {}, g.Op("StridedSlice", {g.grad(), g.in(1), g.in(2), g.in(3)}, g.attrs())});
}

std::vector<Gradient> PadGradient(GradientCall& g) {
  const DType type = g.type_of(g.in(1));
  const Output columns = g.Op("Unpack", {g.in(1)}, {{"num", std::int64_t{2}}, {"axis", std::int64_t{1}}});
  return Dense({g.Op("Slice", {g.grad(), columns, g.Op("Shape", {g.in(0)}, {{"out_type", type}})}), {}});
}

}  // namespace

void RegisterArrayGradients(GradientRegistry& registry) {
  registry.Register("Reshape", ReshapedBack);
  registry.Register("ExpandDims", ReshapedBack);
  registry.Register("Squeeze", ReshapedBack);
  registry.Register("Transpose", TransposeGradient);
  registry.Register("Tile", TileGradient);
  registry.Register("BroadcastTo", BroadcastToGradient);
  registry.Register("Fill", FillGradient);
  registry.Register("Pack", PackGradient);
  registry.Register("Unpack", UnpackGradient);
  registry.Register("ConcatV2", ConcatGradient);
  registry.Register("Slice", SliceGradient);
  registry.Register("StridedSlice", StridedSliceGradient);
  registry.Register("StridedSliceGrad", StridedSliceGradGradient);
  registry.Register("Pad", PadGradient);
}

}  // namespace vigil

// What TensorFlow knew of nodes before a run, and what it said of those that it refused, against what is said here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/replays/ops/cases.h"

namespace vigil::replays {
namespace {

// Of these TensorFlow may know more.
const std::map<std::string_view, std::string_view>& MayBeLessKnown() {
  static const std::map<std::string_view, std::string_view> kAll{};
  return kAll;
}

std::vector<ShapeCase> AllShapeCases() {
  std::vector<ShapeCase> all;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(VIGIL_SOURCE_DIR "/replays/ops")) {
    if (entry.path().filename().string().starts_with("shapes") && entry.path().extension() == ".jsonl") {
      files.insert(entry.path());
    }
  }
  for (const auto& file : files) std::ranges::move(ReadShapeCases(file), std::back_inserter(all));
  return all;
}

Attrs OfShape(std::string type, DType dtype, const PartialShape& shape) {
  Attrs attrs{{std::move(type), dtype}};
  if (shape.has_rank()) attrs.emplace("shape", Shape(shape.dims()));
  return attrs;
}

Tensor IntegerOf(DType dtype, std::int64_t value) {
  return dtype == DType::kInt64 ? Tensor::Scalar<std::int64_t>(value)
                                : Tensor::Scalar<std::int32_t>(static_cast<std::int32_t>(value));
}

Output InputOf(Builder& b, const ShapeCase& each, int i) {
  const ShapeCase::Input& input = each.inputs[static_cast<std::size_t>(i)];
  const std::string name = fmt::format("i{}", i);
  if (i < each.refs) {
    const bool is_handle = each.op.starts_with("Resource") ||
                           (each.op.find("Var") != std::string::npos && each.op != "IsVariableInitialized");
    return b.Op(is_handle ? "VarHandleOp" : "VariableV2", {},
                {.name = name, .attrs = OfShape("dtype", input.dtype, input.shape)});
  }
  if (input.value.has_value()) return b.Const(name, *input.value);
  if (input.of.has_value()) {
    const Output inner =
        b.Op("Placeholder", {}, {.name = name + "p", .attrs = OfShape("dtype", DType::kFloat, *input.of)});
    return b.Op("Shape", {inner}, {.name = name, .attrs = {{"out_type", input.dtype}}});
  }
  if (input.packed.has_value()) {
    std::vector<Output> parts;
    for (const std::int64_t dim : input.packed->dims()) {
      const std::string part = fmt::format("{}p{}", name, parts.size());
      parts.push_back(dim < 0 ? b.Op("Placeholder", {},
                                     {.name = part, .attrs = OfShape("dtype", input.dtype, PartialShape::Scalar())})
                              : b.Const(part, IntegerOf(input.dtype, dim)));
    }
    return b.Op("Pack", parts, {.name = name});
  }
  return b.Op("Placeholder", {}, {.name = name, .attrs = OfShape("dtype", input.dtype, input.shape)});
}

// Whether all that `less` says is said by `more`, too.
bool Agrees(const PartialShape& less, const PartialShape& more) {
  if (!less.has_rank()) return true;
  if (!more.has_rank() || less.rank() != more.rank()) return false;
  for (int i = 0; i < less.rank(); ++i) {
    if (less.dim(i) >= 0 && less.dim(i) != more.dim(i)) return false;
  }
  return true;
}

// "" if all is as recorded.
std::string PlayShapes(const ShapeCase& each) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  std::vector<Output> inputs;
  for (int i = 0; i < static_cast<int>(each.inputs.size()); ++i) inputs.push_back(InputOf(b, each, i));
  if (!b.status().ok()) return fmt::format("its inputs fail: {}", MessageOf(b.status()));
  const Output out = b.Op(each.op, inputs, {.name = "node", .attrs = each.attrs});
  if (!b.status().ok()) {
    if (CodeOf(b.status()) != Code::kInvalidArgument) return fmt::format("is {}", CodeName(CodeOf(b.status())));
    if (MessageOf(b.status()) == each.error) return "";
    return fmt::format("says\n  {}\nnot\n  {}", MessageOf(b.status()), each.error);
  }
  if (!each.error.empty()) return fmt::format("is not refused: {}", each.error);
  for (std::size_t i = 0; i < each.shapes.size(); ++i) {
    const PartialShape& ours = graph.ShapeOf({out.node, static_cast<std::int32_t>(i)});
    if (ours == each.shapes[i]) continue;
    if (MayBeLessKnown().contains(each.op) && Agrees(ours, each.shapes[i])) continue;
    return fmt::format("output {} is {}, not {}", i, ours.ToString(), each.shapes[i].ToString());
  }
  return "";
}

TEST(ShapeCases, AreAsTensorFlowsWere) {
  int differ = 0, refused = 0;
  std::set<std::string> ops;
  const std::vector<ShapeCase> all = AllShapeCases();
  for (const ShapeCase& each : all) {
    refused += each.error.empty() ? 0 : 1;
    ops.insert(each.op);
    const std::string differs = PlayShapes(each);
    if (differs.empty()) continue;
    ++differ;
    ADD_FAILURE() << each.where << " " << each.op << " " << differs;
  }
  RecordProperty("played", static_cast<int>(all.size()));
  RecordProperty("differ", differ);
  RecordProperty("refused", refused);
  EXPECT_GT(all.size(), 700U);
  EXPECT_GT(refused, 150);
  EXPECT_GT(ops.size(), 120U);
}

}  // namespace
}  // namespace vigil::replays

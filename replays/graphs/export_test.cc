// What is exported of a graph of TensorFlow is that graph: the same nodes with the same inputs and attributes. (An
// attribute that says nothing, an empty list or an unknown shape, may be missing.)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "vigil/core/graph/control_flow.pb.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/ops/meta_graph.h"
#include "vigil/core/ops/ops.h"
#include "vigil/replays/graphs/graph_player.h"
#include "vigil/replays/graphs/testing.h"

namespace vigil {
namespace {

bool SaysNothing(const proto::AttrValue& value) {
  return (value.has_shape() && value.shape().unknown_rank()) || value.has_list();
}

std::string NodesDiffer(const proto::NodeDef& theirs, const proto::NodeDef& ours) {
  std::string out;
  if (theirs.op() != ours.op()) out += fmt::format("{} is a {}\n", theirs.name(), ours.op());
  if (!std::ranges::equal(theirs.input(), ours.input())) out += fmt::format("{}: other inputs\n", theirs.name());
  for (const auto& [name, value] : theirs.attr()) {
    const auto mine = ours.attr().find(name);
    const bool missing = mine == ours.attr().end();
    if (missing ? SaysNothing(value) : mine->second.ShortDebugString() == value.ShortDebugString()) continue;
    if (!missing && value.has_tensor()) continue;  // written otherwise; the value is compared by running it
    if (!missing && SaysNothing(value)) continue;
    out += fmt::format("{} ({}): {} is {}, not {}\n", theirs.name(), theirs.op(), name,
                       missing ? "missing" : mine->second.ShortDebugString(), value.ShortDebugString());
  }
  return out;
}

class ExportTest : public testing::TestWithParam<const char*> {};

TEST_P(ExportTest, GivesTheGraphThatCameIn) {
  const absl::StatusOr<RecordedPlay> play = ReadNamedPlay(GetParam());
  ASSERT_TRUE(play.ok()) << play.status();
  Graph graph(BuiltinOps());
  const absl::Status imported = ImportGraphDef(play->graph.graph_def(), graph);
  ASSERT_TRUE(imported.ok()) << imported;
  const proto::GraphDef exported = ToGraphDef(graph);
  std::map<std::string, const proto::NodeDef*> ours;
  for (const proto::NodeDef& node : exported.node()) ours.emplace(node.name(), &node);
  ASSERT_EQ(exported.node_size(), play->graph.graph_def().node_size());
  std::string differences;
  for (const proto::NodeDef& node : play->graph.graph_def().node()) {
    differences += NodesDiffer(node, *ours.at(node.name()));
  }
  EXPECT_EQ(differences, "");
}

// What TensorFlow needs for gradients through branches.
TEST(ExportContextsTest, ThoseOfBranchesAreThoseThatCameIn) {
  for (const char* const name : {"linear_cond", "branches", "gradients_1_0", "gradients_1_3"}) {
    const absl::StatusOr<RecordedPlay> play = ReadNamedPlay(name);
    ASSERT_TRUE(play.ok()) << play.status();
    Graph graph(BuiltinOps());
    ASSERT_TRUE(ImportMetaGraph(play->graph, graph).ok());
    const absl::StatusOr<proto::MetaGraphDef> exported = ExportMetaGraph(graph);
    ASSERT_TRUE(exported.ok()) << exported.status();
    const auto texts = [](const proto::MetaGraphDef& def) {
      std::vector<std::string> all;
      for (const std::string& item : def.collection_def().at("cond_context").bytes_list().value()) {
        proto::CondContextDef context;
        EXPECT_TRUE(context.ParseFromString(item));
        all.push_back(context.DebugString());
      }
      return all;
    };
    EXPECT_EQ(texts(*exported), texts(play->graph)) << name;
    EXPECT_FALSE(texts(*exported).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExportTest,
                         testing::Values("linear_ref", "linear_resource", "linear_cond", "linear_schedule",
                                         "queue_pipeline", "shuffled_queue", "iterator_batches", "iterator_shuffled",
                                         "iterator_range", "parsed_csv", "parsed_examples", "slices", "resource_ops",
                                         "branches", "random_numbers", "drawn_theirs_3_1", "drawn_theirs_3_5",
                                         "drawn_theirs_3_6"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace vigil

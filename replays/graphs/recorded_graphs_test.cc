// Graphs of TensorFlow, imported and run: what they give is what TensorFlow got.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "vigil/core/ops/ops.h"
#include "vigil/core/ops/random/seeds.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/replays/graphs/graph_player.h"
#include "vigil/replays/graphs/own_gradients.h"
#include "vigil/replays/graphs/testing.h"

namespace vigil {
namespace {

class RecordedGraphs : public testing::Test {
 protected:
  std::string Play(const std::string& name, double tolerance) {
    const absl::StatusOr<RecordedPlay> play = ReadNamedPlay(name);
    if (!play.ok()) return play.status().ToString();
    return Differences(fake_.env(), *play, tolerance);
  }
  fakes::FakeEnv fake_;
};

// Uniform numbers, integers and orders to the bit. Logarithm and sine are the C library's.
TEST_F(RecordedGraphs, RandomNumbers) { EXPECT_EQ(Play("random_numbers", 0), ""); }

// Programs of TensorFlow 1, initialised and trained for 20 steps. The drawn ones are of interop/: dense layers,
// convolutions, embeddings, partitioned variables, averages; "ours" were made here and run by TensorFlow.
class RecordedPrograms : public RecordedGraphs, public testing::WithParamInterface<const char*> {};

TEST_P(RecordedPrograms, GiveWhatTensorFlowGot) { EXPECT_EQ(Play(GetParam(), 1e-5), ""); }

INSTANTIATE_TEST_SUITE_P(All, RecordedPrograms,
                         testing::Values("linear_ref", "linear_resource", "linear_cond", "linear_schedule",
                                         "queue_pipeline", "shuffled_queue", "iterator_batches", "iterator_shuffled",
                                         "iterator_range", "parsed_csv", "parsed_examples", "slices", "resource_ops",
                                         "branches", "drawn_theirs_3_1", "drawn_theirs_3_5", "drawn_theirs_3_6",
                                         "drawn_ours_3_1", "drawn_ours_3_3", "drawn_ours_3_4", "drawn_ours_3_5"),
                         [](const auto& each) { return std::string(each.param); });

// Nested branches over references and resources, whichever are taken: TensorFlow's gradients, run here, and ours.
class RecordedGradients : public RecordedGraphs, public testing::WithParamInterface<const char*> {};

TEST_P(RecordedGradients, AreThoseThatAreMadeHere) {
  EXPECT_EQ(Play(GetParam(), 1e-5), "");
  const absl::StatusOr<RecordedPlay> play = WithOwnGradients(*ReadNamedPlay(GetParam()));
  ASSERT_TRUE(play.ok()) << play.status();
  EXPECT_EQ(Differences(fake_.env(), *play, 1e-5), "");
}

INSTANTIATE_TEST_SUITE_P(All, RecordedGradients,
                         testing::Values("gradients_1_0", "gradients_1_1", "gradients_1_2", "gradients_1_3",
                                         "gradients_1_4", "gradients_1_5"),
                         [](const auto& each) { return std::string(each.param); });

TEST_F(RecordedGraphs, WhatCannotBeRunIsToldAtOnce) {
  EXPECT_EQ(
      Play("refused", 0),
      "not imported: NOT_FOUND: The GraphDef has 9 nodes that cannot be run here. Op types not registered: Betainc "
      "('beta'), PaddingFIFOQueueV2 ('padding'), Roll ('roll', 'roll_again'). There are no loops: Enter "
      "('while/Enter'), Exit ('while/Exit'), LoopCond ('while/LoopCond'), NextIteration ('while/NextIteration'). "
      "There are no calls of functions: PartitionedCall ('PartitionedCall').\n");
}

TEST_F(RecordedGraphs, ADatasetThatIsAFunctionIsRefused) {
  EXPECT_EQ(Play("iterator_one_shot", 0),
            "not imported: UNIMPLEMENTED: Node 'OneShotIterator' (OneShotIterator): attribute 'dataset_factory': There "
            "are no functions here.\n");
}

TEST_F(RecordedGraphs, ADifferenceIsSeen) {
  RecordedPlay play = *ReadNamedPlay("random_numbers");
  std::string& bytes = *play.runs[0].response.mutable_tensor(12)->mutable_tensor()->mutable_tensor_content();
  bytes[0] = static_cast<char>(bytes[0] ^ 1);
  play.runs[1].response.set_status_code(3);
  const std::string differences = Differences(fake_.env(), play, 0);
  EXPECT_EQ(differences.substr(0, 25), "run 1: RandomUniform_3:0:") << differences;
  EXPECT_NE(differences.find("run 2: OK, not code 3"), std::string::npos) << differences;
}

// Which seeds ops get of the graph's and their own.
TEST_F(RecordedGraphs, Seeds) {
  std::vector<Seeds> theirs;
  const RecordedPlay play = *ReadNamedPlay("random_seeds");
  for (const auto& node : play.graph.graph_def().node()) {
    if (node.op() == "RandomUniform") theirs.push_back({node.attr().at("seed").i(), node.attr().at("seed2").i()});
  }
  std::vector<Seeds> ours;
  Graph graph(BuiltinOps());
  const std::optional<std::int64_t> none;
  for (const std::optional<std::int64_t> of_graph : {none, std::optional<std::int64_t>(7), {0}, {-1}}) {
    if (of_graph.has_value()) SetRandomSeed(graph, *of_graph);
    for (const std::optional<std::int64_t> of_op :
         {none, std::optional<std::int64_t>(5), {0}, none, {-3}, {(std::int64_t{1} << 31) + 4}}) {
      const Seeds seeds = GetSeed(graph, of_op);
      if (of_graph.has_value() || of_op.has_value()) {
        ours.push_back(seeds);
      } else {
        EXPECT_EQ(seeds, Seeds());
      }
    }
  }
  EXPECT_EQ(ours, theirs);
}

}  // namespace
}  // namespace vigil

// DecodeCSV and the ops that parse Examples. What TensorFlow gives for random rows is in replays/ops.
#include <gtest/gtest.h>

#include <optional>

#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/io/example.pb.h"
#include "vigil/core/ops/data/example_reader.h"
#include "vigil/core/ops/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using Texts = std::vector<std::string>;
using TypeList = std::vector<DType>;
using ShapeList = std::vector<Shape>;

class ParsingOpsTest : public OpsTest<fakes::FakeEnv> {
 protected:
  // Fields of one float with default 9 and one required string.
  std::string Csv(Texts records, Attrs attrs = {}) {
    const Output node = b_.Op("DecodeCSV", {Vec(records), Scalar<float>(9), Vec(Texts{})}, {.attrs = std::move(attrs)});
    const std::string first = Show(node);
    return first.starts_with("float") ? first + "; " + Show({node.node, 1}) : first;
  }
  std::string All(Output node, int outputs) {
    std::string all = Show(node);
    for (int i = 1; i < outputs; ++i) all += "; " + Show({node.node, i});
    return all;
  }
  Output Empty(DType type) { return b_.Const("none", Tensor(type, Shape({0}))); }

  // A feature "f" with floats, "i" with integers, "s" with strings.
  static std::string Row(std::vector<float> floats, std::vector<std::int64_t> integers, Texts strings) {
    proto::Example example;
    auto& features = *example.mutable_features()->mutable_feature();
    for (const float each : floats) features["f"].mutable_float_list()->add_value(each);
    for (const std::int64_t each : integers) features["i"].mutable_int64_list()->add_value(each);
    for (const std::string& each : strings) features["s"].mutable_bytes_list()->add_value(each);
    return example.SerializeAsString();
  }
};

TEST_F(ParsingOpsTest, CsvRecordsBecomeColumns) {
  EXPECT_EQ(Csv({"1.5,a", ",\"b,\"\"c\"\"\""}), "float [2] 1.5 9; string [2] a b,\"c\"");
  EXPECT_EQ(Csv({"NA;x"}, {{"field_delim", std::string(";")}, {"na_value", std::string("NA")}}),
            "float [1] 9; string [1] x");
  EXPECT_EQ(Csv({"0,1,\"2,x"}, {{"select_cols", std::vector<std::int64_t>{0, 1}}}), "float [1] 0; string [1] 1")
      << "what nobody wants is not looked at";
}

TEST_F(ParsingOpsTest, CsvThatIsNone) {
  EXPECT_EQ(Csv({"1,x", "2,"}), "INVALID_ARGUMENT: Field 1 is required but missing in record 1!");
  EXPECT_EQ(Csv({"one,x"}), "INVALID_ARGUMENT: Field 0 in record 0 is not a valid float: one");
  EXPECT_EQ(Csv({"1"}), "INVALID_ARGUMENT: Expect 2 fields but have 1 in record 0");
  EXPECT_EQ(Csv({"1,\"x"}), "INVALID_ARGUMENT: Quoted field has to end with quote followed by delim or end");
  EXPECT_EQ(Csv({"1,x"}, {{"field_delim", std::string("")}}), "INVALID_ARGUMENT: field_delim should be only 1 char");
  EXPECT_EQ(Show(b_.Op("DecodeCSV", {Vec(Texts{"1"}), Vec<bool>({true})})),
            "USAGE: Input 1 of 'DecodeCSV' Op has type bool, not float or double or int32 or int64 or string.");
}

TEST_F(ParsingOpsTest, ExamplesBecomeDenseAndSparseFeatures) {
  const Texts rows = {Row({1, 2}, {5, 6, 7}, {"a"}), Row({3}, {}, {}), Row({}, {8}, {"b"})};
  const Output node = b_.Op("ParseExampleV2",
                            {Vec(rows), Vec(Texts{}), Vec(Texts{"i"}), Vec(Texts{"f", "s"}), Vec(Texts{}),
                             Scalar<float>(0.5F), Scalar<std::string>("none")},
                            {.attrs = {{"num_sparse", std::int64_t{1}},
                                       {"sparse_types", TypeList{DType::kInt64}},
                                       {"dense_shapes", ShapeList{Shape({-1}), Shape()}}}});
  EXPECT_EQ(All(node, 5),
            "int64 [4,2] 0 0 0 1 0 2 2 0; int64 [4] 5 6 7 8; int64 [2] 3 3; float [3,2] 1 2 3 0.5 0.5 0.5; "
            "string [3] a none b");
  const Output alone = b_.Op("ParseSingleExample", {Scalar(rows[0]), Empty(DType::kString)},
                             {.attrs = {{"num_sparse", std::int64_t{1}},
                                        {"sparse_keys", Texts{"i"}},
                                        {"dense_keys", Texts{"s"}},
                                        {"sparse_types", TypeList{DType::kInt64}},
                                        {"dense_shapes", ShapeList{Shape({1})}}}});
  EXPECT_EQ(All(alone, 4), "int64 [3,1] 0 1 2; int64 [3] 5 6 7; int64 [1] 3; string [1] a");
}

TEST_F(ParsingOpsTest, ExamplesThatDoNotFitAreNamed) {
  const auto parse = [&](std::string row, Shape shape) {
    return Show(b_.Op(
        "ParseExample",
        {Vec(Texts{Row({1, 2}, {}, {}), std::move(row)}), Vec(Texts{"one", "two"}), Scalar<std::string>("f"),
         Empty(DType::kFloat)},
        {.attrs = {{"Nsparse", std::int64_t{0}}, {"Ndense", std::int64_t{1}}, {"dense_shapes", ShapeList{shape}}}}));
  };
  EXPECT_EQ(parse(Row({3, 4}, {}, {}), Shape({2})), "float [2,2] 1 2 3 4");
  EXPECT_EQ(parse(Row({}, {1}, {}), Shape({2})),
            "INVALID_ARGUMENT: Name: two, Feature: f (data type: float) is required but could not be found.");
  EXPECT_EQ(parse(Row({3}, {1}, {}), Shape({2})),
            "INVALID_ARGUMENT: Name: two, Key: f, Index: 1.  Number of float values != expected.  Values size: 1 but "
            "output shape: [2]");
  EXPECT_EQ(parse("\x0a\x05", Shape({2})).substr(0, 56), "INVALID_ARGUMENT: Could not parse example input, value: ");
  EXPECT_EQ(parse("", Shape({2, -1})),
            "USAGE: 'ParseExample' Op cannot have a dense shape [2,?]: only its first dimension may be open.");
}

TEST_F(ParsingOpsTest, RaggedFeaturesAreRefusedByName) {
  EXPECT_EQ(Show(b_.Op("ParseExampleV2", {Vec(Texts{}), Vec(Texts{}), Vec(Texts{}), Vec(Texts{}), Vec(Texts{"r"})},
                       {.attrs = {{"num_sparse", std::int64_t{0}},
                                  {"ragged_value_types", TypeList{DType::kFloat}},
                                  {"ragged_split_types", TypeList{DType::kInt64}}}})),
            "UNIMPLEMENTED: 'ParseExampleV2' Op: there are no ragged features here.");
}

// What TensorFlow wants to see of a node that has no sparse feature: lists that are empty.
TEST_F(ParsingOpsTest, ListsThatAreEmptyAreWritten) {
  b_.Op(
      "ParseSingleExample", {Scalar<std::string>(""), Scalar<float>(1)},
      {.name = "parse",
       .attrs = {
           {"num_sparse", std::int64_t{0}}, {"dense_keys", Texts{"x"}}, {"dense_shapes", ShapeList{Shape({-1, 2})}}}});
  ASSERT_TRUE(b_.status().ok()) << b_.status();
  const proto::GraphDef def = ToGraphDef(graph_);
  const auto& attrs = def.node(def.node_size() - 1).attr();
  EXPECT_TRUE(attrs.at("sparse_keys").has_list());
  EXPECT_TRUE(attrs.at("sparse_types").has_list());
  EXPECT_EQ(attrs.at("dense_keys").list().s(0), "x");
  Graph again(BuiltinOps());
  ASSERT_TRUE(ImportGraphDef(def, again).ok());
  EXPECT_EQ(again.node(*again.Find("parse")).attrs, graph_.node(*graph_.Find("parse")).attrs)
      << "the open dimension is kept, empty lists are not";
}

TEST(ExampleReader, WhatProtobufWritesIsReadAndTheLastOfANameCounts) {
  const std::string row = [] {
    proto::Example example;
    (*example.mutable_features()->mutable_feature())["x"].mutable_int64_list()->add_value(-5);
    return example.SerializeAsString();
  }();
  const std::string twice = row + row;  // read features point into it
  const auto features = ReadExample(twice);
  ASSERT_TRUE(features.has_value());
  ASSERT_EQ(features->size(), 2U);
  std::vector<std::int64_t> values;
  ASSERT_TRUE(ReadList((*features)[1].list, &values));
  EXPECT_EQ(values, std::vector<std::int64_t>{-5});
  for (std::size_t size = 1; size < row.size(); ++size) {
    EXPECT_FALSE(ReadExample(std::string_view(row).substr(0, size)).has_value()) << size;
  }
}

}  // namespace
}  // namespace vigil

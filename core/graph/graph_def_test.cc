#include "vigil/core/graph/graph_def.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/graph/node_def.pb.h"
#include "vigil/core/tensor/proto_util.h"
#include "vigil/core/tensor/tensor.pb.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::HasSubstr;
using Kind = ImpliedAttr::Kind;

absl::Status DoNothing(KernelContext&) { return absl::OkStatus(); }

OpRegistry SomeOps() {
  OpRegistry registry;
  registry.Register({.name = "NoOp"});
  registry.Register({.name = "Number", .output_types = FromAttr("dtype"), .compute = DoNothing});
  registry.Register({.name = "Two", .output_types = Always({DType::kInt64, DType::kFloat}), .compute = DoNothing});
  registry.Register({.name = "Pass", .inputs = 1, .output_types = SameAsInput(0), .compute = DoNothing});
  registry.Register({.name = "Join", .inputs = -1, .output_types = SameAsInput(0), .compute = DoNothing});
  registry.Imply("Pass", {{"T", Kind::kInputType}, {"shape", Kind::kUnknownShape}});
  registry.Imply("Join", {{"N", Kind::kInputCount, 1},
                          {"Tin", Kind::kInputTypes, 1},
                          {"Tout", Kind::kOutputTypes},
                          {"first", Kind::kOutputType},
                          {"shapes", Kind::kUnknownShapes}});
  return registry;
}

class GraphDefTest : public testing::Test {
 protected:
  GraphDefTest() : ops_(SomeOps()), graph_(ops_) {}

  static proto::GraphDef Parse(const std::string& text) {
    proto::GraphDef def;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &def)) << text;
    return def;
  }
  // What the import of that says; it must leave the graph as it is.
  std::string ErrorOf(const std::string& text) {
    const int before = graph_.size();
    const absl::Status status = ImportGraphDef(Parse(text), graph_);
    EXPECT_EQ(graph_.size(), before);
    return std::string(CodeName(CodeOf(status))) + ": " + std::string(MessageOf(status));
  }
  std::string TextOf(const Graph& graph) { return ToGraphDef(graph).DebugString(); }

  const OpRegistry ops_;
  Graph graph_;
};

TEST_F(GraphDefTest, WritesNodesAsTensorFlowDoes) {
  Builder b(graph_);
  b.device = "/job:ps";
  const Output two = b.Op("Two", {}, {.name = "a/two"});
  b.device = "";
  b.Op("Join", {two, {two.node, 1}}, {.name = "join", .control_inputs = {two.node}});
  ASSERT_TRUE(b.status().ok()) << b.status();
  EXPECT_EQ(TextOf(graph_), Parse(R"(
    node { name: "a/two" op: "Two" device: "/job:ps" }
    node { name: "join" op: "Join" input: "a/two" input: "a/two:1" input: "^a/two"
      attr { key: "N" value { i: 1 } }
      attr { key: "Tin" value { list { type: DT_FLOAT } } }
      attr { key: "Tout" value { list { type: DT_INT64 } } }
      attr { key: "first" value { type: DT_INT64 } }
      attr { key: "shapes" value { list { shape { unknown_rank: true } } } } }
    versions { producer: 2474 })")
                                .DebugString());
}

TEST_F(GraphDefTest, EveryKindOfAttributeComesBack) {
  const Attrs attrs{{"bool", true},
                    {"bools", std::vector<bool>{true, false}},
                    {"double", 0.5},
                    {"doubles", std::vector<double>{0.5, 2}},
                    {"dtype", DType::kString},
                    {"int", std::int64_t{-3}},
                    {"ints", std::vector<std::int64_t>{1, -1}},
                    {"shape", Shape({2, 3})},
                    {"shapes", std::vector<Shape>{Shape(), Shape({4}), Shape({-1, 2})}},
                    {"string", std::string("s\0t", 3)},
                    {"strings", std::vector<std::string>{"", "x"}},
                    {"tensor", Tensor::Vector<std::int32_t>({1, 2})},
                    {"types", std::vector<DType>{DType::kBool, DType::kResource}}};
  Builder b(graph_);
  b.Op("Number", {}, {.name = "n", .attrs = attrs});
  ASSERT_TRUE(b.status().ok());
  Graph other(ops_);
  ASSERT_TRUE(ImportGraphDef(ToGraphDef(graph_), other).ok());
  EXPECT_EQ(other.node(0).attrs, attrs);
  EXPECT_EQ(*SerializeDeterministically(ToGraphDef(other)), *SerializeDeterministically(ToGraphDef(graph_)));
}

TEST_F(GraphDefTest, WhatFollowsFromTheNodeIsNotKept) {
  ASSERT_TRUE(ImportGraphDef(Parse(R"(
    node { name: "n" op: "Number" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "e" value { list {} } } }
    node { name: "p" op: "Pass" input: "n" attr { key: "T" value { type: DT_INT32 } }
      attr { key: "shape" value { shape { unknown_rank: true } } } attr { key: "_hint" value { list { tensor {} } } } }
    node { name: "q" op: "Pass" input: "n:0" attr { key: "shape" value { shape { dim { size: 2 } } } } }
    node { name: "r" op: "Pass" input: "n" attr { key: "shape" value { shape { dim { size: -1 } dim { size: 2 } } } } })"),
                             graph_)
                  .ok());
  EXPECT_EQ(graph_.node(0).attrs, (Attrs{{"dtype", DType::kInt32}}));
  EXPECT_EQ(graph_.node(1).attrs, Attrs());
  EXPECT_EQ(graph_.node(2).attrs, (Attrs{{"shape", Shape({2})}}));
  EXPECT_EQ(graph_.node(3).attrs, (Attrs{{"shape", Shape({-1, 2})}}));
  EXPECT_THAT(ToGraphDef(graph_).node(3).ShortDebugString(), HasSubstr("shape { dim { size: -1 } dim { size: 2 } }"));
  EXPECT_THAT(ToGraphDef(graph_).node(2).ShortDebugString(), HasSubstr("shape { dim { size: 2 } }"));
}

TEST_F(GraphDefTest, NodesMayStandInAnyOrder) {
  ASSERT_TRUE(ImportGraphDef(Parse(R"(
    node { name: "c" op: "NoOp" input: "^b" }
    node { name: "b" op: "Pass" input: "a" input: "^z" }
    node { name: "a" op: "Number" attr { key: "dtype" value { type: DT_INT32 } } }
    node { name: "z" op: "NoOp" })"),
                             graph_)
                  .ok());
  std::vector<std::string> names;
  for (NodeId id = 0; id < graph_.size(); ++id) names.push_back(graph_.node(id).name);
  EXPECT_THAT(names, testing::ElementsAre("a", "z", "b", "c"));
  EXPECT_THAT(graph_.node(2).control_inputs, testing::ElementsAre(1));
}

TEST_F(GraphDefTest, NodesMayGetAScopeAndLoseTheirDevices) {
  const proto::GraphDef def = Parse(R"(node { name: "x" op: "NoOp" device: "/job:ps" }
                                       node { name: "y" op: "NoOp" input: "^x" device: "/job:ps" })");
  ASSERT_TRUE(ImportGraphDef(def, graph_).ok());
  ASSERT_TRUE(ImportGraphDef(def, graph_, {.scope = "a/b", .clear_devices = true}).ok());
  EXPECT_EQ(graph_.node(1).device, "/job:ps");
  EXPECT_EQ(graph_.node(3).name, "a/b/y");
  EXPECT_EQ(graph_.node(3).device, "");
  EXPECT_THAT(graph_.node(3).control_inputs, testing::ElementsAre(2));
  EXPECT_EQ(MessageOf(ImportGraphDef(def, graph_, {.scope = "a/b"})), "Node name 'a/b/x' already exists in the Graph.");
}

TEST_F(GraphDefTest, RefusesWhatItCannotRead) {
  Builder b(graph_);
  b.Op("NoOp", {}, {.name = "taken"});
  EXPECT_EQ(ErrorOf(R"(node { name: "taken" op: "NoOp" })"),
            "INVALID_ARGUMENT: Node name 'taken' already exists in the Graph.");
  EXPECT_EQ(ErrorOf(R"(node { name: "x" op: "NoOp" } node { name: "x" op: "NoOp" })"),
            "INVALID_ARGUMENT: The GraphDef has two nodes named 'x'.");
  EXPECT_EQ(ErrorOf(R"(node { name: "x" op: "NoOp" } node { op: "NoOp" })"),
            "INVALID_ARGUMENT: Node 1 of the GraphDef has no name.");
  EXPECT_EQ(ErrorOf(R"(node { name: "ok" op: "NoOp" } node { name: "x" op: "Nope" })"),
            "NOT_FOUND: Node 'x' (Nope): Op type not registered 'Nope'");
  EXPECT_EQ(ErrorOf(R"(node { name: "x" op: "Pass" input: "y" })"),
            "INVALID_ARGUMENT: Node 'x' (Pass): its input 'y' is not in the GraphDef.");
  EXPECT_EQ(ErrorOf(R"(node { name: "x" op: "Pass" input: "y:one" })"),
            "INVALID_ARGUMENT: Node 'x' (Pass): 'y:one' names no output of a node.");
  EXPECT_EQ(ErrorOf(R"(node { name: "x" op: "Two" } node { name: "y" op: "Pass" input: "x:2" })"),
            "USAGE: Node 'y' (Pass): Input 0 of 'y' (Pass) is not an output of a node of this graph.");
  EXPECT_EQ(ErrorOf(R"(node { name: "x" op: "Pass" input: "y" } node { name: "y" op: "Pass" input: "x" })"),
            "INVALID_ARGUMENT: Node 'x' (Pass): it depends on itself, or on a cycle.");
  EXPECT_EQ(ErrorOf(R"(node { name: "x" op: "Number" attr { key: "dtype" value { type: DT_COMPLEX64 } } })"),
            "UNIMPLEMENTED: Node 'x' (Number): attribute 'dtype': There are no tensors of type DT_COMPLEX64 here.");
  EXPECT_EQ(ErrorOf(R"(node { name: "x" op: "Two" }
                       node { name: "y" op: "Pass" input: "x" attr { key: "T" value { type: DT_FLOAT } } })"),
            "INVALID_ARGUMENT: Node 'y' (Pass): attribute 'T' is type: DT_FLOAT, but must be type: DT_INT64");
  EXPECT_EQ(ErrorOf("versions { min_consumer: 100000 }"),
            "INVALID_ARGUMENT: The GraphDef is for readers of version 100000 or later; this is version 2474.");
  graph_.Finalize();
  EXPECT_EQ(ErrorOf(""), "USAGE: Graph is finalized and cannot be modified.");
}

TEST_F(GraphDefTest, AnImportThatFailsLeavesNoNames) {
  Builder b(graph_);
  const Output kept = b.Op("Two", {}, {.name = "kept"});
  EXPECT_EQ(ErrorOf(R"(node { name: "ok" op: "Two" } node { name: "x" op: "Pass" input: "ok:2" })"),
            "USAGE: Node 'x' (Pass): Input 0 of 'x' (Pass) is not an output of a node of this graph.");
  EXPECT_FALSE(graph_.Find("ok").has_value());
  EXPECT_EQ(graph_.node(b.Op("Pass", {kept}, {.name = "ok"}).node).name, "ok");
}

TEST_F(GraphDefTest, BytesAreMadeOncePerSize) {
  Builder b(graph_);
  b.Op("Two", {}, {.name = "two"});
  const absl::StatusOr<const std::string*> bytes = GraphDefBytes(graph_);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(**bytes, *SerializeDeterministically(ToGraphDef(graph_)));
  EXPECT_EQ(*GraphDefBytes(graph_), *bytes);
  b.Op("NoOp", {}, {.name = "more"});
  const absl::StatusOr<const std::string*> grown = GraphDefBytes(graph_);
  ASSERT_TRUE(grown.ok());
  EXPECT_EQ(**grown, *SerializeDeterministically(ToGraphDef(graph_)));
}

TEST_F(GraphDefTest, RefusesFunctions) {
  // AttrValue.func is field 10.
  proto::GraphDef def = Parse(R"(node { name: "x" op: "NoOp" attr { key: "f" value { } } })");
  ASSERT_TRUE((*def.mutable_node(0)->mutable_attr())["f"].ParseFromString(std::string("\x52\x00", 2)));
  EXPECT_EQ(CodeOf(ImportGraphDef(def, graph_)), Code::kUnimplemented);
}

TEST_F(GraphDefTest, TakesNoMemoryThatTheMessageDoesNotAccountFor) {
  // Each of the tensors alone would be let through.
  proto::GraphDef def;
  for (int i = 0; i < 3; ++i) {
    proto::NodeDef& node = *def.add_node();
    node.set_name(fmt::format("n{}", i));
    node.set_op("NoOp");
    proto::TensorProto& tensor = *(*node.mutable_attr())["value"].mutable_tensor();
    tensor.set_dtype(proto::DT_FLOAT);
    tensor.mutable_tensor_shape()->add_dim()->set_size(std::int64_t{1} << 25);  // 128 MiB
  }
  const absl::Status status = ImportGraphDef(def, graph_);
  EXPECT_EQ(CodeOf(status), Code::kInvalidArgument);
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("Node 'n2' (NoOp): attribute 'value': A tensor of type float"));
  EXPECT_EQ(graph_.size(), 0);
}

TEST_F(GraphDefTest, TextIsWrittenAndRead) {
  fakes::FakeEnv fake;
  Builder b(graph_);
  b.Op("Number", {}, {.name = "n", .attrs = {{"dtype", DType::kInt32}, {"a", std::int64_t{1}}, {"z", true}}});
  const absl::StatusOr<std::string> path = WriteGraphText(fake.env(), graph_, "/logs/run");
  ASSERT_TRUE(path.ok());
  EXPECT_EQ(*path, "/logs/run/graph.pbtxt");
  const absl::StatusOr<proto::GraphDef> read = ReadGraphText(fake.env(), *path);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->DebugString(), TextOf(graph_));
  EXPECT_EQ(fake.files.Contents().size(), 1u);

  fake.files.FailOnce(fakes::FileOp::kRename, 1, MakeStatus(Code::kResourceExhausted, "no space"));
  EXPECT_EQ(CodeOf(WriteGraphText(fake.env(), graph_, "/logs/run").status()), Code::kResourceExhausted);
  EXPECT_EQ(CodeOf(ReadGraphText(fake.env(), "/missing").status()), Code::kNotFound);
  ASSERT_TRUE(WriteAtomically(fake.files, "/bad", "node {\n  name: 7 }").ok());
  EXPECT_THAT(std::string(MessageOf(ReadGraphText(fake.env(), "/bad").status())), HasSubstr("/bad:2:9: "));
}

}  // namespace
}  // namespace vigil

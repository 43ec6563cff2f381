#include "vigil/core/ops/meta_graph.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/control_flow.pb.h"
#include "vigil/core/graph/meta_graph.pb.h"
#include "vigil/core/graph/variable.pb.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/tensor/proto_util.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr CollectionKey<Output> kMine{"mine"};
constexpr CollectionKey<std::string> kWords{"words"};
constexpr CollectionKey<int> kSecret{"vigil/secret"};

// A graph with a variable of each collection, an op without value, and some collections.
class MetaGraphTest : public testing::Test {
 protected:
  MetaGraphTest() : graph_(BuiltinOps()) {
    Builder b(graph_);
    b.device = "/job:ps";
    const Output zero = b.Const("zero", Tensor::Scalar<std::int64_t>(0));
    step_ = ops::MakeVariable(b, "step", zero);
    local_ = ops::MakeVariable(b, "local", zero, kLocalVariables);
    const Output init = ops::VariablesInitializer(b, "init", {step_.ref});
    EXPECT_TRUE(b.status().ok());
    graph_.AddToCollection(kGlobalStep, step_.ref);
    graph_.AddToCollection(kInitOp, init);
    graph_.AddToCollection(kMine, step_.read);
    graph_.AddToCollection(kSecret, 1);
  }

  proto::MetaGraphDef Export(const ExportMetaGraphOptions& options = {}) { return *ExportMetaGraph(graph_, options); }
  static std::vector<std::string> Names(const proto::MetaGraphDef& def) {
    std::vector<std::string> names;
    for (const auto& [name, collection] : def.collection_def()) names.push_back(name);
    return names;
  }

  fakes::FakeEnv fake_;
  Graph graph_;
  ops::Variable step_;
  ops::Variable local_;
};

TEST_F(MetaGraphTest, VariablesAreWrittenAsTensorFlowDoes) {
  const proto::MetaGraphDef def = Export();
  EXPECT_THAT(Names(def), UnorderedElementsAre("global_step", "init_op", "local_variables", "mine", "variables"));
  proto::VariableDef variable;
  ASSERT_TRUE(variable.ParseFromString(def.collection_def().at("variables").bytes_list().value(0)));
  EXPECT_EQ(variable.variable_name(), "step:0");
  EXPECT_EQ(variable.initializer_name(), "step/Assign");
  EXPECT_EQ(variable.snapshot_name(), "step/read:0");
  EXPECT_EQ(variable.initial_value_name(), "zero:0");
  EXPECT_FALSE(variable.trainable());
  EXPECT_THAT(def.collection_def().at("init_op").node_list().value(), ElementsAre("init"));
  EXPECT_THAT(def.collection_def().at("mine").node_list().value(), ElementsAre("step/read:0"));
}

TEST_F(MetaGraphTest, OptionsSayWhatIsWritten) {
  graph_.AddToCollection(CollectionKey<Output>{"trainable_variables"}, local_.ref);
  proto::SaverDef saver;
  saver.set_save_tensor_name("save/control_dependency:0");
  const proto::MetaGraphDef def =
      Export({.saver_def = saver, .collections = {{"local_variables"}}, .clear_devices = true});
  EXPECT_EQ(def.saver_def().save_tensor_name(), "save/control_dependency:0");
  EXPECT_THAT(Names(def), ElementsAre("local_variables"));
  proto::VariableDef variable;
  ASSERT_TRUE(variable.ParseFromString(def.collection_def().at("local_variables").bytes_list().value(0)));
  EXPECT_TRUE(variable.trainable());
  EXPECT_EQ(def.graph_def().node(0).device(), "");
  EXPECT_EQ(Export().graph_def().node(0).device(), "/job:ps");
}

TEST_F(MetaGraphTest, ComesBackWithItsCollections) {
  Graph other(BuiltinOps());
  const absl::StatusOr<std::vector<std::string>> unread = ImportMetaGraph(Export(), other);
  ASSERT_TRUE(unread.ok()) << unread.status();
  EXPECT_THAT(*unread, IsEmpty());
  EXPECT_THAT(other.Collection(kGlobalStep), ElementsAre(step_.ref));
  EXPECT_THAT(other.Collection(kLocalVariables), ElementsAre(local_.ref));
  EXPECT_THAT(other.Collection(kMine), ElementsAre(step_.read));
  EXPECT_EQ(other.node(other.Collection(kInitOp)[0].node).name, "init");
  EXPECT_EQ(other.Collection(ops::kVariables).size(), 2u);  // not twice because of the global step
  Builder b(other);
  ops::VariablesInitializer(b, "again", other.Collection(kGlobalVariables));
  EXPECT_TRUE(b.status().ok()) << b.status();
}

TEST_F(MetaGraphTest, TwoExportsAreTheSameBytes) {
  Graph other(BuiltinOps());
  ASSERT_TRUE(ImportMetaGraph(Export(), other).ok());
  EXPECT_EQ(*SerializeDeterministically(Export()), *SerializeDeterministically(*ExportMetaGraph(other)));
}

TEST_F(MetaGraphTest, ImportIntoAScope) {
  const proto::MetaGraphDef def = Export();
  ASSERT_TRUE(ImportMetaGraph(def, graph_, {.graph = {.scope = "again"}}).ok());
  ASSERT_EQ(graph_.Collection(kGlobalVariables).size(), 2u);
  EXPECT_EQ(graph_.NameOf(graph_.Collection(kGlobalVariables)[1]), "again/step:0");
}

TEST_F(MetaGraphTest, CodecsReadAndWriteOtherCollections) {
  graph_.AddToCollection(kWords, std::string("one"));
  EXPECT_FALSE(Export().collection_def().contains("words"));
  const CollectionCodec codec{.name = "words",
                              .write = [](const Graph& graph) { return graph.Collection(kWords); },
                              .read =
                                  [](Graph& graph, const std::vector<std::string>& items, const std::string& scope) {
                                    for (const std::string& item : items) graph.AddToCollection(kWords, scope + item);
                                    return absl::OkStatus();
                                  }};
  const proto::MetaGraphDef def = Export({.codecs = {codec}});
  Graph with(BuiltinOps());
  EXPECT_THAT(*ImportMetaGraph(def, with, {.graph = {.scope = "s"}, .codecs = {codec}}), IsEmpty());
  EXPECT_THAT(with.Collection(kWords), ElementsAre("sone"));
  Graph without(BuiltinOps());
  EXPECT_THAT(*ImportMetaGraph(def, without), ElementsAre("words"));
}

TEST_F(MetaGraphTest, ContextsOfBranchesAreKeptUnderTheScopeOfTheImport) {
  proto::CondContextDef context;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(context_name: "cond/cond_text" pred_name: "cond/pred_id:0" pivot_name: "cond/switch_t:0" branch: 1
         values_def { values: "cond/a:0" values: "b:0" external_values { key: "cond/a:0" value: "a:0" } }
         nested_contexts { cond_ctxt { context_name: "cond/cond/cond_text" pred_name: "p:0" branch: 1 } })",
      &context));
  proto::MetaGraphDef def = Export();
  def.mutable_collection_def()->operator[]("cond_context").mutable_bytes_list()->add_value(context.SerializeAsString());
  const auto again = [&def](const std::string& scope) {
    Graph other(BuiltinOps());
    EXPECT_THAT(*ImportMetaGraph(def, other, {.graph = {.scope = scope}}), IsEmpty());
    proto::CondContextDef out;
    EXPECT_TRUE(out.ParseFromString(ExportMetaGraph(other)->collection_def().at("cond_context").bytes_list().value(0)));
    return out;
  };
  EXPECT_EQ(again("").DebugString(), context.DebugString());
  const proto::CondContextDef scoped = again("s");
  EXPECT_EQ(scoped.pred_name(), "s/cond/pred_id:0");
  EXPECT_EQ(scoped.values_def().values(1), "s/b:0");
  EXPECT_EQ(scoped.values_def().external_values().at("s/cond/a:0"), "s/a:0");
  EXPECT_EQ(scoped.nested_contexts(0).cond_ctxt().context_name(), "s/cond/cond/cond_text");
  EXPECT_EQ(scoped.nested_contexts(0).cond_ctxt().pivot_name(), "");
  def.mutable_collection_def()->at("cond_context").mutable_bytes_list()->set_value(0, "no message");
  Graph refusing(BuiltinOps());
  EXPECT_THAT(MessageOf(ImportMetaGraph(def, refusing).status()), HasSubstr("an item is no CondContextDef"));
}

TEST_F(MetaGraphTest, SomethingElseUnderTheNameOfContextsStays) {
  proto::MetaGraphDef def = Export();
  def.mutable_collection_def()->operator[]("cond_context").mutable_bytes_list()->add_value("");
  graph_.AddToCollection(CollectionKey<int>{"cond_context"}, 1);
  EXPECT_FALSE(Export().collection_def().contains("cond_context"));
  EXPECT_THAT(MessageOf(ImportMetaGraph(def, graph_, {.graph = {.scope = "s"}}).status()),
              HasSubstr("the graph has something else under that name"));
}

TEST_F(MetaGraphTest, ACollectionOfAnotherTypeIsLeftAlone) {
  Graph other(BuiltinOps());
  other.AddToCollection(CollectionKey<int>{"mine"}, 7);
  EXPECT_THAT(*ImportMetaGraph(Export(), other), ElementsAre("mine"));
  EXPECT_THAT(other.Collection(CollectionKey<int>{"mine"}), ElementsAre(7));
}

TEST_F(MetaGraphTest, RefusesItemsThatItDoesNotFind) {
  const auto error = [](const proto::MetaGraphDef& def) {
    Graph other(BuiltinOps());
    return std::string(MessageOf(ImportMetaGraph(def, other).status()));
  };
  proto::MetaGraphDef def = Export();
  def.mutable_collection_def()->at("mine").mutable_node_list()->add_value("nowhere:0");
  EXPECT_EQ(error(def), "Collection 'mine': 'nowhere:0' is not in the graph");
  def = Export();
  def.mutable_collection_def()->at("variables").mutable_bytes_list()->add_value("\xff");
  EXPECT_EQ(error(def), "Collection 'variables': an item is no VariableDef");
  proto::VariableDef variable;
  variable.set_variable_name("step:0");
  variable.set_initializer_name("step/Assign");
  variable.set_snapshot_name("step/read:0");
  variable.set_is_resource(true);
  def = Export();
  def.mutable_collection_def()->at("variables").mutable_bytes_list()->add_value(variable.SerializeAsString());
  EXPECT_EQ(error(def), "Collection 'variables': 'step:0' is not a resource variable");
  variable.mutable_save_slice_info_def();
  def = Export();
  def.mutable_collection_def()->at("variables").mutable_bytes_list()->add_value(variable.SerializeAsString());
  EXPECT_EQ(error(def), "Collection 'variables': the save_slice_info_def of 'step:0' is no part of a variable: ");
}

TEST_F(MetaGraphTest, AResourceVariableComesBackAsOne) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const ops::Variable v = ops::MakeResourceVariable(b, "v", b.Const("v/initial", Tensor::Scalar<float>(2)));
  ASSERT_TRUE(b.status().ok()) << b.status();
  const absl::StatusOr<proto::MetaGraphDef> def = ExportMetaGraph(graph);
  Graph other(BuiltinOps());
  ASSERT_TRUE(ImportMetaGraph(*def, other).ok());
  ASSERT_EQ(other.Collection(ops::kVariables).size(), 1u);
  const ops::Variable& found = other.Collection(ops::kVariables)[0];
  EXPECT_TRUE(ops::IsResourceVariable(other, found.ref));
  EXPECT_EQ(other.NameOf(found.read), graph.NameOf(v.read));
  EXPECT_EQ(ops::VariableType(other, found.ref), DType::kFloat);
}

TEST_F(MetaGraphTest, AVariableIsOneWithItsAssignment) {
  const auto error = [this](const auto& change) {
    proto::MetaGraphDef def = Export();
    std::string& item = *def.mutable_collection_def()->at("variables").mutable_bytes_list()->mutable_value(0);
    proto::VariableDef variable;
    EXPECT_TRUE(variable.ParseFromString(item));
    change(variable);
    item = variable.SerializeAsString();
    Graph other(BuiltinOps());
    const absl::Status status = ImportMetaGraph(def, other).status();
    if (!status.ok()) {
      EXPECT_EQ(other.size(), 0) << "a failed import leaves nothing behind";
      EXPECT_THAT(other.CollectionNames(), IsEmpty());
    }
    return status.ok() ? std::string("OK") : std::string(MessageOf(status));
  };
  EXPECT_EQ(error([](proto::VariableDef&) {}), "OK");
  const std::string constant = graph_.node(graph_.node(step_.initializer).inputs[1].node).name;
  EXPECT_EQ(error([&](proto::VariableDef& v) { v.set_initializer_name(constant); }),
            fmt::format("Collection 'variables': '{}' is not an assignment to 'step:0'", constant));
  EXPECT_EQ(error([&](proto::VariableDef& v) { v.set_variable_name(constant + ":0"); }),
            fmt::format("Collection 'variables': '{}:0' is not a variable", constant));
  EXPECT_EQ(error([](proto::VariableDef& v) { v.set_snapshot_name("init"); }),
            "Collection 'variables': 'init' is not the value of 'step:0'");
}

TEST_F(MetaGraphTest, AFailedImportLeavesNothingBehind) {
  const CollectionCodec codec{
      .name = "words",
      .write = [](const Graph&) { return std::vector<std::string>{"w"}; },
      .read = [&](Graph& graph, const std::vector<std::string>& items, const std::string&) -> absl::Status {
        graph.AddToCollection(kWords, items[0]);
        throw std::runtime_error("thrown by a codec");
      }};
  graph_.AddToCollection(kWords, std::string("w"));
  const proto::MetaGraphDef def = Export({.codecs = {codec}});
  Graph other(BuiltinOps());
  Builder b(other);
  const Output mine = b.Const("mine", Tensor::Scalar<float>(1));
  other.AddToCollection(CollectionKey<Output>{"variables"}, mine);
  EXPECT_THROW(ImportMetaGraph(def, other, {.graph = {.scope = "s"}, .codecs = {codec}}).IgnoreError(),
               std::runtime_error);
  EXPECT_EQ(other.size(), 1);
  EXPECT_THAT(other.CollectionNames(), ElementsAre("variables"));
  EXPECT_THAT(other.Collection(kGlobalVariables), ElementsAre(mine));
  EXPECT_TRUE(ImportMetaGraph(Export(), other, {.graph = {.scope = "s"}}).ok()) << "and is no obstacle to another";
}

TEST_F(MetaGraphTest, TextNestedTooDeeplyIsRefused) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "a{";
  ASSERT_TRUE(WriteAtomically(fake_.files, "/deep.meta", text).ok());
  EXPECT_THAT(std::string(MessageOf(ReadMetaGraph(fake_.env(), "/deep.meta").status())),
              HasSubstr("Cannot parse file /deep.meta: 1:1: "));
}

TEST_F(MetaGraphTest, FilesAreBinaryOrText) {
  const proto::MetaGraphDef def = Export();
  for (const bool as_text : {false, true}) {
    ASSERT_TRUE(WriteMetaGraph(fake_.env(), def, "/dir/model.meta", as_text).ok());
    const absl::StatusOr<proto::MetaGraphDef> read = ReadMetaGraph(fake_.env(), "/dir/model.meta");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*SerializeDeterministically(*read), *SerializeDeterministically(def));
  }
  EXPECT_THAT(fake_.files.Contents().begin()->second, HasSubstr("variable"));
  EXPECT_EQ(MessageOf(ReadMetaGraph(fake_.env(), "/no").status()), "File /no does not exist.");
  ASSERT_TRUE(WriteAtomically(fake_.files, "/bad", "graph_def { node: 3 }").ok());
  EXPECT_THAT(std::string(MessageOf(ReadMetaGraph(fake_.env(), "/bad").status())),
              HasSubstr("Cannot parse file /bad: 1:"));
}

}  // namespace
}  // namespace vigil

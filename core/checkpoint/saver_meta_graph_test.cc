#include "vigil/core/checkpoint/saver_meta_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/checkpoint/testing.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/meta_graph.pb.h"
#include "vigil/core/graph/variable.pb.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/classify.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SaverMetaGraphTest : public testing::Test {
 protected:
  SaverMetaGraphTest() : graph_(BuiltinOps()), b_(graph_) {
    EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK");
    v_ = ops::MakeVariable(b_, "v", b_.Const("seven", Tensor::Scalar<std::int64_t>(7)));
    EXPECT_EQ(Text(b_.status()), "OK");
  }
  SaverPtr Add(SaverOptions options = {}) {
    auto saver = std::make_shared<Saver>(fake_.env(), std::move(options));
    EXPECT_EQ(Text(saver->Build(graph_)), "OK");
    graph_.AddToCollection(kSavers, saver);
    return saver;
  }
  void SaveOne(Saver& saver, const SaveOptions& options = {}) {
    const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), graph_);
    EXPECT_EQ(Text(RunTarget(*session, v_.initializer)), "OK");
    EXPECT_EQ(Text(saver.Save(*session, "/d/m", 1, options).status()), "OK");
  }

  fakes::FakeEnv fake_;
  Graph graph_;
  Builder b_;
  ops::Variable v_;
};

TEST_F(SaverMetaGraphTest, WhatASaverWroteIsEnoughToGoOn) {
  SaveOne(*Add({.sharded = true, .max_to_keep = 3, .keep_checkpoint_every_n_hours = 2}));
  for (const char* scope : {"", "import"}) {
    Graph other(BuiltinOps());
    const auto saver =
        ImportMetaGraphFile(fake_.env(), "/d/m-1.meta", other, {.meta_graph = {.graph = {.scope = scope}}});
    ASSERT_EQ(Text(saver.status()), "OK");
    ASSERT_NE(*saver, nullptr);
    EXPECT_TRUE((*saver)->options().sharded);
    EXPECT_EQ((*saver)->options().max_to_keep, 3);
    EXPECT_EQ((*saver)->options().keep_checkpoint_every_n_hours, 2);
    EXPECT_EQ(other.Collection(kSavers).size(), 1u);
    const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), other);
    EXPECT_EQ(Text((*saver)->Restore(*session, "/d/m-1")), "OK");
    EXPECT_EQ(RunFetch(*session, other.Collection(kGlobalVariables)[0])->scalar<std::int64_t>(), 7);
    EXPECT_EQ(*(*saver)->Save(*session, "/d/n", 2), "/d/n-2");
    EXPECT_EQ(other.Collection(kWellKnownCalls).size(), 2u);  // noted once, though two savers have these nodes
  }
}

TEST_F(SaverMetaGraphTest, EachSaveOfASaverThatWasFoundHasAFolderOfItsOwn) {
  const proto::SaverDef def = *Add({.sharded = true})->AsSaverDef();
  const auto found = Saver::FromDef(fake_.env(), graph_, def);
  ASSERT_EQ(Text(found.status()), "OK");
  std::set<std::string> folders;
  fake_.files.set_fault([&](fakes::FileOp op, const std::string& path) {
    if (op == fakes::FileOp::kOpen && path.find("_temp_") != std::string::npos) folders.insert(Dirname(path));
    return absl::OkStatus();
  });
  for (int save = 1; save <= 3; ++save) SaveOne(**found);
  EXPECT_EQ(folders.size(), 3u);
}

// A def may name anything that gives strings.
TEST_F(SaverMetaGraphTest, ASaveOpThatDoesNotTellThePrefixIsRefusedWhenItIsRun) {
  proto::SaverDef def = *Add()->AsSaverDef();
  b_.Const("two", Tensor::Vector<std::string>({"a", "b"}));
  def.set_save_tensor_name("two:0");
  const auto found = Saver::FromDef(fake_.env(), graph_, def);
  ASSERT_EQ(Text(found.status()), "OK");
  const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), graph_);
  EXPECT_THAT(Text((*found)->Save(*session, "/d/m", 1).status()),
              HasSubstr("INVALID_ARGUMENT: The save op gives string [2], not the prefix that it wrote."));
  EXPECT_THAT(Text((*found)->SaveBeside(*session, "/d/m", 1).status()),
              HasSubstr("UNIMPLEMENTED: 'two:0' is not made of SaveV2: it cannot save /d/m-1 beside the training."));
}

TEST_F(SaverMetaGraphTest, WhatItsCodecsWriteIsInTheMetaGraphAndTheSaveIsTold) {
  const CollectionCodec codec{
      .name = "words",
      .write = [](const Graph&) { return std::vector<std::string>{"one"}; },
      .read = [](Graph&, const std::vector<std::string>&, const std::string&) { return absl::OkStatus(); }};
  graph_.AddToCollection(CollectionKey<std::string>{"words"}, std::string("one"));
  SaveOne(*Add({.codecs = {codec}}));
  proto::MetaGraphDef def;
  ASSERT_TRUE(def.ParseFromString(*ReadAll(fake_.files, "/d/m-1.meta")));
  EXPECT_TRUE(def.collection_def().contains("words"));
  std::vector<std::string> told;
  for (const Event& each : fake_.events.events()) {
    const bool is_meta = each.call == static_cast<std::uint8_t>(SaverDetail::kWritesMeta);
    if (each.kind == EventKind::kSaverDetail && is_meta) told.emplace_back(each.subject);
  }
  EXPECT_THAT(told, ElementsAre("/d/m-1"));
}

// The meta graph of a variable "w" in two parts, as TensorFlow's partitioners make it.
proto::MetaGraphDef PartitionedMetaGraph() {
  Graph graph(BuiltinOps());
  Builder b(graph);
  ops::MakeVariable(b, "w/part_0", b.Const("first", Tensor::Vector<float>({1, 2})));
  ops::MakeResourceVariable(b, "w/part_1", b.Const("second", Tensor::Vector<float>({3, 4, 5})));
  EXPECT_EQ(Text(b.status()), "OK");
  proto::MetaGraphDef def = *ExportMetaGraph(graph);
  auto& items = *def.mutable_collection_def()->at("variables").mutable_bytes_list();
  for (int i = 0; i < 2; ++i) {
    proto::VariableDef variable;
    EXPECT_TRUE(variable.ParseFromString(items.value(i)));
    proto::SaveSliceInfoDef& slice = *variable.mutable_save_slice_info_def();
    slice.set_full_name("w");
    slice.add_full_shape(5);
    slice.add_var_offset(2 * i);
    slice.add_var_shape(2 + i);
    items.set_value(i, variable.SerializeAsString());
  }
  return def;
}

TEST_F(SaverMetaGraphTest, PartsOfAVariableAreSavedAsOne) {
  Graph parts(BuiltinOps());
  const auto saver = ImportMetaGraphWithSaver(fake_.env(), PartitionedMetaGraph(), parts);
  ASSERT_EQ(Text(saver.status()), "OK");
  const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), parts);
  for (const ops::Variable& each : parts.Collection(ops::kVariables)) {
    EXPECT_EQ(Text(RunTarget(*session, each.initializer)), "OK");
  }
  ASSERT_EQ(Text((*saver)->Save(*session, "/d/parts", 1).status()), "OK");

  Graph whole(BuiltinOps());
  Builder b(whole);
  const ops::Variable w = ops::MakeVariable(b, "w", b.Const("zeros", Tensor(DType::kFloat, Shape({5}))));
  Saver reader(fake_.env());
  ASSERT_EQ(Text(reader.Build(whole)), "OK");
  const std::unique_ptr<Session> other = NewDirectSession(fake_.env(), whole);
  ASSERT_EQ(Text(reader.Restore(*other, "/d/parts-1")), "OK");
  EXPECT_EQ(*RunFetch(*other, w.ref), Tensor::Vector<float>({1, 2, 3, 4, 5}));
  EXPECT_EQ(
      Text(RunTarget(*other, ops::Assign(b, "set", w.ref, b.Const("c", Tensor::Vector<float>({9, 8, 7, 6, 5}))).node)),
      "OK");
  ASSERT_EQ(Text(reader.Save(*other, "/d/whole", 1).status()), "OK");
  ASSERT_EQ(Text((*saver)->Restore(*session, "/d/whole-1")), "OK");
  EXPECT_EQ(*RunFetch(*session, parts.Collection(ops::kVariables)[1].read), Tensor::Vector<float>({7, 6, 5}));
}

TEST_F(SaverMetaGraphTest, PartsStayPartsWhenTheyAreExportedAgain) {
  const proto::MetaGraphDef def = PartitionedMetaGraph();
  Graph parts(BuiltinOps());
  ASSERT_EQ(Text(ImportMetaGraph(def, parts).status()), "OK");
  EXPECT_EQ(ExportMetaGraph(parts)->collection_def().at("variables").ShortDebugString(),
            def.collection_def().at("variables").ShortDebugString());
}

TEST_F(SaverMetaGraphTest, AWholeAndItsPartsCannotBothBeSaved) {
  Graph parts(BuiltinOps());
  ASSERT_EQ(Text(ImportMetaGraph(PartitionedMetaGraph(), parts).status()), "OK");
  Builder b(parts);
  ops::MakeVariable(b, "w_1", b.Const("zeros", Tensor(DType::kFloat, Shape({5}))));
  EXPECT_EQ(Text(Saver(fake_.env()).Build(parts)), "OK");
  ops::MakeVariable(b, "w", b.Const("zeros", Tensor(DType::kFloat, Shape({5}))));
  EXPECT_EQ(Text(Saver(fake_.env()).Build(parts)), "USAGE: At least two variables have the same name: w");
}

TEST_F(SaverMetaGraphTest, TheDefNamesTensorFlowsNodes) {
  const SaverPtr saver = Add({.max_to_keep = 4});
  const proto::SaverDef& def = *saver->AsSaverDef();
  EXPECT_EQ(def.ShortDebugString(),
            "filename_tensor_name: \"save/Const:0\" save_tensor_name: \"save/control_dependency:0\" restore_op_name: "
            "\"save/restore_all\" max_to_keep: 4 keep_checkpoint_every_n_hours: 10000 version: V2");
  EXPECT_EQ(Add({.sharded = true, .name = "mine"})->AsSaverDef()->save_tensor_name(), "mine/Identity:0");
  EXPECT_TRUE(Add({.sharded = true, .name = "parts"})->AsSaverDef()->sharded());
  EXPECT_EQ(Saver(fake_.env()).AsSaverDef(), nullptr);
}

TEST_F(SaverMetaGraphTest, RefusesADefThatDoesNotFit) {
  const proto::SaverDef whole = *Add()->AsSaverDef();
  const auto refused = [&](auto change) {
    proto::SaverDef def = whole;
    change(def);
    return Text(Saver::FromDef(fake_.env(), graph_, def).status());
  };
  EXPECT_EQ(refused([](proto::SaverDef&) {}), "OK");
  EXPECT_THAT(refused([](proto::SaverDef& d) { d.clear_save_tensor_name(); }),
              HasSubstr("USAGE: saver_def must specify the save_tensor_name: "));
  EXPECT_THAT(refused([](proto::SaverDef& d) { d.clear_restore_op_name(); }),
              HasSubstr("USAGE: saver_def must specify the restore_op_name: "));
  EXPECT_EQ(refused([](proto::SaverDef& d) { d.set_restore_op_name("none"); }),
            "USAGE: saver_def names 'none', which is not in the graph");
  EXPECT_THAT(refused([](proto::SaverDef& d) { d.set_version(proto::SaverDef::V1); }), HasSubstr("UNIMPLEMENTED"));
  EXPECT_EQ(refused([](proto::SaverDef& d) { d.set_max_to_keep(-1); }),
            "INVALID_ARGUMENT: saver_def.max_to_keep must be at least 0 (all are kept), got -1");
  for (const float hours : {-1.0F, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_THAT(refused([hours](proto::SaverDef& d) { d.set_keep_checkpoint_every_n_hours(hours); }),
                HasSubstr("INVALID_ARGUMENT: saver_def.keep_checkpoint_every_n_hours must be at least 0, got "));
  }
  EXPECT_THAT(refused([](proto::SaverDef& d) { d.set_save_tensor_name("v:0"); }),
              HasSubstr("INVALID_ARGUMENT: saver_def names 'save/Const:0' (string) and 'v:0' (int64)"));
  EXPECT_THAT(refused([](proto::SaverDef& d) { d.set_filename_tensor_name("v:0"); }),
              HasSubstr("both must be strings"));
}

// Hours without end are longer than any time.
TEST_F(SaverMetaGraphTest, ADefMayKeepForAsLongAsItLikes) {
  proto::SaverDef def = *Add()->AsSaverDef();
  for (const float hours : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max()}) {
    def.set_keep_checkpoint_every_n_hours(hours);
    const auto saver = Saver::FromDef(fake_.env(), graph_, def);
    ASSERT_EQ(Text(saver.status()), "OK");
    SaveOne(**saver);
    SaveOne(**saver);
  }
}

TEST_F(SaverMetaGraphTest, WithoutVariablesThereIsNoSaver) {
  Graph empty(BuiltinOps());
  Graph target(BuiltinOps());
  const auto def = ExportMetaGraphFile(fake_.env(), empty, {.filename = "/d/empty.pbtxt", .as_text = true});
  ASSERT_EQ(Text(def.status()), "OK");
  const auto saver = ImportMetaGraphFile(fake_.env(), "/d/empty.pbtxt", target);
  ASSERT_EQ(Text(saver.status()), "OK");
  EXPECT_EQ(*saver, nullptr);
  EXPECT_THAT(fake_.log.lines().back().text, HasSubstr("Saver not created because there are no variables"));
}

TEST_F(SaverMetaGraphTest, WithVariablesButNoSaverOneIsMade) {
  const auto def = ExportMetaGraphFile(fake_.env(), graph_, {});
  Graph target(BuiltinOps());
  const auto saver = ImportMetaGraphWithSaver(fake_.env(), *def, target);
  ASSERT_EQ(Text(saver.status()), "OK");
  EXPECT_TRUE((*saver)->built());
}

TEST_F(SaverMetaGraphTest, OtherSaversCanBeLeftOut) {
  const SaverPtr first = Add();
  const SaverPtr second = Add();
  const auto all = ExportMetaGraphFile(fake_.env(), graph_, {.saver = second.get()});
  const auto one = ExportMetaGraphFile(fake_.env(), graph_, {.saver = second.get(), .clear_extraneous_savers = true});
  ASSERT_TRUE(all.ok() && one.ok());
  EXPECT_EQ(all->collection_def().at("savers").bytes_list().value_size(), 2);
  EXPECT_EQ(one->collection_def().at("savers").bytes_list().value_size(), 1);
  EXPECT_EQ(one->saver_def().save_tensor_name(), "save_1/control_dependency:0");
  for (const auto& node : one->graph_def().node()) EXPECT_FALSE(node.name().starts_with("save/")) << node.name();
  Graph target(BuiltinOps());
  EXPECT_EQ(Text(ImportMetaGraphWithSaver(fake_.env(), *one, target).status()), "OK");
}

TEST_F(SaverMetaGraphTest, StrippedIsWhatIsWrittenAnyway) {
  const SaverPtr saver = Add();
  SaveOne(*saver, {.strip_default_attrs = true});
  const auto stripped = ReadMetaGraph(fake_.env(), "/d/m-1.meta");
  ASSERT_EQ(Text(stripped.status()), "OK");
  EXPECT_TRUE(stripped->meta_info_def().stripped_default_attrs());
  SaveOne(*saver);
  EXPECT_EQ(ReadMetaGraph(fake_.env(), "/d/m-1.meta")->graph_def().ByteSizeLong(),
            stripped->graph_def().ByteSizeLong());
}

}  // namespace
}  // namespace vigil

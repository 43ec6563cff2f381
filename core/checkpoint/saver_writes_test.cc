// In what order a save writes, and what is left when it fails, under both behaviours (durable_saves,
// meta_before_state); the options of Saver and Save that say what is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/checkpoint/saver_meta_graph.h"
#include "vigil/core/checkpoint/testing.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SaverWritesTest : public testing::Test {
 protected:
  SaverWritesTest() : graph_(BuiltinOps()), b_(graph_) {
    EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK");
    v_ = ops::MakeVariable(b_, "v", b_.Const("zero", Tensor::Scalar<std::int64_t>(3)));
    b_.device = "/job:ps/task:1";
    w_ = ops::MakeVariable(b_, "w", b_.Const("ones", Tensor::Vector<float>({1, 2})));
    b_.device.clear();
    init_ = ops::VariablesInitializer(b_, "init", graph_.Collection(kGlobalVariables)).node;
    EXPECT_EQ(Text(b_.status()), "OK");
  }
  std::unique_ptr<Session> NewSession() {
    std::unique_ptr<Session> session = NewDirectSession(fake_.env(), graph_);
    EXPECT_EQ(Text(RunTarget(*session, init_)), "OK");
    return session;
  }
  Saver Built(SaverOptions options = {}) {
    Saver saver(fake_.env(), std::move(options));
    EXPECT_EQ(Text(saver.Build(graph_)), "OK");
    return saver;
  }
  static Behaviour Without(bool Behaviour::*which) {
    Behaviour behaviour;
    behaviour.*which = false;
    return behaviour;
  }
  // Renames and syncs from now on: "sync m-1.index", "m-1.index" (it got its name). Claims come and go unseen.
  void Watch() {
    calls_.clear();
    fake_.files.set_fault([this](fakes::FileOp op, const std::string& path) {
      std::string name = Basename(path);
      name = name.substr(0, std::min(name.find(".tempstate"), name.find(".tmp")));
      if (op == fakes::FileOp::kSync) calls_.push_back("sync " + name);
      if (op == fakes::FileOp::kRename) calls_.push_back(name);
      if (op == fakes::FileOp::kRemove && !path.ends_with(".tmp")) calls_.push_back("remove " + name);
      return absl::OkStatus();
    });
  }
  std::string Save(Saver& saver, std::optional<std::int64_t> step, const SaveOptions& options = {}) {
    const std::unique_ptr<Session> session = NewSession();
    const absl::StatusOr<std::string> prefix = saver.Save(*session, "/d/m", step, options);
    return prefix.ok() ? *prefix : Text(prefix.status());
  }
  std::vector<std::string> Files() { return *fake_.files.List("/d"); }

  fakes::FakeEnv fake_;
  Graph graph_;
  Builder b_;
  ops::Variable v_, w_;
  NodeId init_ = kNoNode;
  std::vector<std::string> calls_;
};

TEST_F(SaverWritesTest, EachFileIsSyncedBeforeItGetsItsNameAndTheStateFileIsLast) {
  Saver saver = Built();
  Watch();
  EXPECT_EQ(Save(saver, 1), "/d/m-1");
  EXPECT_THAT(calls_, ElementsAre("sync m-1.data-00000-of-00001", "m-1.data-00000-of-00001", "sync d", "sync m-1.index",
                                  "m-1.index", "sync d", "sync ", "sync m-1.meta", "m-1.meta", "sync d",
                                  "sync checkpoint", "checkpoint", "sync d"));
  calls_.clear();
  EXPECT_EQ(Save(saver, 2), "/d/m-2");
  EXPECT_THAT(calls_, testing::Not(testing::Contains("sync "))) << "the directory's own name is on the disk by now";
}

TEST_F(SaverWritesTest, AsTensorFlowDoesItNothingIsSyncedAndTheMetaGraphIsLast) {
  Saver saver = Built({.behaviour = Behaviour::TensorFlow()});
  Watch();
  EXPECT_EQ(Save(saver, 1), "/d/m-1");
  EXPECT_THAT(calls_, ElementsAre("m-1.data-00000-of-00001", "m-1.index", "checkpoint", "m-1.meta"));
}

TEST_F(SaverWritesTest, TheTwoSwitchesAreIndependent) {
  Saver fast = Built({.behaviour = Without(&Behaviour::durable_saves)});
  Watch();
  Save(fast, 1);
  EXPECT_THAT(calls_, ElementsAre("m-1.data-00000-of-00001", "m-1.index", "m-1.meta", "checkpoint"));
  Saver late = Built({.behaviour = Without(&Behaviour::meta_before_state)});
  Watch();
  Save(late, 2);
  EXPECT_THAT(calls_, testing::Contains("m-2.meta"));
  EXPECT_LT(std::ranges::find(calls_, "checkpoint") - calls_.begin(),
            std::ranges::find(calls_, "m-2.meta") - calls_.begin());
  EXPECT_THAT(calls_, testing::Contains("sync m-2.meta"));
}

// The n-th operation on files and all after it fail: as if the process ended there.
TEST_F(SaverWritesTest, WhereverASaveEndsTheStateFileNamesAWholeCheckpoint) {
  for (const bool meta_before_state : {true, false}) {
    bool named_one_without_meta = false;
    for (int end = 1; end < 60; ++end) {
      Behaviour behaviour;
      behaviour.meta_before_state = meta_before_state;
      Saver saver = Built({.max_to_keep = 1, .behaviour = behaviour});
      ASSERT_EQ(Save(saver, 1), "/d/m-1");
      int left = end;
      fake_.files.set_fault([&left](fakes::FileOp, const std::string&) {
        return --left <= 0 ? MakeStatus(Code::kUnavailable, "gone") : absl::OkStatus();
      });
      Save(saver, 2);
      fake_.files.set_fault(nullptr);
      const auto state = GetCheckpointState(fake_.env(), "/d");
      ASSERT_TRUE(state.ok() && state->has_value()) << end;
      const std::string newest = (*state)->model_checkpoint_path;
      EXPECT_EQ(Text(VerifyBundle(fake_.files, newest)), "OK") << end;
      if (!*Exists(fake_.files, newest + ".meta")) named_one_without_meta = true;
      const std::vector<std::string> names = Files();
      for (const std::string& name : names) EXPECT_EQ(Text(fake_.files.Remove("/d/" + name)), "OK");
    }
    EXPECT_EQ(named_one_without_meta, !meta_before_state);
  }
}

TEST_F(SaverWritesTest, AWriteThatFailsLeavesNoTemporaryFile) {
  for (const fakes::FileOp op : {fakes::FileOp::kAppend, fakes::FileOp::kSync, fakes::FileOp::kRename}) {
    Saver saver = Built();
    fake_.files.FailOnce(op, 1, MakeStatus(Code::kResourceExhausted, "disk full"));
    EXPECT_THAT(Save(saver, 1), HasSubstr("RESOURCE_EXHAUSTED: disk full"));
    EXPECT_THAT(Files(), IsEmpty());
  }
}

TEST_F(SaverWritesTest, OneShardForEachDeviceThenMerged) {
  Saver saver = Built({.sharded = true});
  EXPECT_EQ(Save(saver, 1), "/d/m-1");
  EXPECT_THAT(Files(),
              ElementsAre("checkpoint", "m-1.data-00000-of-00002", "m-1.data-00001-of-00002", "m-1.index", "m-1.meta"));
  const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), graph_);
  EXPECT_EQ(Text(saver.Restore(*session, "/d/m-1")), "OK");
  EXPECT_EQ(RunFetch(*session, v_.ref)->scalar<std::int64_t>(), 3);
  EXPECT_THAT(RunFetch(*session, w_.ref)->flat<float>(), ElementsAre(1, 2));
  const NodeId save = *graph_.Find("save/SaveV2_1");
  EXPECT_EQ(graph_.node(save).device, "/job:ps/task:1/device:CPU:0");
  ASSERT_EQ(Text(fake_.files.Remove("/d/m-1.data-00001-of-00002")), "OK");
  EXPECT_THAT(Text(saver.Restore(*session, "/d/m-1")), HasSubstr("NOT_FOUND: Restoring from checkpoint failed."));
}

TEST_F(SaverWritesTest, ShardsAreSyncedUnlessTheBehaviourIsTensorFlows) {
  for (const bool synced : {true, false}) {
    Saver saver = Built({.sharded = true, .behaviour = synced ? Behaviour::Default() : Behaviour::TensorFlow()});
    Watch();
    Save(saver, 1);
    const auto syncs = std::ranges::count_if(calls_, [](const std::string& call) { return call.starts_with("sync"); });
    // The data of two shards and their names, the index and its name, the directory's own; meta graph and state file
    // with their names.
    EXPECT_EQ(syncs, synced ? 10 : 0);
  }
}

TEST_F(SaverWritesTest, WhatIsWrittenCanBeChosen) {
  Saver saver = Built({.pad_step_number = true});
  EXPECT_EQ(Save(saver, 7, {.write_meta_graph = false, .write_state = false}), "/d/m-00000007");
  EXPECT_THAT(Files(), ElementsAre("m-00000007.data-00000-of-00001", "m-00000007.index"));
  EXPECT_THAT(saver.last_checkpoints(), IsEmpty());
  EXPECT_EQ(Save(saver, std::nullopt, {.latest_filename = "newest", .meta_graph_suffix = "graph"}), "/d/m");
  EXPECT_THAT(Files(), testing::IsSupersetOf({"m.graph", "m.index", "newest"}));
  EXPECT_EQ(*LatestCheckpoint(fake_.env(), "/d", "newest"), "/d/m");
  EXPECT_EQ(*LatestCheckpoint(fake_.env(), "/d"), std::nullopt);
  EXPECT_EQ(Save(saver, 1, {.latest_filename = "a/b"}), "USAGE: 'latest_filename' must not contain path components");
  EXPECT_THAT(Save(saver, std::nullopt, {.latest_filename = "m"}), HasSubstr("USAGE: 'latest_filename' collides"));
}

TEST_F(SaverWritesTest, TheStepMayBeATensor) {
  Saver saver = Built();
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_EQ(*saver.Save(*session, "/d/m", v_.ref), "/d/m-3");
  EXPECT_THAT(Text(saver.Save(*session, "/d/m", w_.ref).status()), HasSubstr("USAGE: A global step must be one"));
}

TEST_F(SaverWritesTest, VariablesByOtherNamesAndNotAll) {
  Saver writer = Built({.variables_by_name = {{{"other", v_.ref}}}});
  Save(writer, 1);
  absl::StatusOr<BundleReader> reader = BundleReader::Open(fake_.files, "/d/m-1");
  ASSERT_EQ(Text(reader.status()), "OK");
  EXPECT_EQ(reader->entries().size(), 1u);
  EXPECT_TRUE(reader->Has("other"));
  const std::unique_ptr<Session> session = NewSession();
  Saver all = Built();
  EXPECT_THAT(Text(all.Restore(*session, "/d/m-1")), HasSubstr("Key v not found in checkpoint"));
}

TEST_F(SaverWritesTest, RefusesVariablesThatAreNone) {
  const auto refused = [this](SaverOptions options) {
    return Text(Saver(fake_.env(), std::move(options)).Build(graph_));
  };
  const Output constant = b_.Const("c", Tensor::Scalar<float>(1));
  EXPECT_EQ(refused({.variables = {{v_.ref, v_.ref}}}), "USAGE: At least two variables have the same name: v");
  EXPECT_EQ(refused({.variables = {{constant}}}), "USAGE: Variable to save is not a Variable: c:0");
  EXPECT_EQ(refused({.variables = std::vector<Output>()}), "USAGE: No variables to save");
  EXPECT_EQ(refused({.variables_by_name = {{{"a", v_.ref}, {"b", v_.ref}}}}),
            "USAGE: The same saveable will be restored with two names: b");
  EXPECT_THAT(refused({.variables_by_name = {{{"a", constant}}}}), HasSubstr("Not a variable: c:0"));
  EXPECT_THAT(refused({.variables = {{v_.ref}}, .variables_by_name = {{{"a", v_.ref}}}}), HasSubstr("not in both"));
  EXPECT_THAT(refused({.max_to_keep = -1}), HasSubstr("USAGE: Expected `max_to_keep` to be at least 0"));
}

TEST_F(SaverWritesTest, AVeryLargeLimitKeepsAll) {
  Saver saver = Built({.max_to_keep = std::int64_t{1} << 31});
  Save(saver, 1);
  Save(saver, 2);
  EXPECT_EQ(saver.last_checkpoints().size(), 2u);
}

TEST_F(SaverWritesTest, ReshapesIfAsked) {
  Saver writer = Built({.variables = {{w_.ref}}});
  Save(writer, 1);
  Graph other(BuiltinOps());
  Builder b(other);
  const ops::Variable w =
      ops::MakeVariable(b, "w", b.Const("c", Tensor::Vector<float>({0, 0}).Reshaped(Shape({2, 1}))));
  for (const bool reshape : {true, false}) {
    Saver reader(fake_.env(), {.reshape = reshape});
    ASSERT_EQ(Text(reader.Build(other)), "OK");
    const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), other);
    const std::string restored = Text(reader.Restore(*session, "/d/m-1"));
    if (reshape) {
      EXPECT_EQ(restored, "OK");
      EXPECT_EQ(RunFetch(*session, w.ref)->shape(), Shape({2, 1}));
    } else {
      EXPECT_THAT(restored, HasSubstr("INVALID_ARGUMENT: Restoring from checkpoint failed."));
    }
  }
}

TEST_F(SaverWritesTest, ListsThatAreGiven) {
  Saver saver = Built({.max_to_keep = 1});
  saver.SetLastCheckpoints({"/d/m-1", "/d/m-2"});
  EXPECT_THAT(saver.last_checkpoints(), ElementsAre("/d/m-1", "/d/m-2"));
  saver.SetLastCheckpointsWithTime({{"/d/m-3", Time{}}});
  EXPECT_THAT(saver.last_checkpoints(), ElementsAre("/d/m-3"));
  Save(saver, 4);
  EXPECT_THAT(saver.last_checkpoints(), ElementsAre("/d/m-4"));
}

TEST_F(SaverWritesTest, IteratorsAmongTheVariables) {
  b_.device = "/job:ps/task:1";
  const Output next = ops::RangeIterator(b_, "input", 9);
  b_.device.clear();
  const Output iterator = graph_.Collection(ops::kIterators).at(0);
  Saver saver = Built({.variables = {{v_.ref, iterator}}, .reshape = true, .sharded = true});
  const std::unique_ptr<Session> session = NewSession();
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Text(RunFetch(*session, next).status()), "OK");
  ASSERT_EQ(Text(saver.Save(*session, "/d/m", 1).status()), "OK");
  EXPECT_EQ(Text(BundleReader::Open(fake_.files, "/d/m-1")->Read("input/OneShotIterator:0_STATE").status()), "OK");
  ASSERT_EQ(Text(RunFetch(*session, next).status()), "OK");
  ASSERT_EQ(Text(saver.Restore(*session, "/d/m-1")), "OK");
  EXPECT_EQ(RunFetch(*session, next)->scalar<std::int64_t>(), 3);
  for (const char* op : {"SerializeIterator", "save/DeserializeIterator"}) {
    const std::optional<NodeId> node = graph_.Find(op);
    ASSERT_TRUE(node.has_value()) << op;
    EXPECT_EQ(graph_.node(*node).device, "/job:ps/task:1") << "where the iterator is";
  }
  // A graph that is made of the meta graph can go on.
  Graph other(BuiltinOps());
  const auto found = ImportMetaGraphFile(fake_.env(), "/d/m-1.meta", other);
  ASSERT_EQ(Text(found.status()), "OK");
  EXPECT_EQ(other.Collection(ops::kIterators).size(), 1u);
  const std::unique_ptr<Session> imported = NewDirectSession(fake_.env(), other);
  ASSERT_EQ(Text((*found)->Restore(*imported, "/d/m-1")), "OK");
  EXPECT_EQ(RunFetch(*imported, *other.FindOutput("input:0"))->scalar<std::int64_t>(), 3);
}

// Upstream's testReshape is about constants: here the shape is known only when the graph runs.
TEST_F(SaverWritesTest, ReshapesToWhatAnInitialValueIsComputedToBe) {
  Saver writer = Built({.variables = {{w_.ref}}});
  Save(writer, 1);
  Graph other(BuiltinOps());
  Builder b(other);
  const Output shape = b.Const("shape", Tensor::Vector<std::int32_t>({2, 1}));
  const ops::Variable w = ops::MakeVariable(b, "w", b.Op("Fill", {shape, b.Const("zero", Tensor::Scalar<float>(0))}));
  Saver reader(fake_.env(), {.reshape = true});
  ASSERT_EQ(Text(reader.Build(other)), "OK");
  const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), other);
  ASSERT_EQ(Text(reader.Restore(*session, "/d/m-1")), "OK");
  EXPECT_EQ(RunFetch(*session, w.ref)->shape(), Shape({2, 1}));
}

TEST_F(SaverWritesTest, AVariableOfAnotherTypeIsAMismatch) {
  Saver writer = Built({.variables = {{w_.ref}}});
  Save(writer, 1);
  Graph other(BuiltinOps());
  Builder b(other);
  ops::MakeVariable(b, "w", b.Const("c", Tensor::Vector<std::int64_t>({0, 0})));
  Saver reader(fake_.env());
  ASSERT_EQ(Text(reader.Build(other)), "OK");
  const std::string restored = Text(reader.Restore(*NewDirectSession(fake_.env(), other), "/d/m-1"));
  EXPECT_THAT(restored, HasSubstr("INVALID_ARGUMENT: Restoring from checkpoint failed. This is most likely due to a "
                                  "mismatch between the current graph and the graph"));
  EXPECT_THAT(restored, HasSubstr("tensor_name = w; expected dtype int64 does not equal original dtype float"));
}

// Else it would be replaced by a list that knows nothing of what is there.
TEST_F(SaverWritesTest, AStateFileThatCannotBeReadEndsTheSaveBeforeItBegins) {
  Saver before = Built();
  EXPECT_EQ(Save(before, 1), "/d/m-1");
  const std::map<std::string, std::string> whole = fake_.files.Contents();
  for (const fakes::FileOp op : {fakes::FileOp::kStat, fakes::FileOp::kOpen, fakes::FileOp::kRead}) {
    Saver saver = Built({.max_to_keep = 1});
    bool failed = false;
    fake_.files.set_fault([&](fakes::FileOp asked, const std::string& path) {
      if (failed || asked != op || path != "/d/checkpoint") return absl::OkStatus();
      failed = true;
      return MakeStatus(Code::kUnknown, "not now");
    });
    EXPECT_EQ(Save(saver, 2), "UNKNOWN: not now");
    EXPECT_EQ(fake_.files.Contents(), whole);
    EXPECT_EQ(Save(saver, 2), "/d/m-2") << "the next save asks again";
    fake_.files.set_fault(nullptr);
    EXPECT_THAT(Files(), testing::Not(testing::Contains("m-1.index"))) << "was taken over";
    fake_.files.Clear();
    EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK");
    for (const auto& [path, bytes] : whole) EXPECT_EQ(Text(WriteAtomically(fake_.files, path, bytes)), "OK");
  }
}

}  // namespace
}  // namespace vigil

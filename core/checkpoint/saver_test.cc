#include "vigil/core/checkpoint/saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/checkpoint/testing.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/classify.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SaverTest : public testing::Test {
 protected:
  SaverTest() : graph_(BuiltinOps()), b_(graph_) {
    EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK");
    v_ = ops::MakeVariable(b_, "v", b_.Const("zero", Tensor::Scalar<std::int64_t>(0)));
    w_ = ops::MakeVariable(b_, "w", b_.Const("ones", Tensor::Vector<float>({1, 1})));
    add_ = ops::AssignAdd(b_, "add", v_.ref, b_.Const("one", Tensor::Scalar<std::int64_t>(1)));
    init_ = ops::VariablesInitializer(b_, "init", graph_.Collection(kGlobalVariables)).node;
    EXPECT_EQ(Text(b_.status()), "OK");
  }
  std::unique_ptr<Session> NewSession(bool initialized = true) {
    std::unique_ptr<Session> session = NewDirectSession(fake_.env(), graph_);
    if (initialized) {
      EXPECT_EQ(Text(RunTarget(*session, init_)), "OK");
    }
    return session;
  }
  Saver Built(SaverOptions options = {}) {
    Saver saver(fake_.env(), std::move(options));
    EXPECT_EQ(Text(saver.Build(graph_)), "OK");
    return saver;
  }
  // The prefix, or the error.
  std::string Save(Saver& saver, Session& session, std::optional<std::int64_t> step, const std::string& path = "/d/m") {
    const absl::StatusOr<std::string> prefix = saver.Save(session, path, step);
    return prefix.ok() ? *prefix : Text(prefix.status());
  }
  std::vector<std::string> Indexes() {
    std::vector<std::string> out;
    const std::vector<std::string> names = *fake_.files.List("/d");
    for (const std::string& name : names) {
      if (name.ends_with(".index")) out.push_back(name);
    }
    return out;
  }
  std::vector<std::string> Recorded() {
    const auto state = GetCheckpointState(fake_.env(), "/d");
    return state.ok() && state->has_value() ? (*state)->all_model_checkpoint_paths : std::vector<std::string>{};
  }

  fakes::FakeEnv fake_;
  Graph graph_;
  Builder b_;
  ops::Variable v_, w_;
  Output add_;
  NodeId init_ = kNoNode;
};

TEST_F(SaverTest, WhatWasSavedIsRestored) {
  Saver saver = Built();
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_TRUE(RunFetch(*session, add_).ok());
  EXPECT_EQ(Save(saver, *session, 1), "/d/m-1");
  EXPECT_THAT(*fake_.files.List("/d"), ElementsAre("checkpoint", "m-1.data-00000-of-00001", "m-1.index", "m-1.meta"));
  EXPECT_TRUE(RunFetch(*session, add_).ok());

  const std::unique_ptr<Session> other = NewSession(false);
  EXPECT_EQ(Text(saver.Restore(*other, "/d/m-1")), "OK");
  EXPECT_THAT(fake_.log.lines(),
              testing::Contains(fakes::CapturingLog::Line{Severity::kInfo, "Restoring parameters from /d/m-1"}));
  EXPECT_EQ(RunFetch(*other, v_.ref)->scalar<std::int64_t>(), 1);
  EXPECT_THAT(RunFetch(*other, w_.ref)->flat<float>(), ElementsAre(1, 1));
}

// Passes all on, and notes what is initialised when each run ends.
class WatchedSession final : public Session {
 public:
  WatchedSession(Session& inner, std::vector<Output> variables) : inner_(inner), variables_(std::move(variables)) {}
  std::int64_t number() const override { return inner_.number(); }
  const Graph& graph() const override { return inner_.graph(); }
  bool closed() const override { return inner_.closed(); }
  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) override {
    absl::Status status = inner_.Run(call, fetched);
    std::string there;
    for (const Output variable : variables_) {
      if (RunFetch(inner_, variable).ok()) there += graph().node(variable.node).name;
    }
    seen_.push_back(status.ok() ? there : Text(status));
    return status;
  }
  absl::Status Close() override { return inner_.Close(); }
  const std::vector<std::string>& seen() const { return seen_; }

 private:
  Session& inner_;
  const std::vector<Output> variables_;
  std::vector<std::string> seen_;
};

TEST_F(SaverTest, WhatIsMissingIsRestoredLast) {
  for (const bool sharded : {false, true}) {
    Saver saver = Built({.sharded = sharded, .name = sharded ? "shards" : "save"});
    const std::unique_ptr<Session> session = NewSession();
    Save(saver, *session, 1);
    const std::unique_ptr<Session> empty = NewSession(false);
    WatchedSession watched(*empty, {v_.ref, w_.ref});
    EXPECT_EQ(Text(saver.RestoreMissingLast(watched, "/d/m-1", {"v"})), "OK");
    EXPECT_THAT(watched.seen(), ElementsAre("w", "vw"));
    EXPECT_EQ(RunFetch(*empty, v_.ref)->scalar<std::int64_t>(), 0);
    EXPECT_THAT(RunFetch(*empty, w_.ref)->flat<float>(), ElementsAre(1, 1));
  }
}

TEST_F(SaverTest, WhereAllOrNothingIsMissingOneRunRestoresAll) {
  Saver saver = Built();
  const std::unique_ptr<Session> session = NewSession();
  Save(saver, *session, 1);
  for (const std::vector<std::string>& missing : std::vector<std::vector<std::string>>{{}, {"v", "w"}, {"nobody's"}}) {
    const std::unique_ptr<Session> empty = NewSession(false);
    WatchedSession watched(*empty, {v_.ref, w_.ref});
    EXPECT_EQ(Text(saver.RestoreMissingLast(watched, "/d/m-1", missing)), "OK");
    EXPECT_THAT(watched.seen(), ElementsAre("vw"));
  }
}

TEST_F(SaverTest, KeepsTheNewest) {
  Saver saver = Built({.max_to_keep = 2});
  const std::unique_ptr<Session> session = NewSession();
  for (int step = 1; step <= 4; ++step) Save(saver, *session, step);
  EXPECT_THAT(Indexes(), ElementsAre("m-3.index", "m-4.index"));
  EXPECT_THAT(saver.last_checkpoints(), ElementsAre("/d/m-3", "/d/m-4"));
  EXPECT_THAT(Recorded(), ElementsAre("/d/m-3", "/d/m-4"));
  EXPECT_EQ(fake_.files.List("/d")->size(), 7u);  // no data file was left behind
}

TEST_F(SaverTest, SavedAgainItCountsAsNew) {
  Saver saver = Built({.max_to_keep = 2});
  const std::unique_ptr<Session> session = NewSession();
  for (const int step : {1, 2, 1, 3}) Save(saver, *session, step);
  EXPECT_THAT(saver.last_checkpoints(), ElementsAre("/d/m-1", "/d/m-3"));
  EXPECT_THAT(Indexes(), ElementsAre("m-1.index", "m-3.index"));
}

TEST_F(SaverTest, WithoutALimitNothingIsRecorded) {
  Saver saver = Built({.max_to_keep = 0});
  const std::unique_ptr<Session> session = NewSession();
  for (int step = 1; step <= 3; ++step) Save(saver, *session, step);
  EXPECT_THAT(saver.last_checkpoints(), IsEmpty());
  EXPECT_THAT(Recorded(), ElementsAre("/d/m-3"));  // the newest alone
  EXPECT_EQ(Indexes().size(), 3u);
}

TEST_F(SaverTest, ADeletionThatFailsIsLoggedOnly) {
  Saver saver = Built({.max_to_keep = 1});
  const std::unique_ptr<Session> session = NewSession();
  Save(saver, *session, 1);
  ASSERT_EQ(Text(fake_.files.Remove("/d/m-1.meta")), "OK");
  ASSERT_EQ(Text(fake_.files.MakeDirectory("/d/m-1.meta/full")), "OK");  // cannot be removed
  EXPECT_EQ(Save(saver, *session, 2), "/d/m-2");
  ASSERT_FALSE(fake_.log.lines().empty());
  EXPECT_THAT(fake_.log.lines().back().text, HasSubstr("Ignoring: "));
}

TEST_F(SaverTest, SaveRefusesAndExplains) {
  Saver unbuilt(fake_.env());
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_THAT(Save(unbuilt, *session, 1), HasSubstr("USAGE: `build()` should be called before save"));
  Saver saver = Built();
  EXPECT_EQ(Save(saver, *session, 1, "/none/there/m"),
            "USAGE: Parent directory of /none/there/m doesn't exist, can't save.");
  EXPECT_THAT(Save(saver, *session, std::nullopt, "/d/checkpoint"), HasSubstr("USAGE: 'latest_filename' collides"));
  const std::unique_ptr<Session> empty = NewSession(false);
  EXPECT_THAT(Save(saver, *empty, 1), HasSubstr("FAILED_PRECONDITION: Attempting to use uninitialized value v"));
  EXPECT_THAT(Recorded(), IsEmpty());
}

TEST_F(SaverTest, AShardedSaverGetsAsFarAsTheStateFile) {
  Saver saver = Built({.sharded = true});
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_THAT(Save(saver, *session, std::nullopt, "/d/checkpoint"),
              HasSubstr("USAGE: Save path '/d/checkpoint' conflicts with path used for checkpoint state"));
  EXPECT_THAT(Indexes(), ElementsAre("checkpoint.index"));
  EXPECT_THAT(saver.last_checkpoints(), ElementsAre("/d/checkpoint"));
}

TEST_F(SaverTest, RestoreRefusesAndExplains) {
  Saver saver = Built();
  const std::unique_ptr<Session> session = NewSession();
  Save(saver, *session, 1);
  fake_.events.Clear();
  EXPECT_EQ(Text(saver.Restore(*session, "/d/m-9")), "USAGE: The passed save_path is not a valid checkpoint: /d/m-9");
  EXPECT_EQ(Text(saver.Restore(*session, "")), "USAGE: Can't load save_path when it is None.");
  const ops::Variable more = ops::MakeVariable(b_, "more", b_.Const("c", Tensor::Scalar<float>(1)));
  Saver bigger = Built({.variables = {{v_.ref, more.ref}}});
  EXPECT_THAT(
      Text(bigger.Restore(*session, "/d/m-1")),
      AllOf(HasSubstr("NOT_FOUND: Restoring from checkpoint failed. This is most likely due to a Variable name"),
            HasSubstr("Key more not found in checkpoint")));
  ASSERT_EQ(Text(fake_.files.Remove("/d/m-1.data-00000-of-00001")), "OK");
  EXPECT_THAT(Text(saver.Restore(*session, "/d/m-1")), HasSubstr("NOT_FOUND: Restoring from checkpoint failed."));
}

TEST_F(SaverTest, AnotherShapeIsAMismatch) {
  Saver saver = Built();
  const std::unique_ptr<Session> session = NewSession();
  Save(saver, *session, 1);
  Graph other(BuiltinOps());
  Builder b(other);
  ops::MakeVariable(b, "w", b.Const("three", Tensor::Vector<float>({1, 1, 1})));
  Saver reader(fake_.env());
  ASSERT_EQ(Text(reader.Build(other)), "OK");
  const std::unique_ptr<Session> there = NewDirectSession(fake_.env(), other);
  EXPECT_THAT(Text(reader.Restore(*there, "/d/m-1")),
              HasSubstr("INVALID_ARGUMENT: Restoring from checkpoint failed. This is most likely due to a mismatch"));
}

TEST_F(SaverTest, NothingToSave) {
  Graph empty(BuiltinOps());
  Saver strict(fake_.env());
  EXPECT_EQ(Text(strict.Build(empty)), "USAGE: No variables to save");
  Saver saver(fake_.env(), {.allow_empty = true});
  EXPECT_EQ(Text(saver.Build(empty)), "OK");
  EXPECT_EQ(empty.size(), 0);
  const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), empty);
  EXPECT_EQ(Save(saver, *session, 1), "");
  EXPECT_EQ(Text(saver.Restore(*session, "/d/none")), "OK");
}

TEST_F(SaverTest, BuildsOnceAndNotesItsCalls) {
  Saver saver = Built();
  const int size = graph_.size();
  EXPECT_EQ(Text(saver.Build(graph_)), "OK");
  EXPECT_EQ(graph_.size(), size);
  const RunSpec save{.feeds = {*graph_.FindOutput("save/Const:0")},
                     .fetches = {*graph_.FindOutput("save/control_dependency")}};
  const RunSpec restore{.feeds = save.feeds, .targets = {*graph_.Find("save/restore_all")}};
  EXPECT_EQ(ClassifyCall({.spec = save}, graph_), CallKind::kSave);
  EXPECT_EQ(ClassifyCall({.spec = restore}, graph_), CallKind::kRestore);
  Built({.sharded = true});
  EXPECT_TRUE(graph_.FindOutput("save_1/Identity").has_value());
  graph_.Finalize();
  Saver late(fake_.env());
  EXPECT_EQ(Text(late.Build(graph_)), "USAGE: Graph is finalized and cannot be modified.");
}

TEST_F(SaverTest, RecoversWhatStillExists) {
  const std::unique_ptr<Session> session = NewSession();
  Saver first = Built();
  for (int step = 1; step <= 3; ++step) Save(first, *session, step);
  ASSERT_EQ(Text(fake_.files.Remove("/d/m-2.index")), "OK");
  Saver second = Built({.max_to_keep = 2});
  EXPECT_EQ(Text(second.RecoverLastCheckpoints({"/d/m-1", "/d/m-2", "/d/m-3"})), "OK");
  EXPECT_THAT(second.last_checkpoints(), ElementsAre("/d/m-1", "/d/m-3"));
  Save(second, *session, 4);
  EXPECT_THAT(second.last_checkpoints(), ElementsAre("/d/m-3", "/d/m-4"));
  EXPECT_THAT(Indexes(), ElementsAre("m-3.index", "m-4.index"));
}

TEST_F(SaverTest, RelativePathsSurviveAMoveOfTheDirectory) {
  Saver saver = Built({.save_relative_paths = true});
  const std::unique_ptr<Session> session = NewSession();
  Save(saver, *session, 1);
  EXPECT_THAT(*ReadAll(fake_.files, "/d/checkpoint"), HasSubstr("model_checkpoint_path: \"m-1\""));
}

}  // namespace
}  // namespace vigil

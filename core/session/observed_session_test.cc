#include "vigil/core/session/observed_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/session/classify.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/session/test_ops.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ClassifyTest : public testing::Test {
 protected:
  ClassifyTest() {
    g_.graph.AddToCollection(kWellKnownCalls, WellKnownCall{init_.node, CallKind::kInit});
    g_.graph.AddToCollection(kWellKnownCalls, WellKnownCall{names_.node, CallKind::kReady});
    g_.graph.AddToCollection(kGlobalStep, step_);
    g_.graph.AddToCollection(kGlobalStepRead, read_);
  }
  std::string Kind(const RunSpec& spec, bool with_hooks = false) {
    return std::string(CallKindName(ClassifyCall({.spec = spec, .with_hooks = with_hooks}, g_.graph)));
  }

  TestGraph g_;
  const Output step_ = g_.Node("Cell", "step");
  const Output read_ = g_.Node("Copy", "read", {step_});
  const Output one_ = g_.Value("one", 1);
  const Output init_ = g_.Node("Set", "init", {step_, one_});
  const Output names_ =
      g_.b.Op("Value", {}, {.name = "names", .attrs = {{"value", Tensor::Vector<std::string>({"v"})}}});
  const Output nobody_ =
      g_.b.Op("Value", {}, {.name = "nobody", .attrs = {{"value", Tensor(DType::kString, Shape({0}))}}});
};

TEST_F(ClassifyTest, AWellKnownNodeAloneIsItsKind) {
  EXPECT_EQ(Kind({.targets = {init_.node}}), "init");
  EXPECT_EQ(Kind({.fetches = {init_}}), "init");
  EXPECT_EQ(Kind({.feeds = {one_}, .targets = {init_.node}}), "init");  // with feeds as well
  EXPECT_EQ(Kind({.fetches = {names_}}), "ready");
  EXPECT_EQ(Kind({.fetches = {one_}, .targets = {init_.node}}), "raw_run");
  EXPECT_EQ(Kind({.fetches = {init_, init_}}), "raw_run");
  EXPECT_EQ(Kind({}), "raw_run");
}

TEST_F(ClassifyTest, SomeOfWhatARestoreGroupsIsARestoreIfItIsFed) {
  const Output other = g_.Node("Set", "other", {step_, one_});
  const Output shard = g_.b.Group("restore_shard", {other.node});
  const Output all = g_.b.Group("restore_all", {init_.node, shard.node});
  g_.graph.AddToCollection(kWellKnownCalls, WellKnownCall{all.node, CallKind::kRestore});
  EXPECT_EQ(Kind({.feeds = {one_}, .targets = {all.node}}), "restore");
  EXPECT_EQ(Kind({.feeds = {one_}, .targets = {other.node}}), "restore");
  EXPECT_EQ(Kind({.feeds = {one_}, .targets = {init_.node, other.node}}), "restore");
  EXPECT_EQ(Kind({.targets = {other.node}}), "raw_run");
  EXPECT_EQ(Kind({.feeds = {one_}, .targets = {other.node, read_.node}}), "raw_run");
  EXPECT_EQ(Kind({.feeds = {one_}, .fetches = {step_, one_}, .targets = {other.node}}), "raw_run");
}

TEST_F(ClassifyTest, TheGlobalStepAloneIsItsReading) {
  EXPECT_EQ(Kind({.fetches = {read_}}), "read_step");
  EXPECT_EQ(Kind({.fetches = {step_}}), "read_step");
  EXPECT_EQ(Kind({.targets = {read_.node}}), "raw_run");  // no answer
  EXPECT_EQ(Kind({.fetches = {one_}}), "raw_run");
}

TEST_F(ClassifyTest, SomethingAndTheGlobalStepIsTheSummary) {
  EXPECT_EQ(Kind({.fetches = {one_, step_}}), "summary");
  EXPECT_EQ(Kind({.fetches = {one_, read_}}), "raw_run");
  EXPECT_EQ(Kind({.fetches = {step_, one_}}), "raw_run");
}

TEST_F(ClassifyTest, WhatTheGraphDoesNotHaveWasFetchedToo) {
  EXPECT_EQ(Kind({.unresolved = {"missing"}}), "raw_run");
  EXPECT_EQ(Kind({.fetches = {step_}, .unresolved = {"missing"}}), "summary");
  EXPECT_EQ(Kind({.fetches = {read_}, .unresolved = {"missing"}}), "raw_run");
}

TEST_F(ClassifyTest, WithHooksEverythingIsARun) {
  EXPECT_EQ(Kind({.fetches = {read_}}, true), "run");
  EXPECT_EQ(Kind({.targets = {init_.node}}, true), "run");
}

class ObservedSessionTest : public ClassifyTest {
 protected:
  std::unique_ptr<Session> Create() {
    DirectSessionFactory factory(fake_.env());
    return *CreateObserved(fake_.env(), factory, g_.graph, "", {});
  }
  // "created 1", "call 1 init OK", "call 1 read_step OK -> 3".
  std::vector<std::string> Lines() {
    std::vector<std::string> out;
    for (const Event& event : fake_.events.events()) {
      std::string line = "?";
      if (event.kind == EventKind::kSessionCreated) line = "created " + std::to_string(event.session);
      if (event.kind == EventKind::kSessionCreateFailed) line = "create failed " + std::string(CodeName(event.code));
      if (event.kind == EventKind::kSessionCall) {
        line = "call " + std::to_string(event.session) + " " +
               std::string(CallKindName(static_cast<CallKind>(event.call))) + " " + std::string(CodeName(event.code));
      }
      if (event.has_value) line += " -> " + std::to_string(static_cast<int>(event.value));
      out.push_back(line);
    }
    fake_.events.Clear();
    return out;
  }

  fakes::FakeEnv fake_;
};

TEST_F(ObservedSessionTest, TellsEachCallWithItsAnswer) {
  const std::unique_ptr<Session> session = Create();
  EXPECT_FALSE(RunFetch(*session, read_).ok());
  EXPECT_TRUE(RunTarget(*session, init_.node).ok());
  EXPECT_TRUE(RunFetch(*session, read_).ok());
  EXPECT_TRUE(RunFetch(*session, one_).ok());
  EXPECT_TRUE(RunFetch(*session, names_).ok());
  EXPECT_THAT(Lines(), ElementsAre("created 1", "call 1 read_step FAILED_PRECONDITION", "call 1 init OK",
                                   "call 1 read_step OK -> 1", "call 1 raw_run OK", "call 1 ready OK -> 0"));
}

TEST_F(ObservedSessionTest, NobodyMissingIsReady) {
  g_.graph.ClearCollection(kWellKnownCalls.name);
  g_.graph.AddToCollection(kWellKnownCalls, WellKnownCall{nobody_.node, CallKind::kReadyForLocalInit});
  g_.graph.AddToCollection(kWellKnownCalls, WellKnownCall{one_.node, CallKind::kReady});
  const std::unique_ptr<Session> session = Create();
  EXPECT_TRUE(RunFetch(*session, nobody_).ok());
  EXPECT_TRUE(RunFetch(*session, one_).ok());  // not names at all
  EXPECT_THAT(Lines(), ElementsAre("created 1", "call 1 ready_for_local_init OK -> 1", "call 1 ready OK -> 1"));
}

TEST_F(ObservedSessionTest, OnlyTheFirstCloseIsTold) {
  const std::unique_ptr<Session> session = Create();
  EXPECT_TRUE(session->Close().ok());
  EXPECT_TRUE(session->Close().ok());
  EXPECT_FALSE(RunFetch(*session, read_).ok());
  EXPECT_THAT(Lines(), ElementsAre("created 1", "call 1 close OK", "call 1 read_step USAGE"));
}

TEST_F(ObservedSessionTest, AFailedCreationIsTold) {
  DirectSessionFactory factory(fake_.env());
  EXPECT_FALSE(CreateObserved(fake_.env(), factory, g_.graph, "grpc://x", {}).ok());
  EXPECT_THAT(Lines(), ElementsAre("create failed UNIMPLEMENTED"));
}

TEST_F(ObservedSessionTest, WithoutASinkTheSessionIsPassedOn) {
  struct Factory : SessionFactory {
    absl::StatusOr<std::unique_ptr<Session>> Create(const Graph& graph, const std::string&,
                                                    const SessionConfig&) override {
      std::unique_ptr<Session> session = NewDirectSession(env, graph);
      made = session.get();
      return session;
    }
    Env env;
    Session* made = nullptr;
  } factory;
  factory.env = fake_.env();
  Env silent = fake_.env();
  silent.events = nullptr;
  const std::unique_ptr<Session> session = *CreateObserved(silent, factory, g_.graph, "", {});
  EXPECT_EQ(session.get(), factory.made);
  EXPECT_THAT(Lines(), IsEmpty());
}

}  // namespace
}  // namespace vigil

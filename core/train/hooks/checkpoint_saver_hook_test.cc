#include "vigil/core/train/hooks/checkpoint_saver_hook.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

#include "vigil/core/base/code.h"
#include "vigil/core/train/hooks/testing.h"

namespace vigil {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using Lines = std::vector<std::string>;

constexpr char kDir[] = "/checkpoints";

// Says what it is called for, and can be told to ask for a stop, to fail or to throw.
class Scribe : public CheckpointSaverListener {
 public:
  explicit Scribe(std::string name, Lines& lines) : name_(std::move(name)), lines_(lines) {}
  std::string_view name() const override { return name_; }
  absl::Status Begin(BeginContext&) override { return Say("begin"); }
  absl::Status BeforeSave(Session&, std::int64_t step) override { return Say(fmt::format("before {}", step)); }
  absl::StatusOr<bool> AfterSave(Session&, std::int64_t step) override {
    Say(fmt::format("after {}", step)).IgnoreError();
    if (throws) throw std::runtime_error("the user's own");
    if (!error.ok()) return error;
    return stop;
  }
  absl::Status End(Session&, std::int64_t step) override { return Say(fmt::format("end {}", step)); }

  bool stop = false;
  bool throws = false;
  absl::Status error;

 private:
  absl::Status Say(const std::string& what) {
    lines_.push_back(name_ + " " + what);
    return absl::OkStatus();
  }
  const std::string name_;
  Lines& lines_;
};

class CheckpointSaverHookTest : public HookTest {
 protected:
  CheckpointSaverHookTest() {
    EXPECT_TRUE(fake_.files.MakeDirectory(kDir).ok());
    saver_ = std::make_shared<Saver>(env(), SaverOptions{});
    EXPECT_TRUE(saver_->Build(graph_).ok());
  }
  std::shared_ptr<CheckpointSaverHook> Make(CheckpointSaverHookOptions options) {
    options.checkpoint_dir = kDir;
    if (options.saver == nullptr && options.scaffold == nullptr) options.saver = saver_;
    return MakeAsGiven(std::move(options));
  }
  std::shared_ptr<CheckpointSaverHook> MakeAsGiven(CheckpointSaverHookOptions options) {
    auto hook = CheckpointSaverHook::Create(env(), std::move(options));
    EXPECT_TRUE(hook.ok()) << hook.status();
    return *std::move(hook);
  }
  std::string Refused(CheckpointSaverHookOptions options) {
    const absl::Status status = CheckpointSaverHook::Create(env(), std::move(options)).status();
    EXPECT_EQ(CodeOf(status), Code::kUsage);
    return std::string(MessageOf(status));
  }
  // The hook sees runs, but is not told of the session: nothing is saved before the first run.
  void StartWithoutTelling(HookPtr hook) {
    ASSERT_TRUE(Begin(std::move(hook)).ok());
    ASSERT_TRUE(NewSession(false).ok());
  }
  std::shared_ptr<Scribe> Listener(const std::string& name = "l") { return std::make_shared<Scribe>(name, lines_); }
  std::vector<std::int64_t> Saved() { return SavedSteps(kDir); }
  // The newest checkpoint.
  std::int64_t Latest() { return Saved().empty() ? -1 : Saved().back(); }

  SaverPtr saver_;
  Lines lines_;
};

TEST_F(CheckpointSaverHookTest, RefusesItsArguments) {
  EXPECT_EQ(Refused({.save_steps = 1, .saver = saver_, .scaffold = std::make_shared<Scaffold>(env(), graph_)}),
            "You cannot provide both saver and scaffold.");
  EXPECT_EQ(Refused({.save_secs = 10s, .save_steps = 20}), "Can not provide both every_secs and every_steps.");
  EXPECT_EQ(Refused({}), "Either every_secs or every_steps should be provided.");
}

TEST_F(CheckpointSaverHookTest, NeedsAGlobalStep) {
  Graph without(BuiltinOps());
  const Env begin_env = env();
  BeginContext context{begin_env, without};
  EXPECT_EQ(MessageOf(Make({.save_steps = 1})->Begin(context)),
            "Global step should be created to use CheckpointSaverHook.");
}

TEST_F(CheckpointSaverHookTest, TheSaverIsTheGivenOneTheScaffoldsOrTheCollections) {
  const auto no_saver = [this] {
    Start(MakeAsGiven({.checkpoint_dir = kDir, .save_steps = 1}));
    return Saved();
  };
  {
    auto hook = MakeAsGiven({.checkpoint_dir = kDir, .save_steps = 1});
    ASSERT_TRUE(Begin(hook).ok());
    const absl::Status none = NewSession();
    EXPECT_EQ(CodeOf(none), Code::kUsage);
    EXPECT_EQ(MessageOf(none),
              "No items in collection savers. Please add a saver to the collection or provide a saver or scaffold.");
    EXPECT_THAT(TakeWriterCalls(), IsEmpty()) << "nor is the graph written";
  }
  graph_.AddToCollection(kSavers, saver_);
  EXPECT_THAT(no_saver(), ElementsAre(0));
  graph_.AddToCollection(kSavers, saver_);
  auto hook = MakeAsGiven({.checkpoint_dir = kDir, .save_steps = 1});
  ASSERT_TRUE(Begin(hook).ok());
  EXPECT_EQ(MessageOf(NewSession()),
            "More than one item in collection savers. Please indicate which one to use by passing it to the "
            "constructor.");
  // A scaffold makes its saver when it is finalized.
  auto scaffold = std::make_shared<Scaffold>(env(), graph_, ScaffoldOptions{.saver = nullptr});
  ASSERT_TRUE(Begin(Make({.save_steps = 1, .scaffold = scaffold})).ok());
  EXPECT_EQ(CodeOf(NewSession()), Code::kUsage);
  graph_.ClearCollection(kSavers.name);
  ASSERT_TRUE(scaffold->Finalize().ok());
  EXPECT_TRUE(NewSession().ok());
}

TEST_F(CheckpointSaverHookTest, SavesInTheFirstRun) {
  StartWithoutTelling(Make({.save_secs = 2s}));
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Latest(), 1);
  StartWithoutTelling(Make({.save_steps = 2}));
  SetStep(6);
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Latest(), 7);
}

TEST_F(CheckpointSaverHookTest, TellsWhenItSavesAndWhenThatIsOver) {
  Start(Make({.save_steps = 2}));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Details(HookDetail::kSaves), ElementsAre(0, 2));
  EXPECT_THAT(Details(HookDetail::kSaved), ElementsAre(0, 2));
}

TEST_F(CheckpointSaverHookTest, SavesBeforeTheFirstRunWhenToldOfTheSession) {
  Start(Make({.save_steps = 2}));
  EXPECT_THAT(Saved(), ElementsAre(0));
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Saved(), ElementsAre(0));
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Saved(), ElementsAre(0, 2));
}

TEST_F(CheckpointSaverHookTest, SavesByTheClock) {
  StartWithoutTelling(Make({.save_secs = 2s}));
  std::vector<std::int64_t> latest;
  for (const Duration later :
       {Duration(0), Duration(500ms), Duration(2s), Duration(100ms), Duration(100ms), Duration(7300ms)}) {
    fake_.clock.Advance(later);
    ASSERT_TRUE(Run().ok());
    latest.push_back(Latest());
  }
  EXPECT_THAT(latest, ElementsAre(1, 1, 3, 3, 3, 6));
}

TEST_F(CheckpointSaverHookTest, SavesByTheStepFromTheFirstSaveOn) {
  StartWithoutTelling(Make({.save_steps = 2}));
  std::vector<std::int64_t> latest;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Run().ok());
    latest.push_back(Latest());
  }
  EXPECT_THAT(latest, ElementsAre(1, 1, 3, 3, 5));
}

TEST_F(CheckpointSaverHookTest, SavesAtTheEndUnlessItHasJustDoneSo) {
  StartWithoutTelling(Make({.save_secs = 2s}));
  ASSERT_TRUE(Run().ok());
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Latest(), 1);
  ASSERT_TRUE(End().ok());
  EXPECT_EQ(Latest(), 2);
  Start(Make({.save_steps = 1, .listeners = {Listener()}}));
  lines_.clear();
  ASSERT_TRUE(End().ok());
  EXPECT_THAT(lines_, ElementsAre("l end 0"));
}

TEST_F(CheckpointSaverHookTest, TheEndNeedsASession) {
  auto hook = Make({.save_steps = 1, .listeners = {Listener()}});
  Start(hook);
  lines_.clear();
  EXPECT_EQ(CodeOf(hook->End(nullptr)), Code::kUsage);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(CheckpointSaverHookTest, ListenersAreCalledAroundEachSave) {
  StartWithoutTelling(Make({.save_secs = 2s, .listeners = {Listener("l"), Listener("m")}}));
  EXPECT_THAT(lines_, ElementsAre("l begin", "m begin"));
  lines_.clear();
  ASSERT_TRUE(Run().ok());
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(lines_, ElementsAre("l before 1", "m before 1", "l after 1", "m after 1"));
  lines_.clear();
  ASSERT_TRUE(End().ok());
  EXPECT_THAT(lines_, ElementsAre("l before 2", "m before 2", "l after 2", "m after 2", "l end 2", "m end 2"));
}

TEST_F(CheckpointSaverHookTest, ListenersAreSaidToBeCalled) {
  Start(Make({.save_steps = 1, .listeners = {Listener()}}));
  std::vector<std::string> calls;
  for (const Event& event : fake_.events.events()) {
    if (event.kind != EventKind::kListenerCall) continue;
    calls.push_back(fmt::format("{} {} {}", event.subject, ListenerMethodName(static_cast<ListenerMethod>(event.call)),
                                event.has_value ? fmt::format("{}", event.value) : "-"));
  }
  EXPECT_THAT(calls, ElementsAre("l begin -", "l before_save 0", "l after_save 0"));
}

TEST_F(CheckpointSaverHookTest, AListenersStopCountsForSavesOfRunsOnly) {
  auto first = Listener("l");
  auto second = Listener("m");
  first->stop = true;
  Start(Make({.save_steps = 1, .listeners = {first, second}}));
  EXPECT_FALSE(should_stop()) << "the save at the start asks nobody";
  lines_.clear();
  ASSERT_TRUE(Run().ok());
  EXPECT_TRUE(should_stop());
  EXPECT_THAT(lines_, ElementsAre("l before 1", "m before 1", "l after 1", "m after 1")) << "all are asked";
  EXPECT_THAT(TakeLog(), Contains("A CheckpointSaverListener requested that training be stopped. listener: l"));
}

TEST_F(CheckpointSaverHookTest, AListenersErrorFailsTheSave) {
  auto listener = Listener();
  Start(Make({.save_steps = 1, .listeners = {listener, Listener("m")}}));
  lines_.clear();
  listener->error = MakeStatus(Code::kDataLoss, "lost");
  EXPECT_EQ(CodeOf(Run()), Code::kDataLoss);
  EXPECT_THAT(lines_, ElementsAre("l before 1", "m before 1", "l after 1"));
  listener->throws = true;
  EXPECT_EQ(CodeOf(Run()), Code::kOther);
}

TEST_F(CheckpointSaverHookTest, ASaveThatFailsCountsAsDone) {
  Start(Make({.save_steps = 2}));
  ASSERT_TRUE(Run().ok());
  fake_.files.FailOnce(fakes::FileOp::kOpen, 1, MakeStatus(Code::kResourceExhausted, "no space"));
  EXPECT_EQ(CodeOf(Run()), Code::kResourceExhausted);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Saved(), ElementsAre(0)) << "step 2 is not tried again, step 3 is not due";
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Saved(), ElementsAre(0, 4));
}

TEST_F(CheckpointSaverHookTest, NothingIsSavedOnceTheModelHasDiverged) {
  for (const bool keeps : {true, false}) {
    Behaviour behaviour;
    behaviour.nan_stop_saves_nothing = keeps;
    Start(Make({.save_steps = 2, .listeners = {Listener()}, .behaviour = behaviour}));
    lines_.clear();
    TakeLog(Severity::kWarning);
    ASSERT_TRUE(Run().ok());
    coord_->MarkDiverged();
    ASSERT_TRUE(Run().ok());
    ASSERT_TRUE(Run().ok());
    ASSERT_TRUE(End().ok());
    if (keeps) {
      EXPECT_THAT(Saved(), ElementsAre(0));
      EXPECT_THAT(lines_, ElementsAre("l end 3"));
      EXPECT_THAT(TakeLog(Severity::kWarning),
                  Contains("The model has diverged: step 3 is not saved into /checkpoints."));
    } else {
      EXPECT_THAT(Saved(), ElementsAre(0, 2, 3));
    }
  }
}

TEST_F(CheckpointSaverHookTest, TwoHooksOfADirectoryMakeOneSaveAStep) {
  for (const bool one : {true, false}) {
    Behaviour behaviour;
    behaviour.one_save_a_step = one;
    auto other = Make({.save_steps = 1, .checkpoint_basename = "other", .behaviour = behaviour});
    auto hook = Make({.save_steps = 1, .listeners = {Listener()}, .behaviour = behaviour});
    Start(hook);
    ASSERT_TRUE(Run().ok());
    lines_.clear();
    TakeWriterCalls();
    Env begin_env = env();
    BeginContext context{begin_env, graph_};
    ASSERT_TRUE(other->Begin(context).ok());
    ASSERT_TRUE(other->AfterCreateSession(session_, coord_).ok());
    EXPECT_EQ(*Exists(fake_.files, "/checkpoints/other-1.index"), !one);
    Lines calls = {"graph", "meta_graph"};
    if (!one) calls.emplace_back("session_log step=1");
    EXPECT_EQ(TakeWriterCalls(), calls);
  }
}

TEST_F(CheckpointSaverHookTest, AnotherSessionOrSaverOrDirectorySavesTheStepAgain) {
  Start(Make({.save_steps = 1}));
  TakeWriterCalls();
  Start(Make({.save_steps = 1}));
  EXPECT_THAT(TakeWriterCalls(), Contains("session_log step=0")) << "of the new session";
  const auto tell = [this](CheckpointSaverHookOptions options) {
    auto hook = MakeAsGiven(std::move(options));
    Env begin_env = env();
    BeginContext context{begin_env, graph_};
    EXPECT_TRUE(hook->Begin(context).ok());
    EXPECT_TRUE(hook->AfterCreateSession(session_, coord_).ok());
    return TakeWriterCalls();
  };
  EXPECT_THAT(tell({.checkpoint_dir = kDir, .save_steps = 1, .saver = saver_}), Not(Contains("session_log step=0")));
  EXPECT_TRUE(fake_.files.MakeDirectory("/elsewhere").ok());
  EXPECT_THAT(tell({.checkpoint_dir = "/elsewhere", .save_steps = 1, .saver = saver_}), Contains("session_log step=0"));
  auto partial = std::make_shared<Saver>(env(), SaverOptions{.variables = std::vector<Output>{global_step_}});
  ASSERT_TRUE(partial->Build(graph_).ok());
  EXPECT_THAT(tell({.checkpoint_dir = kDir, .save_steps = 1, .saver = partial}), Contains("session_log step=0"));
}

TEST_F(CheckpointSaverHookTest, TheListenersOfAHookThatNeedNotSaveAreCalled) {
  auto hook = Make({.save_steps = 1});
  Start(hook);
  auto second = Make({.save_steps = 1, .listeners = {Listener()}});
  Env begin_env = env();
  BeginContext context{begin_env, graph_};
  ASSERT_TRUE(second->Begin(context).ok());
  ASSERT_TRUE(second->AfterCreateSession(session_, coord_).ok());
  EXPECT_THAT(lines_, ElementsAre("l begin", "l before 0", "l after 0"));
}

TEST_F(CheckpointSaverHookTest, SaysOnceAPeriodThatTheStepStandsStill) {
  const std::string_view beginning = "Nothing is saved into /checkpoints as the global step has stood at 0 ";
  for (const bool warns : {true, false}) {
    Behaviour behaviour;
    behaviour.warn_frozen_saver = warns;
    Start(Make({.save_secs = 2s, .behaviour = behaviour}));
    TakeLog(Severity::kWarning);
    std::vector<std::size_t> said;
    for (int i = 0; i < 5; ++i) {
      fake_.clock.Advance(1s);
      ASSERT_TRUE(Run(fed_).ok());
      const auto log = TakeLog(Severity::kWarning);
      said.push_back(log.size());
      if (!log.empty()) {
        EXPECT_TRUE(log[0].starts_with(beginning)) << log[0];
      }
    }
    EXPECT_EQ(said, warns ? (std::vector<std::size_t>{0, 1, 0, 1, 0}) : std::vector<std::size_t>(5));
    ASSERT_TRUE(Run().ok());
    fake_.clock.Advance(2s);
    ASSERT_TRUE(Run().ok());
    fake_.clock.Advance(1s);
    ASSERT_TRUE(Run(fed_).ok());
    EXPECT_THAT(TakeLog(Severity::kWarning), IsEmpty()) << "it has moved, and been saved";
  }
}

TEST_F(CheckpointSaverHookTest, ASaverOfStepsWaitsForSteps) {
  Start(Make({.save_steps = 1}));
  TakeLog(Severity::kWarning);
  fake_.clock.Advance(1000s);
  ASSERT_TRUE(Run(fed_).ok());
  EXPECT_THAT(TakeLog(Severity::kWarning), IsEmpty());
}

TEST_F(CheckpointSaverHookTest, WritesGraphAndSaves) {
  Start(Make({.save_steps = 1}));
  EXPECT_THAT(TakeWriterCalls(), ElementsAre("graph", "meta_graph", "session_log step=0"));
  EXPECT_TRUE(*Exists(fake_.files, JoinPath(kDir, "graph.pbtxt")));
  EXPECT_TRUE(*Exists(fake_.files, JoinPath(kDir, "model.ckpt-0.meta")));
  ASSERT_TRUE(Run().ok());
  EXPECT_TRUE(*Exists(fake_.files, JoinPath(kDir, "model.ckpt-1.meta")));
  EXPECT_THAT(TakeWriterCalls(), ElementsAre("session_log step=1"));
}

TEST_F(CheckpointSaverHookTest, SavesWithoutGraphs) {
  Start(Make({.save_steps = 1, .save_graph_def = false}));
  ASSERT_TRUE(Run().ok());
  const auto names = fake_.files.List(kDir);
  ASSERT_TRUE(names.ok());
  EXPECT_THAT(*names, Not(Contains("graph.pbtxt")));
  for (const std::string& name : *names) EXPECT_FALSE(name.ends_with(".meta")) << name;
  EXPECT_THAT(TakeWriterCalls(), ElementsAre("graph", "meta_graph", "session_log step=0", "session_log step=1"));
}

TEST_F(CheckpointSaverHookTest, EachSessionIsSavedAtItsStart) {
  Start(Make({.save_steps = 10}));
  ASSERT_TRUE(Run().ok());
  ASSERT_TRUE(NewSession().ok());
  EXPECT_THAT(TakeWriterCalls(),
              ElementsAre("graph", "meta_graph", "session_log step=0", "graph", "meta_graph", "session_log step=0"));
}

// Upstream: a loop of five steps in each run, a checkpoint every ten.
class CheckpointSaverHookMultiStepTest : public CheckpointSaverHookTest {
 protected:
  void StartLoop() {
    auto hook = Make({.save_steps = 10});
    hook->set_steps_per_run(5);
    loop_ = ops::AssignAdd(b(), "loop", global_step_, b().Const("five", Tensor::Scalar<std::int64_t>(5)));
    StartWithoutTelling(hook);
  }
  Output loop_;
};

TEST_F(CheckpointSaverHookMultiStepTest, SavesPeriodically) {
  StartLoop();
  std::vector<std::int64_t> latest;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Run(loop_).ok());
    latest.push_back(Latest());
  }
  EXPECT_THAT(latest, ElementsAre(5, 5, 15, 15, 25));
}

TEST_F(CheckpointSaverHookMultiStepTest, SavesAtTheEnd) {
  StartLoop();
  ASSERT_TRUE(Run(loop_).ok());
  ASSERT_TRUE(Run(loop_).ok());
  ASSERT_TRUE(End().ok());
  EXPECT_EQ(Latest(), 10);
}

}  // namespace
}  // namespace vigil

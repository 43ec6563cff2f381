// What is expected was recorded from TensorFlow 2.21 around the hook of 2.15, the last release that has it.
#include "vigil/core/train/hooks/checkpoint_input_pipeline_hook.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/train/hooks/testing.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using Lines = std::vector<std::string>;

constexpr char kInputs[] = "/c";

class CheckpointInputPipelineHookTest : public HookTest {
 protected:
  CheckpointInputPipelineHookTest() { EXPECT_EQ(Text(fake_.files.MakeDirectory(kInputs)), "OK"); }
  void AddInput() {
    next_ = ops::RangeIterator(b(), "input", 100);
    EXPECT_EQ(Text(b().status()), "OK");
  }
  std::shared_ptr<CheckpointInputPipelineHook> Make(CheckpointInputPipelineHookOptions options) {
    options.checkpoint_dir = kInputs;
    auto hook = CheckpointInputPipelineHook::Create(env(), options);
    EXPECT_EQ(Text(hook.status()), "OK");
    return *std::move(hook);
  }
  // A training step: the input that it saw; -1 if it failed.
  std::int64_t Step() {
    const absl::Status status = Run(Fetches::List({next_, train_}));
    EXPECT_EQ(Text(status), "OK");
    return status.ok() ? result_.values()[0].scalar<std::int64_t>() : -1;
  }
  std::vector<std::int64_t> Steps(int n) {
    std::vector<std::int64_t> seen;
    for (int i = 0; i < n; ++i) seen.push_back(Step());
    return seen;
  }
  void RemoveAll() {
    for (const std::string& name : Names()) EXPECT_EQ(Text(fake_.files.Remove(JoinPath(kInputs, name))), "OK");
  }
  Lines Names() { return fake_.files.List(kInputs).value_or(Lines()); }
  // Prefixes that the state file lists.
  Lines Listed(const std::string& state_file = "checkpoint_input") {
    const auto state = GetCheckpointState(env(), kInputs, state_file);
    EXPECT_TRUE(state.ok() && state->has_value());
    Lines out;
    for (const std::string& each : (*state)->all_model_checkpoint_paths) out.push_back(Basename(each));
    return out;
  }

  Output next_;
};

TEST_F(CheckpointInputPipelineHookTest, RefusesItsArguments) {
  const auto refused = [this](const CheckpointInputPipelineHookOptions& options) {
    return Text(CheckpointInputPipelineHook::Create(env(), options).status());
  };
  EXPECT_EQ(refused({.save_secs = 10s, .save_steps = 20}), "USAGE: Can not provide both every_secs and every_steps.");
  EXPECT_EQ(refused({}), "USAGE: Either every_secs or every_steps should be provided.");
}

TEST_F(CheckpointInputPipelineHookTest, AModelWithoutAnIteratorIsRefused) {
  EXPECT_EQ(Text(Begin(Make({.save_steps = 1}))), "USAGE: No variables to save");
}

TEST_F(CheckpointInputPipelineHookTest, NeedsAGlobalStep) {
  Graph without(BuiltinOps());
  Builder builder(without);
  ops::RangeIterator(builder, "input", 2);
  const Env begin_env = env();
  BeginContext context{begin_env, without};
  EXPECT_EQ(Text(Make({.save_steps = 1})->Begin(context)),
            "USAGE: Global step should be created to use CheckpointSaverHook.");
}

TEST_F(CheckpointInputPipelineHookTest, SavesTheIteratorsOnlyAndNotBeforeTheFirstRun) {
  AddInput();
  Start(Make({.save_steps = 2}));
  EXPECT_THAT(Names(), IsEmpty());
  TakeLog();
  TakeWriterCalls();
  EXPECT_EQ(Step(), 0);
  EXPECT_THAT(TakeLog(), ElementsAre("Calling checkpoint listeners before saving checkpoint 0...",
                                     "Saving checkpoints for 0 into /c/input.ckpt.",
                                     "Calling checkpoint listeners after saving checkpoint 0..."));
  EXPECT_THAT(TakeWriterCalls(), ElementsAre("session_log step=0"));
  EXPECT_THAT(Names(), ElementsAre("checkpoint_input", "input.ckpt-0.data-00000-of-00001", "input.ckpt-0.index",
                                   "input.ckpt-0.meta"));
  EXPECT_THAT(Steps(4), ElementsAre(1, 2, 3, 4));
  ASSERT_EQ(Text(End()), "OK");
  EXPECT_THAT(Listed(), ElementsAre("input.ckpt-0", "input.ckpt-2", "input.ckpt-4", "input.ckpt-5"));
  auto reader = BundleReader::Open(fake_.files, "/c/input.ckpt-4");
  ASSERT_EQ(Text(reader.status()), "OK");
  EXPECT_EQ(reader->entries().size(), 1u);
  EXPECT_TRUE(reader->Has("input/OneShotIterator:0_STATE"));
  EXPECT_THAT(graph_.Collection(kSavers), IsEmpty()) << "it is not the model's saver";
}

TEST_F(CheckpointInputPipelineHookTest, RestoresBeforeTheFirstRunOfASession) {
  AddInput();
  Start(Make({.save_steps = 2}));
  EXPECT_THAT(Steps(3), ElementsAre(0, 1, 2));
  ASSERT_EQ(Text(NewSession()), "OK");
  SetStep(2);
  TakeLog();
  EXPECT_EQ(Step(), 2);
  EXPECT_THAT(TakeLog(), ElementsAre("Restoring parameters from /c/input.ckpt-2"));
  EXPECT_EQ(Step(), 3);
  EXPECT_THAT(Listed(), ElementsAre("input.ckpt-0", "input.ckpt-2", "input.ckpt-4"));
}

TEST_F(CheckpointInputPipelineHookTest, ANewProcessGoesOnAndSavesItsFirstRun) {
  AddInput();
  for (const bool tensorflow : {false, true}) {
    const Behaviour behaviour = tensorflow ? Behaviour::TensorFlow() : Behaviour::Default();
    RemoveAll();
    Start(Make({.save_steps = 2, .behaviour = behaviour}));
    EXPECT_THAT(Steps(5), ElementsAre(0, 1, 2, 3, 4));
    ASSERT_EQ(Text(End()), "OK");
    Start(Make({.save_steps = 2, .behaviour = behaviour}));
    SetStep(5);
    EXPECT_THAT(Steps(5), ElementsAre(5, 6, 7, 8, 9));
    ASSERT_EQ(Text(End()), "OK");
    if (tensorflow) {
      EXPECT_THAT(Listed(), ElementsAre("input.ckpt-6", "input.ckpt-8", "input.ckpt-10"));
      EXPECT_THAT(Names(), Contains("input.ckpt-0.index")) << "forgotten";
    } else {
      EXPECT_THAT(Listed(),
                  ElementsAre("input.ckpt-4", "input.ckpt-5", "input.ckpt-6", "input.ckpt-8", "input.ckpt-10"));
      EXPECT_THAT(Names(), Not(Contains("input.ckpt-0.index")));
    }
  }
}

TEST_F(CheckpointInputPipelineHookTest, EachOfSeveralWorkersHasItsOwn) {
  AddInput();
  Start(Make({.save_steps = 10, .worker = {{.type = "worker", .id = 3}}}));
  EXPECT_EQ(Step(), 0);
  EXPECT_THAT(Names(), Contains("checkpoint_input_worker_3"));
  EXPECT_THAT(Listed("checkpoint_input_worker_3"), ElementsAre("input_worker_3.ckpt-0"));
}

TEST_F(CheckpointInputPipelineHookTest, SavesByTheClock) {
  AddInput();
  Start(Make({.save_secs = 10s}));
  Steps(2);
  fake_.clock.Advance(11s);
  Steps(2);
  EXPECT_THAT(Listed(), ElementsAre("input.ckpt-0", "input.ckpt-3"));
}

TEST_F(CheckpointInputPipelineHookTest, WhereTheFilesAreGoneTheInputBeginsAnew) {
  AddInput();
  for (const bool tensorflow : {false, true}) {
    const Behaviour behaviour = tensorflow ? Behaviour::TensorFlow() : Behaviour::Default();
    RemoveAll();
    Start(Make({.save_steps = 10, .behaviour = behaviour}));
    Steps(2);
    ASSERT_EQ(Text(NewSession()), "OK");
    EXPECT_EQ(Step(), 0) << "input.ckpt-0 is there";
    ASSERT_EQ(Text(fake_.files.Remove("/c/input.ckpt-0.index")), "OK");
    Start(Make({.save_steps = 10, .behaviour = behaviour}));
    TakeLog();
    EXPECT_EQ(Step(), 0);
    EXPECT_THAT(Listed(), ElementsAre("input.ckpt-0"));
    EXPECT_THAT(TakeLog(Severity::kError), ElementsAre("Couldn't match files for checkpoint /c/input.ckpt-0"));
  }
}

TEST_F(CheckpointInputPipelineHookTest, WhereTheNewestIsGoneTheOneBeforeIsRestored) {
  AddInput();
  Start(Make({.save_steps = 2}));
  EXPECT_THAT(Steps(5), ElementsAre(0, 1, 2, 3, 4));
  for (const char* const gone : {"/c/input.ckpt-4.index", "/c/input.ckpt-0.index"}) {
    ASSERT_EQ(Text(fake_.files.Remove(gone)), "OK");
    ASSERT_EQ(Text(NewSession()), "OK");
    EXPECT_EQ(Step(), 2) << gone;
    SetStep(0);
  }
}

TEST_F(CheckpointInputPipelineHookTest, AStateFileThatSaysNothingIsReplacedByTheDirectory) {
  AddInput();
  for (const char* const bytes : {"", "!!! {{{"}) {
    RemoveAll();
    Start(Make({.save_steps = 2}));
    EXPECT_THAT(Steps(5), ElementsAre(0, 1, 2, 3, 4));
    ASSERT_EQ(Text((*fake_.files.Open("/c/checkpoint_input", OpenMode::kTruncate))->Append(bytes)), "OK");
    ASSERT_EQ(Text(NewSession()), "OK");
    EXPECT_EQ(Step(), 4) << "input.ckpt-4, where the file says " << bytes;
    SetStep(0);
  }
}

TEST_F(CheckpointInputPipelineHookTest, ADamagedStateIsPassedOverIfAsked) {
  AddInput();
  for (const bool fallback : {true, false}) {
    Behaviour behaviour;
    behaviour.restore_fallback = fallback;
    RemoveAll();
    Start(Make({.save_steps = 2, .behaviour = behaviour}));
    Steps(3);
    const std::string data = JoinPath(kInputs, Listed().back()) + ".data-00000-of-00001";
    ASSERT_EQ(Text((*fake_.files.Open(data, OpenMode::kTruncate))->Append("x")), "OK");
    ASSERT_EQ(Text(NewSession()), "OK");
    TakeLog(Severity::kWarning);
    if (fallback) {
      EXPECT_EQ(Step(), 0) << "input.ckpt-0";
      const Lines said = TakeLog(Severity::kWarning);
      ASSERT_EQ(said.size(), 1u);
      EXPECT_TRUE(said[0].starts_with("Checkpoint /c/input.ckpt-2 is not complete and is passed over: ")) << said[0];
    } else {
      EXPECT_EQ(CodeOf(Run()), Code::kDataLoss);
      EXPECT_EQ(CodeOf(Run()), Code::kDataLoss) << "tried again at every run";
    }
  }
}

TEST_F(CheckpointInputPipelineHookTest, NothingIsSavedOnceTheModelHasDiverged) {
  AddInput();
  Start(Make({.save_steps = 1}));
  Step();
  coord_->MarkDiverged();
  Step();
  ASSERT_EQ(Text(End()), "OK");
  EXPECT_THAT(Listed(), ElementsAre("input.ckpt-0", "input.ckpt-1"));
}

TEST_F(CheckpointInputPipelineHookTest, IsNoReasonToSaveTheModelTwice) {
  AddInput();
  auto saver = std::make_shared<Saver>(env(), SaverOptions{});
  ASSERT_EQ(Text(saver->Build(graph_)), "OK");
  const auto save_model = [&](const std::string& name) {
    auto hook = CheckpointSaverHook::Create(
        env(), {.checkpoint_dir = kInputs, .save_steps = 1, .saver = saver, .checkpoint_basename = name});
    ASSERT_EQ(Text(hook.status()), "OK");
    const Env begin_env = env();
    BeginContext context{begin_env, graph_};
    ASSERT_EQ(Text((*hook)->Begin(context)), "OK");
    ASSERT_EQ(Text((*hook)->AfterCreateSession(session_, coord_)), "OK");
  };
  Start(Make({.save_steps = 10}));
  save_model("model.ckpt");
  ASSERT_EQ(Text(Run(next_)), "OK");  // saves the input at step 0
  save_model("other.ckpt");
  EXPECT_THAT(Names(), testing::AllOf(Contains("model.ckpt-0.index"), Contains("input.ckpt-0.index"),
                                      Not(Contains("other.ckpt-0.index"))));
}

// Upstream's: a training that goes on in its data, or begins them anew without the hook.
TEST_F(CheckpointInputPipelineHookTest, ATrainingGoesOnInItsData) {
  const auto train = [this](bool with_hook) {
    Graph graph(BuiltinOps());
    Builder builder(graph);
    const Output step = *GetOrCreateGlobalStep(env(), builder);
    const Output move = ops::AssignAdd(builder, "train", step, builder.Const("one", Tensor::Scalar<std::int64_t>(1)));
    const Output next = ops::RangeIterator(builder, "input", 10);
    auto scaffold = std::make_shared<Scaffold>(env(), graph);
    std::vector<HookPtr> hooks = {
        *CheckpointSaverHook::Create(env(), {.checkpoint_dir = kInputs, .save_steps = 10, .scaffold = scaffold})};
    if (with_hook) hooks.push_back(Make({.save_steps = 10}));
    auto session = MonitoredSession::Create(
        env(), graph,
        {.session_creator = std::make_shared<ChiefSessionCreator>(
             env(), graph, ChiefSessionCreatorOptions{.scaffold = scaffold, .checkpoint_dir = kInputs}),
         .hooks = hooks});
    EXPECT_EQ(Text(session.status()), "OK");
    std::string out;
    for (int i = 0; i < 2; ++i) {
      const auto run = (*session)->Run(Fetches::List({next, move}));
      EXPECT_EQ(Text(run.status()), "OK");
      if (!run.ok()) return out;
      out = fmt::format("({}, {})", run->values()[1].scalar<std::int64_t>(), run->values()[0].scalar<std::int64_t>());
    }
    EXPECT_EQ(Text((*session)->Close()), "OK");
    return out;
  };
  EXPECT_EQ(train(true), "(2, 1)");
  EXPECT_EQ(train(true), "(4, 3)");
  EXPECT_EQ(train(false), "(6, 1)");
  EXPECT_EQ(train(true), "(8, 5)") << "the input is where it was last saved, at step 4";
}

}  // namespace
}  // namespace vigil

#include "vigil/core/train/hooks/profiler_hook.h"

#include <chrono>

#include "vigil/core/base/code.h"
#include "vigil/core/train/hooks/testing.h"

namespace vigil {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kProfiles[] = "/profile";

class ProfilerHookTest : public HookTest {
 protected:
  ProfilerHookTest() { EXPECT_TRUE(fake_.files.MakeDirectory(kProfiles).ok()); }
  void StartProfiling(ProfilerHookOptions options) {
    options.output_dir = kProfiles;
    Start(*ProfilerHook::Create(env(), std::move(options)));
  }
  std::vector<std::string> Timelines() {
    std::vector<std::string> files;
    const absl::StatusOr<std::vector<std::string>> names = fake_.files.List(kProfiles);
    for (const std::string& name : *names) {
      if (name.starts_with("timeline-")) files.push_back(name);
    }
    return files;
  }
};

TEST_F(ProfilerHookTest, TakesExactlyOnePeriod) {
  EXPECT_EQ(CodeOf(ProfilerHook::Create(env(), {.save_steps = 1, .save_secs = 1s}).status()), Code::kUsage);
  EXPECT_EQ(CodeOf(ProfilerHook::Create(env(), {}).status()), Code::kUsage);
}

TEST_F(ProfilerHookTest, NeedsAGlobalStep) {
  Graph without(BuiltinOps());
  const Env begin_env = env();
  BeginContext context{begin_env, without};
  const absl::Status status =
      (*ProfilerHook::Create(env(), {.save_steps = 1, .output_dir = kProfiles}))->Begin(context);
  EXPECT_EQ(MessageOf(status), "Global step should be created to use ProfilerHook.");
}

TEST_F(ProfilerHookTest, NeverTheFirstRun) {
  StartProfiling({.save_steps = 1});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Timelines(), IsEmpty());
  StartProfiling({.save_secs = 0s});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Timelines(), IsEmpty());
}

TEST_F(ProfilerHookTest, TellsItsPeriod) {
  StartProfiling({.save_steps = 2});
  EXPECT_THAT(Details(HookDetail::kEverySteps), ElementsAre(2));
}

TEST_F(ProfilerHookTest, EverySecondStep) {
  StartProfiling({.save_steps = 2});
  std::vector<std::size_t> files;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Run().ok());
    files.push_back(Timelines().size());
  }
  EXPECT_THAT(files, ElementsAre(0, 1, 1, 2, 2));
  EXPECT_THAT(Timelines(), ElementsAre("timeline-2.json", "timeline-4.json"));
  EXPECT_THAT(TakeLog(), Contains("Saving timeline for 2 into '/profile/timeline-2.json'."));
}

TEST_F(ProfilerHookTest, ByTheClock) {
  StartProfiling({.save_secs = 2s});
  std::vector<std::size_t> files;
  for (const Duration later : {0ms, 1000ms, 1500ms, 2000ms, 100ms}) {
    fake_.clock.Advance(later);
    ASSERT_TRUE(Run().ok());
    files.push_back(Timelines().size());
  }
  EXPECT_THAT(files, ElementsAre(0, 0, 1, 2, 2));
}

TEST_F(ProfilerHookTest, TheMetadataGoToTheEventsFile) {
  StartProfiling({.save_steps = 1});
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(merged_options_.trace_level, TraceLevel::kNoTrace);
  fake_.events.Clear();
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(merged_options_.trace_level, TraceLevel::kFullTrace);
  std::vector<std::string> tags;
  for (const Event& event : fake_.events.events()) {
    if (event.kind == EventKind::kWriterCall) tags.emplace_back(event.subject);
  }
  EXPECT_THAT(tags, ElementsAre("step_2"));
}

// A recovery takes the step back, and the same one is made and traced again.
TEST_F(ProfilerHookTest, AStepThatIsMadeAgainIsTracedAgain) {
  const auto trace_twice = [this](const Behaviour& behaviour) {
    StartProfiling({.save_steps = 1, .behaviour = behaviour});
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(Run().ok());
    SetStep(1);
    return Run();
  };
  const absl::Status refused = trace_twice(Behaviour::TensorFlow());
  EXPECT_EQ(CodeOf(refused), Code::kUsage);
  EXPECT_NE(MessageOf(refused).find("tag was already used"), std::string_view::npos);
  SetStep(0);
  EXPECT_TRUE(trace_twice(Behaviour::Default()).ok());
}

}  // namespace
}  // namespace vigil

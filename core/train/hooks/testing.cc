#include "vigil/core/train/hooks/testing.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/training_util.h"

namespace vigil {
HookTest::HookTest() {
  global_step_ = *GetOrCreateGlobalStep(env(), builder_);
  const Output one = builder_.Const("one", Tensor::Scalar<std::int64_t>(1));
  train_ = ops::AssignAdd(builder_, "train", global_step_, one);
  loss_ = builder_.Const("loss", Tensor::Scalar<float>(0.5F));
  fed_ = ops::PlaceholderWithDefault(builder_, "fed", one);
  new_step_ = ops::Placeholder(builder_, "new_step", DType::kInt64);
  set_step_ = ops::Assign(builder_, "set_step", global_step_, new_step_).node;
  EXPECT_TRUE(builder_.status().ok()) << builder_.status();
}

HookTest::~HookTest() {
  if (session_ != nullptr) session_->Close().IgnoreError();
}

absl::Status HookTest::Begin(HookPtr hook) {
  hook_ = std::move(hook);
  hooks_ = {hook_};
  const Env begin_env = env();
  BeginContext context{begin_env, graph_};
  return hook_->Begin(context);
}

absl::Status HookTest::NewSession(bool tell_hook) {
  if (session_ != nullptr) VIGIL_RETURN_IF_ERROR(session_->Close());
  session_ = NewDirectSession(env(), graph_);
  for (const ops::Variable& variable : graph_.Collection(ops::kVariables)) {
    VIGIL_RETURN_IF_ERROR(RunTarget(*session_, variable.initializer));
  }
  coord_ = std::make_shared<Coordinator>(env());
  life_ = SessionLife();  // by default a stop request would outlive the old session
  hooked_ = std::make_unique<HookedSession>(env(), session_, hooks_, life_);
  return tell_hook ? hook_->AfterCreateSession(session_, coord_) : absl::OkStatus();
}

void HookTest::Start(HookPtr hook) {
  absl::Status status = Begin(std::move(hook));
  ASSERT_TRUE(status.ok()) << status;
  status = NewSession();
  ASSERT_TRUE(status.ok()) << status;
}

absl::Status HookTest::Run(const Fetches& fetches, const RunOptions& options) {
  const Feeds no_feeds;
  merged_options_ = options;
  LayerRun run{.fetches = fetches, .feeds = no_feeds, .options = merged_options_, .result = &result_};
  return hooked_->Run(run);
}

std::int64_t HookTest::step() { return *ReadGlobalStep(*session_, global_step_); }

void HookTest::SetStep(std::int64_t step) {
  const RunSpec spec{.feeds = {new_step_}, .fetches = {}, .targets = {set_step_}, .unresolved = {}};
  const Tensor value = Tensor::Scalar<std::int64_t>(step);
  std::vector<Tensor> nothing;
  const absl::Status status = session_->Run({.spec = spec, .feed_values = {&value, 1}}, &nothing);
  EXPECT_TRUE(status.ok()) << status;
}

std::vector<std::string> HookTest::TakeLog(Severity severity) {
  std::vector<std::string> lines;
  for (const auto& line : fake_.log.lines()) {
    if (line.severity == severity) lines.push_back(line.text);
  }
  fake_.log.Clear();
  return lines;
}

std::vector<std::int64_t> HookTest::SavedSteps(const std::string& directory) {
  constexpr std::string_view kBase = "model.ckpt-";
  constexpr std::string_view kIndex = ".index";
  std::vector<std::int64_t> steps;
  const auto names = fake_.files.List(directory);
  EXPECT_TRUE(names.ok()) << names.status();
  for (const std::string& name : *names) {
    if (!name.starts_with(kBase) || !name.ends_with(kIndex)) continue;
    std::int64_t step = -1;
    std::from_chars(name.data() + kBase.size(), name.data() + name.size() - kIndex.size(), step);
    steps.push_back(step);
  }
  std::ranges::sort(steps);
  return steps;
}

std::vector<std::string> HookTest::TakeWriterCalls() {
  std::vector<std::string> calls;
  for (const Event& event : fake_.events.events()) {
    if (event.kind != EventKind::kWriterCall) continue;
    std::string text(WriterCallName(static_cast<WriterCall>(event.call)));
    if (event.has_value) text += fmt::format(" step={}", static_cast<std::int64_t>(event.value));
    calls.push_back(std::move(text));
  }
  fake_.events.Clear();
  return calls;
}

}  // namespace vigil

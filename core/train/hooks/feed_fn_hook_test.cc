#include "vigil/core/train/hooks/feed_fn_hook.h"

#include <stdexcept>

#include "vigil/core/base/code.h"
#include "vigil/core/train/hooks/testing.h"

namespace vigil {
namespace {

class FeedFnHookTest : public HookTest {};

TEST_F(FeedFnHookTest, FeedsEveryRunAnew) {
  std::int64_t next = 10;
  Start(*FeedFnHook::Create(env(), {.feed_fn = [&] { return Feeds{{fed_, Tensor::Scalar<std::int64_t>(next++)}}; }}));
  for (const std::int64_t wanted : {10, 11}) {
    ASSERT_TRUE(Run(fed_).ok());
    EXPECT_EQ(result_.values().scalar<std::int64_t>(), wanted);
  }
}

TEST_F(FeedFnHookTest, AnErrorOfTheFunctionFailsTheRun) {
  Start(*FeedFnHook::Create(
      env(), {.feed_fn = []() -> absl::StatusOr<Feeds> { return MakeStatus(Code::kOutOfRange, "no more"); }}));
  EXPECT_EQ(CodeOf(Run(fed_)), Code::kOutOfRange);
  auto hook = *FeedFnHook::Create(
      env(), {.feed_fn = []() -> absl::StatusOr<Feeds> { throw std::runtime_error("the user's own"); }});
  Start(hook);
  const Fetches fetches;
  const Feeds feeds;
  RunContext context(fetches, feeds, *session_);
  RunArgs args;
  EXPECT_EQ(CodeOf(hook->BeforeRun(context, args)), Code::kOther) << "also without a session around it";
}

TEST_F(FeedFnHookTest, NeedsAFunction) { EXPECT_EQ(CodeOf(FeedFnHook::Create(env(), {}).status()), Code::kUsage); }

}  // namespace
}  // namespace vigil

// What a run through the layers of a session costs besides the raw run: no allocation. This program replaces operator
// new.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/hooked_session.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/allocations/allocations.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

class NoOpHook : public SessionRunHook {};

// Asks for a value in each run, with fetches that it has prepared.
class FetchingHook : public SessionRunHook {
 public:
  explicit FetchingHook(Output what) : what_(what) {}
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = what_;
    return absl::OkStatus();
  }

 private:
  const Fetches what_;
};

// The same without preparation: one allocation a run.
class CarelessHook : public SessionRunHook {
 public:
  explicit CarelessHook(Output what) : what_(what) {}
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = Fetches(what_);
    return absl::OkStatus();
  }

 private:
  const Output what_;
};

class SessionAllocationsTest : public testing::TestWithParam<int> {
 protected:
  SessionAllocationsTest() {
    Builder b(graph_);
    step_ = *GetOrCreateGlobalStep(env(), b);
    const Output one = b.Const("one", Tensor::Scalar<std::int64_t>(1));
    train_ = ops::AssignAdd(b, "train", step_, one);
    fed_ = ops::PlaceholderWithDefault(b, "fed", one);
    read_ = GetOrCreateGlobalStepRead(env(), b)->value();
    nothing_ = b.Group("nothing", {});
    EXPECT_TRUE(b.status().ok()) << b.status();
  }
  // Nobody watches: a sink may allocate.
  Env env() {
    Env env = fake_.env();
    env.events = nullptr;
    return env;
  }
  template <typename Hook, typename... Arguments>
  std::vector<HookPtr> Hooks(Arguments... arguments) const {
    std::vector<HookPtr> hooks;
    for (int i = 0; i < GetParam(); ++i) hooks.push_back(std::make_shared<Hook>(arguments...));
    return hooks;
  }

  // Allocations of a hundred calls, once a few have warmed up. A call that fails is counted as well: as very many.
  template <typename Call>
  static std::uint64_t AllocationsOf(Call call) {
    bool ok = true;
    for (int i = 0; i < 3; ++i) ok = call() && ok;
    const std::uint64_t before = fakes::Allocations();
    for (int i = 0; i < 100; ++i) ok = call() && ok;
    const std::uint64_t after = fakes::Allocations();
    EXPECT_TRUE(ok);
    return after - before;
  }
  // Of what a training loop does: asks whether to stop, then runs.
  std::uint64_t AllocationsOfLoop(MonitoredSessionBase& session, const Fetches& fetches, const Feeds& feeds = {}) {
    RunResult result;
    return AllocationsOf([&] {
      const absl::StatusOr<bool> stop = session.ShouldStop();
      return stop.ok() && !*stop && session.RunInto(&result, fetches, feeds).ok();
    });
  }
  std::uint64_t AllocationsWith(std::vector<HookPtr> hooks, const Fetches& fetches, const Feeds& feeds = {}) {
    auto session = MonitoredSession::Create(env(), graph_, {.hooks = std::move(hooks)});
    EXPECT_TRUE(session.ok()) << session.status();
    if (!session.ok()) return ~std::uint64_t{0};
    const std::uint64_t counted = AllocationsOfLoop(**session, fetches, feeds);
    EXPECT_TRUE((*session)->Close().ok());
    return counted;
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Output step_, train_, fed_, read_, nothing_;
};

TEST_P(SessionAllocationsTest, HookedSession) {
  const std::vector<HookPtr> hooks = Hooks<NoOpHook>();
  const SessionPtr raw = NewDirectSession(env(), graph_);
  SessionLife life;
  HookedSession session(env(), raw, hooks, life);
  const Fetches fetches = Fetches::Op(nothing_.node);
  const Feeds no_feeds;
  RunOptions options;
  RunResult result;
  EXPECT_EQ(AllocationsOf([&] {
              LayerRun run{.fetches = fetches, .feeds = no_feeds, .options = options, .result = &result};
              return session.Run(run).ok();
            }),
            0u);
  EXPECT_TRUE(raw->Close().ok());
}

TEST_P(SessionAllocationsTest, MonitoredSession) {
  EXPECT_EQ(AllocationsWith(Hooks<NoOpHook>(), Fetches::Op(nothing_.node)), 0u);
  EXPECT_EQ(AllocationsWith(Hooks<NoOpHook>(), train_), 0u);
}

TEST_P(SessionAllocationsTest, SingularMonitoredSession) {
  auto session = SingularMonitoredSession::Create(env(), graph_, {.hooks = Hooks<NoOpHook>()});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(AllocationsOfLoop(**session, train_), 0u);
  EXPECT_TRUE((*session)->Close().ok());
}

TEST_P(SessionAllocationsTest, NestedFetchesFeedsAndHooksThatFetch) {
  const Fetches fetches =
      Fetches::Map({{"train", train_}, {"rest", Fetches::List({fed_, Fetches::Op(nothing_.node)})}});
  const Feeds feeds = {{fed_, Tensor::Scalar<std::int64_t>(5)}};
  EXPECT_EQ(AllocationsWith(Hooks<FetchingHook>(read_), fetches, feeds), 0u);
}

// Takes what is written and forgets it.
class NoFile : public File {
 public:
  absl::Status Append(std::string_view) override { return absl::OkStatus(); }
  absl::StatusOr<std::string> Read(std::uint64_t, std::uint64_t) override { return std::string(); }
  absl::Status Sync() override { return absl::OkStatus(); }
  absl::Status Close() override { return absl::OkStatus(); }
};
class NoFiles : public Files {
 public:
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string&, OpenMode) override {
    ++opened;
    return std::make_unique<NoFile>();
  }
  absl::Status Rename(const std::string&, const std::string&) override { return absl::OkStatus(); }
  absl::Status Remove(const std::string&) override { return absl::OkStatus(); }
  absl::StatusOr<FileInfo> Stat(const std::string&) override { return FileInfo(); }
  absl::StatusOr<std::vector<std::string>> List(const std::string&) override { return std::vector<std::string>(); }
  absl::Status MakeDirectory(const std::string&) override { return absl::OkStatus(); }
  absl::Status SyncDirectory(const std::string&) override { return absl::OkStatus(); }
  int opened = 0;
};

TEST_P(SessionAllocationsTest, ATracedSession) {
  NoFiles files;
  Env traced = env();
  traced.files = &files;
  auto session = MonitoredSession::Create(traced, graph_, {.hooks = Hooks<NoOpHook>(), .trace_path = "/x.trace"});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(AllocationsOfLoop(**session, train_), 0u);
  EXPECT_TRUE((*session)->Close().ok());
  EXPECT_EQ(files.opened, 1);
}

// The counter itself.
TEST_P(SessionAllocationsTest, EveryAllocationIsCounted) {
  EXPECT_EQ(AllocationsWith(Hooks<CarelessHook>(read_), train_), 100u * static_cast<unsigned>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Hooks, SessionAllocationsTest, testing::Range(0, 17));

}  // namespace
}  // namespace vigil

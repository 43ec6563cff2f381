#include "vigil/core/train/session_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/traces/trace_parts.h"

namespace vigil {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr char kPath[] = "/x.trace";

class NamedHook : public SessionRunHook {
 public:
  std::string_view name() const override { return "named"; }
};

class OwnCreator : public SessionCreator {
 public:
  explicit OwnCreator(const Env& env, Graph& graph) : inner_(env, graph) {}
  absl::StatusOr<SessionPtr> CreateSession() override { return inner_.CreateSession(); }

 private:
  ChiefSessionCreator inner_;
};

class SessionTraceTest : public testing::Test {
 protected:
  SessionTraceTest() {
    Builder b(graph_);
    const Output step = *GetOrCreateGlobalStep(fake_.env(), b);
    train_ = ops::AssignAdd(b, "train", step, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
    EXPECT_TRUE(b.status().ok()) << b.status();
  }

  // The kinds in the file, in order; -1 = the end.
  std::vector<int> KindsIn(const std::string& path) {
    const fakes::TraceParts parts(fake_.files.Contents()[path]);
    header_ = parts.header;
    std::vector<int> out;
    for (const proto::TraceEvent& event : parts.events)
      out.push_back(event.end() ? -1 : static_cast<int>(event.kind()));
    return out;
  }
  // Without details, which are not for traces.
  static std::vector<int> KindsOf(const std::vector<Event>& events) {
    std::vector<int> out;
    for (const Event& event : events) {
      if (!IsDetail(event.kind)) out.push_back(static_cast<int>(event.kind));
    }
    return out;
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Output train_;
  proto::TraceHeader header_;
};

TEST_F(SessionTraceTest, HasWhatTheSinkOfTheEnvHas) {
  {
    // The scaffold and the creator were made with an env that knows nothing of the trace.
    auto creator = std::make_shared<ChiefSessionCreator>(
        fake_.env(), graph_,
        ChiefSessionCreatorOptions{.scaffold = std::make_shared<Scaffold>(fake_.env(), graph_),
                                   .checkpoint_dir = "/c"});
    auto session = MonitoredSession::Create(fake_.env(), graph_,
                                            {.session_creator = creator,
                                             .hooks = {std::make_shared<NamedHook>()},
                                             .stop_grace_period = std::chrono::seconds(3),
                                             .behaviour = Behaviour::TensorFlow(),
                                             .trace_path = kPath});
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_TRUE((*session)->Run(train_).ok());
    EXPECT_TRUE((*session)->RunWithoutHooks(train_).ok());
    EXPECT_TRUE((*session)->RunStepFn([&](StepContext& c) { return c.RunWithHooks(train_).status(); }).ok());
    EXPECT_TRUE((*session)->ShouldStop().ok());
    EXPECT_TRUE((*session)->Exit(absl::OkStatus()).ok());
  }
  std::vector<int> expected = KindsOf(fake_.events.events());
  expected.push_back(-1);
  EXPECT_EQ(KindsIn(kPath), expected);
  EXPECT_THAT(expected, Contains(static_cast<int>(EventKind::kBareRunEnd)));
  EXPECT_THAT(expected, Contains(static_cast<int>(EventKind::kInnerRunEnd)));
  EXPECT_EQ(header_.kind(), proto::TraceHeader::MONITORED);
  EXPECT_TRUE(header_.is_chief());
  EXPECT_EQ(header_.hooks(0).name(), "named");
  EXPECT_EQ(header_.stop_grace_period_ns(), 3'000'000'000);
  EXPECT_TRUE(header_.has_checkpoint_dir());
  EXPECT_FALSE(header_.has_checkpoint_filename());
  EXPECT_FALSE(header_.graph_is_finalized());
  for (const proto::TraceSwitch& each : header_.behaviour()) EXPECT_FALSE(each.on()) << each.name();
}

TEST_F(SessionTraceTest, OfASingularSessionThatDoesNotEnd) {
  auto session = SingularMonitoredSession::Create(fake_.env(), graph_, {.trace_path = kPath});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(KindsIn(kPath), KindsOf(fake_.events.events()));
  EXPECT_EQ(header_.kind(), proto::TraceHeader::SINGULAR);
  EXPECT_TRUE(header_.behaviour(0).on());
}

TEST_F(SessionTraceTest, TheHeaderSaysWhatTheCreatorHasAndWhetherTheGraphWasFinalized) {
  graph_.Finalize();
  CreatorTraits creator;
  creator.has_checkpoint_filename = true;
  const proto::TraceHeader of_a_file = TraceHeaderOf(true, creator, {}, {}, graph_);
  EXPECT_TRUE(of_a_file.has_checkpoint_filename());
  EXPECT_FALSE(of_a_file.has_init_fn());
  EXPECT_TRUE(of_a_file.graph_is_finalized());
  creator = {};
  creator.has_init_fn = true;
  EXPECT_TRUE(TraceHeaderOf(true, creator, {}, {}, graph_).has_init_fn());
}

TEST_F(SessionTraceTest, OutlivesItsSession) {
  std::shared_ptr<Coordinator> left_behind;
  class Keeper : public SessionRunHook {
   public:
    explicit Keeper(std::shared_ptr<Coordinator>& out) : out_(out) {}
    absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& c) override {
      out_ = c;
      return absl::OkStatus();
    }

   private:
    std::shared_ptr<Coordinator>& out_;
  };
  {
    auto session = MonitoredSession::Create(fake_.env(), graph_,
                                            {.hooks = {std::make_shared<Keeper>(left_behind)}, .trace_path = kPath});
    ASSERT_TRUE(session.ok()) << session.status();
  }
  const std::size_t events = fake_.events.events().size();
  left_behind->RequestStop().IgnoreError();
  EXPECT_EQ(fake_.events.events().size(), events + 1);
  EXPECT_EQ(fake_.events.events().back().session, 1);
}

TEST_F(SessionTraceTest, OfACreatorOfOnesOwnIsRefusedInTheLog) {
  auto session = MonitoredSession::Create(
      fake_.env(), graph_, {.session_creator = std::make_shared<OwnCreator>(fake_.env(), graph_), .trace_path = kPath});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_FALSE(*Exists(fake_.files, kPath));
  EXPECT_THAT(fake_.log.lines()[0].text, HasSubstr("sessions of a creator of one's own cannot be traced"));
}

TEST_F(SessionTraceTest, ADiskThatIsFullDisturbsNobody) {
  fake_.files.set_fault([](fakes::FileOp op, const std::string& path) {
    return op == fakes::FileOp::kAppend && path == kPath ? MakeStatus(Code::kResourceExhausted, "no space")
                                                         : absl::OkStatus();
  });
  auto session = MonitoredSession::Create(fake_.env(), graph_, {.trace_path = kPath});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->Run(train_).ok());
  EXPECT_TRUE((*session)->Close().ok());
}

TEST_F(SessionTraceTest, OfAWorker) {
  {
    Builder b(graph_);
    const Output nothing = b.Const("nothing_uninitialized", Tensor(DType::kString, Shape({0})));
    const ScaffoldOptions ready{.ready_op = nothing, .ready_for_local_init_op = nothing};
    auto creator = std::make_shared<WorkerSessionCreator>(
        fake_.env(), graph_,
        WorkerSessionCreatorOptions{.scaffold = std::make_shared<Scaffold>(fake_.env(), graph_, ready),
                                    .max_wait = std::chrono::seconds(5)});
    auto session = MonitoredSession::Create(fake_.env(), graph_, {.session_creator = creator, .trace_path = kPath});
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_TRUE((*session)->Close().ok());
  }
  std::vector<int> expected = KindsOf(fake_.events.events());
  expected.push_back(-1);
  EXPECT_EQ(KindsIn(kPath), expected)
      << "the creator's calls too, though it was made with an env that knows nothing of it";
  EXPECT_THAT(expected, Contains(static_cast<int>(EventKind::kSessionCall)));
  EXPECT_FALSE(header_.is_chief());
  EXPECT_EQ(header_.max_wait_ns(), 5'000'000'000);
}

}  // namespace
}  // namespace vigil

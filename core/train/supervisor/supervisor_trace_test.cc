#include "vigil/core/train/supervisor/supervisor_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/io/summary.pb.h"
#include "vigil/core/session/session.h"
#include "vigil/core/train/supervisor/testing.h"
#include "vigil/fakes/traces/trace_parts.h"

namespace vigil {
namespace {

using ::testing::Contains;
using ::testing::ElementsAreArray;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

constexpr char kTracePath[] = "/runs/x.trace";

class SupervisorTraceTest : public SupervisorTest {
 protected:
  // The events in the file as "kind/call"; "end" = the end.
  std::vector<std::string> InFile() {
    const fakes::TraceParts parts(fake_.files.Contents()[kTracePath]);
    header_ = parts.header;
    std::vector<std::string> out;
    for (const proto::TraceEvent& event : parts.events)
      out.push_back(event.end() ? "end" : KindAndCall(static_cast<int>(event.kind()), static_cast<int>(event.call())));
    return out;
  }
  static std::string KindAndCall(int kind, int call) { return std::to_string(kind) + "/" + std::to_string(call); }
  std::vector<std::string> Emitted() {
    std::vector<std::string> out;
    for (const Event& event : fake_.events.events()) {
      if (!IsDetail(event.kind)) out.push_back(KindAndCall(static_cast<int>(event.kind), event.call));
    }
    return out;
  }

  proto::TraceHeader header_;
};

TEST_F(SupervisorTraceTest, HasWhatTheSinkOfTheEnvHas) {
  {
    const auto sv = Make({.logdir = kLogdir,
                          .save_summaries_secs = {},
                          .save_model_secs = {},
                          .recovery_wait_secs = std::chrono::seconds(4),
                          .stop_grace_secs = std::chrono::seconds(3),
                          .behaviour = Behaviour::TensorFlow(),
                          .trace_path = kTracePath});
    const absl::Status end = sv->ManagedSession({}, [&](const SessionPtr& session) {
      EXPECT_FALSE(sv->ShouldStop());
      return RunTarget(*session, train_.node);
    });
    EXPECT_TRUE(end.ok()) << end;
    Prepare(*sv);
    EXPECT_TRUE(sv->Stop().ok());
    EXPECT_THAT(InFile(), ElementsAreArray(Emitted()));
  }
  EXPECT_EQ(InFile().back(), "end");
  EXPECT_EQ(header_.kind(), proto::TraceHeader::SUPERVISOR);
  EXPECT_TRUE(header_.is_chief());
  EXPECT_TRUE(header_.has_checkpoint_dir());
  EXPECT_FALSE(header_.graph_is_finalized()) << "before the construction";
  EXPECT_EQ(header_.stop_grace_period_ns(), 3'000'000'000);
  EXPECT_EQ(header_.supervisor().recovery_wait_ns(), 4'000'000'000);
  EXPECT_EQ(header_.supervisor().writer(), proto::TraceSupervisor::OWN_WRITER);
  EXPECT_EQ(header_.supervisor().saver(), proto::TraceSupervisor::SAVER);
  EXPECT_FALSE(header_.has_init_fn());
  EXPECT_TRUE(header_.supervisor().has_init_op());
  EXPECT_TRUE(header_.supervisor().has_local_init_op());
  EXPECT_TRUE(header_.supervisor().has_ready_op());
  EXPECT_FALSE(header_.supervisor().has_ready_for_local_init_op());
  EXPECT_TRUE(header_.supervisor().has_global_step());
  for (const proto::TraceSwitch& each : header_.behaviour()) EXPECT_FALSE(each.on()) << each.name();
  const int returns = static_cast<int>(EventKind::kSupervisorReturn);
  for (const SupervisorMethod method :
       {SupervisorMethod::kPrepare, SupervisorMethod::kManagedSession, SupervisorMethod::kBody, SupervisorMethod::kStop,
        SupervisorMethod::kShouldStop}) {
    EXPECT_THAT(InFile(), Contains(KindAndCall(returns, static_cast<int>(method))));
  }
}

TEST_F(SupervisorTraceTest, TheBodyIsAskedAndASummaryIsAnswered) {
  const auto sv = Make({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  const absl::Status end = sv->ManagedSession(
      {}, [&](const SessionPtr& session) { return sv->SummaryComputed(session, proto::Summary(), std::nullopt); });
  EXPECT_TRUE(end.ok()) << end;
  const auto of = [](EventKind kind, SupervisorMethod method) {
    return KindAndCall(static_cast<int>(kind), static_cast<int>(method));
  };
  EXPECT_THAT(Emitted(), IsSupersetOf({of(EventKind::kSupervisorCall, SupervisorMethod::kBody),
                                       of(EventKind::kSupervisorCall, SupervisorMethod::kSummaryComputed),
                                       of(EventKind::kSupervisorReturn, SupervisorMethod::kSummaryComputed),
                                       of(EventKind::kSupervisorReturn, SupervisorMethod::kBody)}));
}

TEST_F(SupervisorTraceTest, AGraphThatWasFinalizedBeforeIsCalledSo) {
  graph_.Finalize();
  EXPECT_TRUE(TraceHeaderOf({}, {}, nullptr, graph_).graph_is_finalized());
}

TEST_F(SupervisorTraceTest, TheHeaderSaysWhatThereIs) {
  SupervisorOptions options;
  options.init_fn = [](Session&) { return absl::OkStatus(); };
  SupervisorModel model;
  EXPECT_TRUE(TraceHeaderOf(options, model, nullptr, graph_).has_init_fn());
  model.local_init_op = train_.node;
  const proto::TraceHeader with_local_init_op = TraceHeaderOf({}, model, nullptr, graph_);
  EXPECT_TRUE(with_local_init_op.supervisor().has_local_init_op());
  EXPECT_FALSE(with_local_init_op.supervisor().has_ready_op());
  EXPECT_FALSE(with_local_init_op.has_init_fn());
  model.ready_op = train_;
  EXPECT_TRUE(TraceHeaderOf({}, model, nullptr, graph_).supervisor().has_ready_op());
}

TEST_F(SupervisorTraceTest, TheHeaderHasEachSwitch) {
  const proto::TraceHeader header = TraceHeaderOf({}, {}, nullptr, graph_);
  EXPECT_EQ(static_cast<std::size_t>(header.behaviour_size()), BehaviourSwitches().size());
}

TEST_F(SupervisorTraceTest, StartingServicesAndQueueRunnersIsAnswered) {
  const auto sv = Make({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  const absl::Status end = sv->ManagedSession({.start_standard_services = false}, [&](const SessionPtr& session) {
    EXPECT_TRUE(sv->StartStandardServices(session).ok());
    EXPECT_TRUE(sv->StartQueueRunners(session).ok());
    return sv->SummaryComputed(session, proto::Summary(), 5);
  });
  EXPECT_TRUE(end.ok()) << end;
  const int returns = static_cast<int>(EventKind::kSupervisorReturn);
  EXPECT_THAT(Emitted(), Contains(KindAndCall(returns, static_cast<int>(SupervisorMethod::kStartServices))));
  EXPECT_THAT(Emitted(), Contains(KindAndCall(returns, static_cast<int>(SupervisorMethod::kStartQueueRunners))));
  bool told = false;
  for (const Event& event : fake_.events.events()) {
    const bool of_summary = event.kind == EventKind::kSupervisorCall &&
                            event.call == static_cast<std::uint8_t>(SupervisorMethod::kSummaryComputed);
    told = told || (of_summary && event.has_value && event.value == 5);
  }
  EXPECT_TRUE(told) << "the step of the summary";
}

TEST_F(SupervisorTraceTest, AWaitIsToldInSeconds) {
  PrepareSessionOptions options;
  options.max_wait_secs = std::chrono::seconds(7);
  const Event event = CallOf(options);
  EXPECT_TRUE(event.has_value);
  EXPECT_EQ(event.value, 7);
}

TEST_F(SupervisorTraceTest, WithoutAPathThereIsNone) {
  Make({.logdir = kLogdir});
  EXPECT_FALSE(*vigil::Exists(fake_.files, kTracePath));
}

TEST_F(SupervisorTraceTest, ASessionManagerOfOnesOwnIsRefusedInTheLog) {
  auto manager = SessionManager::Create(env(), graph_, std::make_shared<TestFactory>(env()), {});
  ASSERT_TRUE(manager.ok()) << manager.status();
  const auto sv = Make({.session_manager = *std::move(manager), .trace_path = kTracePath});
  EXPECT_FALSE(*vigil::Exists(fake_.files, kTracePath));
  EXPECT_THAT(fake_.log.lines(),
              Contains(Field(&fakes::CapturingLog::Line::text,
                             HasSubstr("what a session manager of one's own does cannot be traced"))));
}

TEST_F(SupervisorTraceTest, ADiskThatIsFullDisturbsNobody) {
  fake_.files.set_fault([](fakes::FileOp op, const std::string& path) {
    return op == fakes::FileOp::kAppend && path == kTracePath ? MakeStatus(Code::kResourceExhausted, "no space")
                                                              : absl::OkStatus();
  });
  const auto sv = Make({.trace_path = kTracePath});
  Prepare(*sv);
  EXPECT_TRUE(sv->Stop().ok());
}

}  // namespace
}  // namespace vigil

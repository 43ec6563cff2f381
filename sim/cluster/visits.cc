#include "vigil/sim/cluster/visits.h"

#include <fmt/format.h>

#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/ops/ops.h"
#include "vigil/sim/cluster/programs.h"

namespace vigil::sim {
namespace {

constexpr std::chrono::milliseconds kMs{1};
constexpr std::int64_t kTimeoutMs = 20'000;
constexpr std::chrono::seconds kCreateTimeout{30};
// A master that hears nothing for two of them believes the client gone.
constexpr std::chrono::seconds kVisitKeepalive{20};
constexpr std::chrono::seconds kIdle{90};
constexpr std::chrono::seconds kLongestWait{3};
constexpr std::chrono::seconds kAfterwards{1};
constexpr int kGivenUp = 8;  // runs of one session
constexpr std::chrono::seconds kGivenUpIsKnown{10};

}  // namespace

std::shared_ptr<Visits> Visits::Start(const TrainerParts& parts) {
  if (parts.job.workload.visits == Duration::zero()) return nullptr;
  auto visits = std::make_shared<Visits>(parts);
  visits->task_ = parts.env.tasks->Spawn("visits", [visits] { visits->Run(); });
  return visits;
}

Visits::Visits(const TrainerParts& parts)
    : parts_(parts),
      env_(WithoutEvents(parts.env)),
      graph_(BuiltinOps()),
      over_(*parts.env.tasks, "the end of all visits") {
  Builder b(graph_);
  const auto servers = parts.job.tasks.find("ps");
  std::vector<Output> sums;
  for (int i = 0; servers != parts.job.tasks.end() && i < servers->second; ++i) {
    DeviceScope scope(b, fmt::format("/job:ps/task:{}", i));
    const Output one = b.Const(fmt::format("visit_{}/one", i), Tensor::Scalar<float>(1));
    const Output more = b.Const(fmt::format("visit_{}/more", i), Tensor::Scalar<float>(static_cast<float>(i)));
    sums.push_back(b.Op("AddV2", {one, more}, {.name = fmt::format("visit_{}/sum", i)}));
    if (i > 0) continue;
    const std::vector<DType> types{DType::kFloat};
    const Output queue =
        b.Op("FIFOQueueV2", {},
             {.name = "visit/queue",
              .attrs = {{"component_types", types}, {"shared_name", fmt::format("visits of {}", TaskOf(parts))}}});
    waits_.fetches = {b.Op("QueueDequeueV2", {queue}, {.name = "visit/wait", .attrs = {{"component_types", types}}})};
    const Output put = b.Op("QueueEnqueueV2", {queue, one}, {.name = "visit/put"});
    puts_.targets = {put.node};
  }
  // One server needs what the others have.
  DeviceScope scope(b, "/job:ps/task:0");
  asks_.fetches = sums;
  Output all = b.Const("visit/none", Tensor::Scalar<float>(0));
  for (std::size_t i = 0; i < sums.size(); ++i)
    all = b.Op("AddV2", {all, sums[i]}, {.name = fmt::format("visit/first_{}", i)});
  asks_.fetches.push_back(all);
}

void Visits::End() {
  over_.Notify();
  task_->Join(kNever);
}

void Visits::Run() {
  while (!over_.Wait(DeadlineAfter(env_, parts_.job.workload.visits))) {
    Visit();
    env_.tasks->SleepUntil(DeadlineAfter(env_, kAfterwards));  // what was let go of is closed by its master
  }
}

void Visits::Visit() {
  SessionConfig config = ConfigOf(parts_);
  config.operation_timeout_in_ms = kTimeoutMs;
  config.create_timeout = kCreateTimeout;
  config.keepalive = kVisitKeepalive;
  const std::uint64_t kind = env_.random->Draw("visits") % 6;
  const bool gives_up = kind == 0 && !parts_.job.workload.master.empty();
  if (gives_up) config.operation_timeout_in_ms = Drawn(4 * parts_.job.plan.default_link.most_latency) / kMs + 1;
  absl::StatusOr<std::shared_ptr<MasterInterface>> master = FindMaster(env_, parts_.target, config);
  if (!master.ok()) return;
  Env numbered = env_;
  numbered.process = &numbers_;
  absl::StatusOr<std::unique_ptr<Session>> made = NewClusterSession(numbered, graph_, *std::move(master), config);
  if (!made.ok()) return;
  const std::shared_ptr<Session> session = *std::move(made);
  if (gives_up) return session->Close().IgnoreError();
  switch (kind) {
    case 1:
      return CloseAsItAsks(session);
    case 2:
      return CloseAsItWaits(session);
    case 3:
      return ComeBack(*session);
    case 4:
      return GiveUpAgainAndAgain(*session);
    default:
      return LetGo(session);
  }
}

void Visits::LetGo(const std::shared_ptr<Session>& session) {
  const std::unique_ptr<Task> other = AskBeside(session, false);
  Ask(*session).IgnoreError();
  other->Join(kNever);
}

void Visits::CloseAsItAsks(const std::shared_ptr<Session>& session) {
  const std::unique_ptr<Task> other = AskBeside(session, false);
  Sleep(parts_.job.plan.default_link.most_latency * 4);
  session->Close().IgnoreError();
  other->Join(kNever);
}

void Visits::CloseAsItWaits(const std::shared_ptr<Session>& session) {
  const std::unique_ptr<Task> other = AskBeside(session, true);
  Sleep(kLongestWait);
  session->Close().IgnoreError();
  other->Join(kNever);
}

void Visits::ComeBack(Session& session) {
  if (Ask(session).ok() && !over_.Wait(DeadlineAfter(env_, kIdle))) {
    const Time asked = env_.clock->Monotonic();
    parts_.recorder.CameBack(CodeOf(Ask(session)), kIdle + (env_.clock->Monotonic() - asked));
  }
  session.Close().IgnoreError();
}

void Visits::GiveUpAgainAndAgain(Session& session) {
  const Time made = env_.clock->Monotonic();
  for (int i = 0; i < kGivenUp && !over_.IsSet(); ++i) {
    // Some end before they have begun, some when they have nearly ended.
    const Duration patience = Drawn(8 * parts_.job.plan.default_link.most_latency);
    const RunOptions hasty{.timeout_in_ms = patience / kMs + 1};
    const Code code = CodeOf(i % 2 == 0 ? GiveUpAnAnswer(session, hasty) : GiveUpAWait(session, hasty));
    parts_.recorder.CameBack(code, env_.clock->Monotonic() - made);
    if (code != Code::kOk) break;
  }
  session.Close().IgnoreError();
}

absl::Status Visits::GiveUpAnAnswer(Session& session, const RunOptions& hasty) {
  const absl::Status status = Ask(session, hasty);
  return CodeOf(status) == Code::kDeadlineExceeded ? Ask(session) : status;
}

// Nobody who has given up takes what comes later.
absl::Status Visits::GiveUpAWait(Session& session, const RunOptions& hasty) {
  if (const absl::Status status = Take(session, hasty); CodeOf(status) != Code::kDeadlineExceeded) return status;
  if (over_.Wait(DeadlineAfter(env_, kGivenUpIsKnown))) return absl::OkStatus();
  std::vector<Tensor> nothing;
  VIGIL_RETURN_IF_ERROR(session.Run({.spec = puts_}, &nothing));
  return Take(session);
}

std::unique_ptr<Task> Visits::AskBeside(const std::shared_ptr<Session>& session, bool waits) {
  return env_.tasks->Spawn("visit", [self = shared_from_this(), session, waits] {
    if (!self->Ask(*session).ok() || !waits) return;
    self->Take(*session).IgnoreError();
  });
}

absl::Status Visits::Take(Session& session, const RunOptions& options) {
  std::vector<Tensor> element;
  return session.Run({.spec = waits_, .options = &options}, &element);
}

absl::Status Visits::Ask(Session& session, const RunOptions& options) {
  std::vector<Tensor> answers;
  VIGIL_RETURN_IF_ERROR(session.Run({.spec = asks_, .options = &options}, &answers));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::span<const float> values = answers[i].flat<float>();
    const auto expected = static_cast<float>(i + 1);  // of server i; the sum over all of them comes last
    const auto all = static_cast<float>(i * (i + 1) / 2);
    if (values.size() != 1 || values[0] != (i + 1 < answers.size() ? expected : all))
      return MakeStatus(Code::kDataLoss, fmt::format("Visit: answer {} is {}", i, values.empty() ? 0 : values[0]));
  }
  return absl::OkStatus();
}

Duration Visits::Drawn(Duration most) const { return DrawnUpTo(env_, "visits", most); }

void Visits::Sleep(Duration most) { env_.tasks->SleepUntil(DeadlineAfter(env_, Drawn(most))); }

}  // namespace vigil::sim

#include "vigil/sim/cluster/visits.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
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

Env WithoutEvents(Env env) {
  env.events = nullptr;
  return env;
}

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
  for (int i = 0; servers != parts.job.tasks.end() && i < servers->second; ++i) {
    DeviceScope scope(b, fmt::format("/job:ps/task:{}", i));
    const Output one = b.Const(fmt::format("visit_{}/one", i), Tensor::Scalar<float>(1));
    const Output more = b.Const(fmt::format("visit_{}/more", i), Tensor::Scalar<float>(static_cast<float>(i)));
    asks_.fetches.push_back(b.Op("AddV2", {one, more}, {.name = fmt::format("visit_{}/sum", i)}));
    if (i > 0) continue;
    const std::vector<DType> types{DType::kFloat};
    const Output queue =
        b.Op("FIFOQueueV2", {},
             {.name = "visit/queue",
              .attrs = {{"component_types", types}, {"shared_name", fmt::format("visits of {}", TaskOf(parts))}}});
    waits_.fetches = {b.Op("QueueDequeueV2", {queue}, {.name = "visit/wait", .attrs = {{"component_types", types}}})};
  }
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
  const std::uint64_t kind = env_.random->Draw("visits") % 5;
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

std::unique_ptr<Task> Visits::AskBeside(const std::shared_ptr<Session>& session, bool waits) {
  return env_.tasks->Spawn("visit", [self = shared_from_this(), session, waits] {
    if (!self->Ask(*session).ok() || !waits) return;
    std::vector<Tensor> nothing;
    session->Run({.spec = self->waits_}, &nothing).IgnoreError();
  });
}

absl::Status Visits::Ask(Session& session) {
  std::vector<Tensor> answers;
  return session.Run({.spec = asks_}, &answers);
}

Duration Visits::Drawn(Duration most) const {
  const std::uint64_t part = env_.random->Draw("visits") % 1001;
  return most * static_cast<std::int64_t>(part) / 1000;
}

void Visits::Sleep(Duration most) { env_.tasks->SleepUntil(DeadlineAfter(env_, Drawn(most))); }

}  // namespace vigil::sim

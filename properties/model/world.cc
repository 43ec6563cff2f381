#include "vigil/properties/model/world.h"

#include <algorithm>

#include "vigil/replays/stage/behaviour.h"
#include "vigil/sim/kernel/chooser.h"

namespace vigil::properties::model {
namespace {

std::string_view CallName(FaultPoint at) {
  switch (at) {
    case FaultPoint::kRestore:
      return "restore";
    case FaultPoint::kInit:
      return "init";
    case FaultPoint::kReadyForLocalInit:
      return "ready_for_local_init";
    case FaultPoint::kLocalInit:
      return "local_init";
    case FaultPoint::kReady:
      return "ready";
    case FaultPoint::kRun:
      return "run";
    case FaultPoint::kReadStep:
      return "read_step";
    case FaultPoint::kRawRun:
      return "raw_run";
    case FaultPoint::kSave:
      return "save";
    case FaultPoint::kSummary:
      return "summary";
    case FaultPoint::kFinalOps:
      return "final_ops";
    case FaultPoint::kClose:
      return "close";
    default:
      return "?";
  }
}

}  // namespace

World::World(const Scenario& scenario)
    : scenario_(scenario),
      behaviour_(replays::BehaviourOf(scenario.behaviour)),
      directory_(scenario.checkpoint, behaviour_.keep_limits) {
  if (scenario.session.shared_state) shared_ = std::make_shared<Variables>();
}

void World::AddLine(std::string line) {
  if (over()) return;
  lines_.push_back(std::move(line));
  if (static_cast<std::int64_t>(lines_.size()) > scenario_.limits.events) runaway_ = true;
}

void World::Refuse(std::string_view what) {
  if (refused_.empty()) refused_ = what;
}

std::string World::Name(const RawSession* session) {
  if (session == nullptr) return "none";
  return fmt::format("{}{}", session->number, session->closed ? "(closed)" : "");
}

World::Hit World::Next(FaultPoint at) {
  const std::int64_t number = ++calls_[static_cast<std::size_t>(at)];
  Hit hit;
  for (const replays::Fault& fault : scenario_.faults) {
    if (fault.at != at) continue;
    if (std::find(fault.calls.begin(), fault.calls.end(), number) == fault.calls.end()) continue;
    if (fault.advance_step.has_value()) AdvanceStep(*fault.advance_step);
    if (fault.sigterm) {
      Say("signal SIGTERM");
      told_to_end_ = true;
    }
    if (fault.chief_init.has_value()) ChiefInit(*fault.chief_init);
    if (fault.code.has_value()) hit = {*fault.code, fault.lost_reply, fault.not_ready};
  }
  return hit;
}

bool World::HasFaultFrom(FaultPoint at, std::int64_t call) const {
  return std::any_of(scenario_.faults.begin(), scenario_.faults.end(), [&](const replays::Fault& fault) {
    return fault.at == at && !fault.calls.empty() && *std::max_element(fault.calls.begin(), fault.calls.end()) >= call;
  });
}

void World::AdvanceStep(std::int64_t steps) {
  if (!scenario_.model.global_step) return Refuse("faults.advance_step with model.global_step false");
  if (current_ == nullptr || current_->closed || !current_->variables->initialized)
    return Refuse("faults.advance_step without an initialised session");
  current_->variables->step += steps;
}

// The chief initialises everything but what is local.
void World::ChiefInit(std::int64_t step) {
  if (shared_ == nullptr) return Refuse("faults.chief_init without session.shared_state");
  shared_->initialized = true;
  shared_->step = step;
}

Code World::CreateSession(RawSessionPtr& session) {
  const Hit hit = Next(FaultPoint::kCreate);
  if (hit.code != Code::kOk) {
    SayFailed("session create", hit.code);
    return hit.code;
  }
  session = std::make_shared<RawSession>();
  session->number = ++sessions_;
  session->variables = shared_ != nullptr ? shared_ : std::make_shared<Variables>();
  current_ = session;
  Say("session {} created", session->number);
  return Code::kOk;
}

Code World::Call(RawSession& session, FaultPoint at, const std::function<Code()>& work,
                 const std::function<std::string()>& answer) {
  const Hit hit = Next(at);
  Code code = hit.code;
  if (code == Code::kOk || hit.lost_reply) {
    Code own = session.closed ? Code::kUsage : Code::kOk;
    if (own == Code::kOk && work) own = work();
    if (own != Code::kOk) code = own;
  }
  says_not_ready_ = hit.not_ready && code == Code::kFailedPrecondition;
  if (at == FaultPoint::kRun) Advance(scenario_.model.run_secs);
  if (code != Code::kOk) {
    Say("session {} {} failed {}", session.number, CallName(at), CodeName(code));
  } else {
    Say("session {} {}{}", session.number, CallName(at), answer ? answer() : "");
  }
  return code;
}

Code World::ReadStep(RawSession& session, std::int64_t& step) {
  if (!scenario_.model.global_step) Refuse("a read of the global step with model.global_step false");
  return Call(
      session, FaultPoint::kReadStep,
      [&] {
        step = session.variables->step;
        return Code::kOk;
      },
      [&] { return fmt::format(" -> {}", step); });
}

Code World::CloseSession(RawSession& session) {
  if (session.closed) return Code::kOk;
  const Hit hit = Next(FaultPoint::kClose);
  session.closed = true;
  if (hit.code != Code::kOk) {
    Say("session {} close failed {}", session.number, CodeName(hit.code));
  } else {
    Say("session {} close", session.number);
  }
  return hit.code;
}

Code World::Train(RawSession& session) {
  const replays::ModelSpec& model = scenario_.model;
  if (session.queue != nullptr) {
    if (const Code code = TakeBatch(*this, *session.queue); code != Code::kOk) return code;
  } else if (model.batches.has_value() && ++session.batches_taken > *model.batches) {
    return Code::kOutOfRange;
  }
  if (model.global_step) session.variables->step += model.steps_per_run;
  return Code::kOk;
}

double World::now() {
  if (time_in_doubt_) Refuse("start_thread that ends while somebody waits for it");
  return now_;
}

double World::DrawJitter() {
  const std::uint64_t bits = sim::HashDraw(scenario_.seed, "chief/0/recovery jitter", jitters_++);
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

void World::Sleep(double secs) {
  Say("sleep {:g}", secs);
  Advance(secs);
  Next(FaultPoint::kSleep);
}

bool World::SleepUnlessTold(double secs) {
  if (!told_to_end_) {
    Sleep(secs);
    return false;
  }
  Say("sleep {:g}", secs);
  return true;
}

}  // namespace vigil::properties::model

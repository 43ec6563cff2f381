#include "vigil/properties/model/supervisor_caller.h"

namespace vigil::properties::model {

using replays::FetchSpec;
using replays::Op;
using replays::Statement;

Code SupervisorCallerModel::Drive() {
  const Scenario& scenario = world_.scenario();
  if (!scenario.scope_with) return Execute(scenario.drive);
  return supervisor_.Managed([&](const RawSessionPtr& session) {
    session_ = session;
    SaySession();
    return Execute(scenario.drive);
  });
}

void SupervisorCallerModel::SaySession() { world_.Say("driver session={}", World::Name(session_.get())); }

StopAnswer SupervisorCallerModel::ShouldStop() {
  RefuseIfAThreadMayFail(world_);
  return {.yes = supervisor_.coord().should_stop()};
}

Code SupervisorCallerModel::Close() {
  if (session_ == nullptr) return Code::kUsage;
  if (session_->queue != nullptr) session_->queue->closed = true;
  return world_.CloseSession(*session_);
}

Code SupervisorCallerModel::Run(const Statement& statement) {
  const replays::ModelSpec& model = world_.scenario().model;
  if (session_ == nullptr) return Code::kUsage;
  RawSession& session = *session_;
  RunValues values{.base = world_.scenario().init_feed.value_or(0)};
  Code code = Code::kOk;
  if (statement.fetch.has_value() && statement.fetch->kind == FetchSpec::Kind::kName &&
      statement.fetch->name == "step") {
    code = world_.ReadStep(session, values.before);  // the same call as anybody's who reads the step
  } else {
    code = world_.Call(session, FaultPoint::kRawRun, [&] {
      if (statement.fetch_missing || (statement.fetch.has_value() && !IsInGraph(*statement.fetch, model)))
        return Code::kUsage;
      values.before = session.variables->step;
      return !statement.fetch.has_value() || FetchTrains(*statement.fetch, model) ? world_.Train(session) : Code::kOk;
    });
  }
  if (code != Code::kOk) return code;
  values.after = session.variables->step;
  values.loss = LossAt(world_, values.after);
  world_.Advance(model.run_secs);
  RunAnswer answer{.step = values.after, .fed = values.fed};
  if (statement.fetch.has_value()) answer.text = FetchedText(*statement.fetch, values);
  SayResult("driver", statement, answer);
  return Code::kOk;
}

Code SupervisorCallerModel::Own(const Statement& statement) {
  switch (statement.op) {
    case Op::kPrepare:
      return Prepare(statement);
    case Op::kRequestStop:
      return supervisor_.RequestStop(statement.code.value_or(Code::kOk));
    case Op::kGuarded:
      return Guarded(statement);
    case Op::kStop:
      return Stop(statement);
    case Op::kStartServices:
      return StartServices();
    case Op::kService:
      return Service(statement);
    case Op::kSummaryComputed:
      return supervisor_.SummaryComputed(session_, statement.step);
    case Op::kStartThread:
      supervisor_.coord().StartThread(statement.secs);
      return Code::kOk;
    default:
      world_.Refuse("drive.op that has no meaning for a supervisor");
      return Code::kInternal;
  }
}

Code SupervisorCallerModel::Prepare(const Statement& statement) {
  world_.Say("driver prepare");
  if (const Code code = supervisor_.Prepare(statement.max_wait_secs, session_); code != Code::kOk) return code;
  SaySession();
  return Code::kOk;
}

// An error goes to the coordinator, and no further unless there was a join.
Code SupervisorCallerModel::Guarded(const Statement& statement) {
  const Code code = Execute(statement.body);
  return code == Code::kOk ? code : supervisor_.RequestStop(code);
}

Code SupervisorCallerModel::Stop(const Statement& statement) {
  world_.Say("driver stop");
  const Code code =
      supervisor_.Stop(statement.close_summary_writer.value_or(true), statement.ignore_live_threads.value_or(false));
  if (code != Code::kOk) return code;
  world_.Say("driver stopped");
  return Code::kOk;
}

Code SupervisorCallerModel::StartServices() {
  bool started = false;
  if (const Code code = supervisor_.StartServices(session_, started); code != Code::kOk) return code;
  world_.Say("driver services {}", started ? "0" : "none");
  return Code::kOk;
}

Code SupervisorCallerModel::Service(const Statement& statement) {
  std::unique_ptr<ServiceModel>& service = services_[statement.name];
  if (service == nullptr) {
    const Code made = NewService(world_, supervisor_, statement.name, session_, service);
    if (made != Code::kOk) return made;
    world_.Say("service {} start", statement.name);
    if (const Code code = service->Start(); code != Code::kOk) return code;
  }
  world_.Say("service {} loop", statement.name);
  return service->Pass();
}

}  // namespace vigil::properties::model

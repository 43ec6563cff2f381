#include "vigil/properties/model/caller.h"

namespace vigil::properties::model {

using replays::Op;
using replays::Statement;

Code CallerModel::Execute(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements) {
    if (world_.over()) return Code::kInternal;
    const Code code = One(statement);
    if (code == Code::kOk) continue;
    if (!statement.catch_error) return code;
    world_.Say("driver caught {}", CodeName(code));
  }
  return Code::kOk;
}

Code CallerModel::One(const Statement& statement) {
  switch (statement.op) {
    case Op::kRun:
      return Run(statement);
    case Op::kLoop:
      return Loop(statement);
    case Op::kShouldStop: {
      bool yes = false;
      return AskShouldStop(yes);
    }
    case Op::kClose:
      world_.Say("driver close");
      if (const Code code = session_.Close(); code != Code::kOk) return code;
      world_.Say("driver closed");
      return Code::kOk;
    case Op::kRaise:
      world_.Say("driver raises {}", CodeName(statement.code.value_or(Code::kOther)));
      return statement.code.value_or(Code::kOther);
    case Op::kAdvance:
      world_.Advance(statement.secs);
      return Code::kOk;
    case Op::kClock:
      world_.Say("driver clock {:g}", world_.now() - start_);
      return Code::kOk;
    case Op::kStep:
      return Step(statement);
    default:
      world_.Refuse("drive.op of a supervisor");
      return Code::kInternal;
  }
}

RunRequest CallerModel::RequestOf(const Statement& statement) {
  RunRequest request{.feed = statement.feed, .fetch = statement.fetch, .options = statement.options};
  if (statement.fetch_missing) request.fetch = replays::FetchSpec{.name = "missing"};
  return request;
}

void CallerModel::SayResult(std::string_view who, const Statement& statement, const RunAnswer& answer) {
  if (statement.fetch.has_value()) {
    world_.Say("{} result {}", who, answer.text);
  } else {
    world_.Say("{} result step={} fed={}", who, answer.step, answer.fed);
  }
  if (statement.metadata) world_.Say("driver metadata traced={}", answer.traced ? "yes" : "no");
}

Code CallerModel::Run(const Statement& statement) {
  for (std::int64_t i = 0; i < statement.times && !world_.over(); ++i) {
    world_.Say("driver run");
    RunAnswer answer;
    RunRequest request = RequestOf(statement);
    if (const Code code = session_.Run(request, answer); code != Code::kOk) return code;
    SayResult("driver", statement, answer);
  }
  return Code::kOk;
}

Code CallerModel::AskShouldStop(bool& yes) {
  const StopAnswer answer = session_.ShouldStop();
  if (answer.code != Code::kOk) return answer.code;
  yes = answer.yes;
  world_.Say("driver should_stop -> {}", yes ? "yes" : "no");
  return Code::kOk;
}

Code CallerModel::Loop(const Statement& statement) {
  for (std::int64_t i = 0; i < statement.max && !world_.over(); ++i) {
    bool stop = false;
    if (const Code code = AskShouldStop(stop); code != Code::kOk) return code;
    if (stop) break;
    if (const Code code = Execute(statement.body); code != Code::kOk) return code;
  }
  return Code::kOk;
}

Code CallerModel::Step(const Statement& statement) {
  std::int64_t calls = 0;
  world_.Say("driver run_step_fn");
  const Code code = session_.RunStepFunction([&](StepContext& context) -> Code {
    ++calls;
    world_.Say("driver step call={} session={}", calls, World::Name(context.session.get()));
    for (const Statement& inner : statement.body) {
      if (inner.on_call.has_value() && *inner.on_call != calls) continue;
      const Code failed = InStep(context, inner);
      if (failed == Code::kOk) continue;
      if (!inner.catch_error) return failed;
      world_.Say("driver caught {}", CodeName(failed));
    }
    return Code::kOk;
  });
  if (code != Code::kOk) return code;
  world_.Say("driver run_step_fn done");
  return Code::kOk;
}

Code CallerModel::InStep(StepContext& context, const Statement& statement) {
  switch (statement.op) {
    case Op::kRawRun:
      return world_.Call(*context.session, FaultPoint::kRawRun, nullptr);
    case Op::kRunWithHooks: {
      RunAnswer answer;
      RunRequest request = RequestOf(statement);
      if (const Code code = context.run_with_hooks(request, answer); code != Code::kOk) return code;
      SayResult("driver step", statement, answer);
      return Code::kOk;
    }
    case Op::kRequestStop:
      world_.Say("driver step requests_stop");
      return Code::kStopIteration;
    case Op::kRaise:
      world_.Say("driver step raises {}", CodeName(statement.code.value_or(Code::kOther)));
      return statement.code.value_or(Code::kOther);
    default:
      world_.Refuse("drive.body.op that has no meaning in a step");
      return Code::kInternal;
  }
}

}  // namespace vigil::properties::model

#include "vigil/properties/model/caller.h"

namespace vigil::properties::model {

using replays::Op;
using replays::Statement;

Code CallerModel::Own(const Statement& statement) {
  if (statement.op == Op::kStep) return Step(statement);
  world_.Refuse("drive.op of a supervisor");
  return Code::kInternal;
}

RunRequest CallerModel::RequestOf(const Statement& statement) {
  RunRequest request{.feed = statement.feed, .fetch = statement.fetch, .options = statement.options};
  if (request.options == RunOptions()) request.options.reset();  // they are no options
  if (statement.fetch_missing) request.fetch = replays::FetchSpec{.name = "missing"};
  return request;
}

Code CallerModel::Run(const Statement& statement) {
  RunAnswer answer;
  RunRequest request = RequestOf(statement);
  if (const Code code = session_.Run(request, answer); code != Code::kOk) return code;
  SayResult("driver", statement, answer);
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
      session_.ForgetOrigin();
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
      context.stop = true;
      session_.EndsByStepFunction();
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

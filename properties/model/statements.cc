#include "vigil/properties/model/statements.h"

namespace vigil::properties::model {

using replays::Op;
using replays::Statement;

Code Statements::Execute(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements) {
    if (world_.over()) return Code::kInternal;
    Next();
    const Code code = One(statement);
    if (code == Code::kOk) continue;
    if (!statement.catch_error) return code;
    world_.Say("driver caught {}", CodeName(code));
  }
  return Code::kOk;
}

Code Statements::One(const Statement& statement) {
  switch (statement.op) {
    case Op::kRun:
      for (std::int64_t i = 0; i < statement.times && !world_.over(); ++i) {
        world_.Say("driver run");
        if (const Code code = Run(statement); code != Code::kOk) return code;
      }
      return Code::kOk;
    case Op::kLoop:
      return Loop(statement);
    case Op::kShouldStop: {
      bool yes = false;
      return AskShouldStop(yes);
    }
    case Op::kClose:
      world_.Say("driver close");
      if (const Code code = Close(); code != Code::kOk) return code;
      world_.Say("driver closed");
      return Code::kOk;
    case Op::kRaise:
      world_.Say("driver raises {}", CodeName(statement.code.value_or(Code::kOther)));
      return statement.code.value_or(Code::kOther);
    case Op::kAdvance:
      world_.Advance(statement.secs);
      return Code::kOk;
    case Op::kClock:
      world_.Say("driver clock {:g}", world_.now() - World::kStart);
      return Code::kOk;
    default:
      return Own(statement);
  }
}

Code Statements::AskShouldStop(bool& yes) {
  const StopAnswer answer = ShouldStop();
  if (answer.code != Code::kOk) return answer.code;
  yes = answer.yes;
  world_.Say("driver should_stop -> {}", yes ? "yes" : "no");
  return Code::kOk;
}

Code Statements::Loop(const Statement& statement) {
  for (std::int64_t i = 0; i < statement.max && !world_.over(); ++i) {
    bool stop = false;
    if (const Code code = AskShouldStop(stop); code != Code::kOk) return code;
    if (stop) break;
    if (const Code code = Execute(statement.body); code != Code::kOk) return code;
  }
  return Code::kOk;
}

void Statements::SayResult(std::string_view who, const Statement& statement, const RunAnswer& answer) {
  if (statement.fetch.has_value()) {
    world_.Say("{} result {}", who, answer.text);
  } else {
    world_.Say("{} result step={} fed={}", who, answer.step, answer.fed);
  }
  if (statement.metadata) world_.Say("driver metadata traced={}", answer.traced ? "yes" : "no");
}

}  // namespace vigil::properties::model

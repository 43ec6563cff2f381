// Unit "coordinator": Coordinator.
#include <fmt/format.h>

#include "vigil/core/base/code.h"
#include "vigil/core/coord/coordinator.h"
#include "vigil/replays/format/args.h"
#include "vigil/replays/units/unit.h"

namespace vigil::replays {
namespace {

// The error that an operation is about; OK if it names none.
absl::Status ErrorOf(const UnitOp& op) {
  const std::string name = StringArg(op.args, "code");
  const std::optional<Code> code = CodeFromName(name);
  return code.has_value() && *code != Code::kOk ? MakeStatus(*code, "scenario " + name) : absl::OkStatus();
}

std::string Answer(std::string_view question, bool yes) {
  return fmt::format("{} -> {}", question, yes ? "yes" : "no");
}

// "<op> ok", or what it failed with.
std::string Ended(const UnitOp& op, const absl::Status& status, std::string_view ok) {
  if (!status.ok()) return fmt::format("{} failed {}", op.op, CodeName(CodeOf(status)));
  return std::string(ok);
}

absl::StatusOr<std::string> Do(Coordinator& coord, const UnitOp& op) {
  if (op.op == "request_stop") {
    const absl::Status error = ErrorOf(op);
    const std::string ok = error.ok() ? "request_stop ok" : fmt::format("request_stop {} ok", CodeName(CodeOf(error)));
    return Ended(op, coord.RequestStop(error), ok);
  }
  if (op.op == "should_stop") return Answer(op.op, coord.ShouldStop());
  if (op.op == "wait_for_stop") return Answer(op.op, coord.WaitForStop(Duration::zero()));
  if (op.op == "clear_stop") {
    coord.ClearStop();
    return op.op;
  }
  if (op.op == "join") return Ended(op, coord.Join(), "join ok");
  if (op.op == "joined") return Answer(op.op, coord.joined());
  if (op.op == "raise_requested") return Ended(op, coord.RequestedError(), "raise_requested ok");
  if (op.op == "scope") return Ended(op, coord.StopOnError([&op] { return ErrorOf(op); }), "scope left");
  return UsageError(fmt::format("unit \"coordinator\" has no operation \"{}\"", op.op));
}

}  // namespace

absl::Status PlayCoordinator(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines) {
  CoordinatorOptions options;
  if (unit.clean.has_value()) options.clean_stop_codes = *unit.clean;
  Coordinator coord(env, std::move(options));
  for (const UnitOp& op : unit.ops) {
    absl::StatusOr<std::string> line = Do(coord, op);
    if (!line.ok()) return line.status();
    lines.push_back(*std::move(line));
  }
  return absl::OkStatus();
}

}  // namespace vigil::replays

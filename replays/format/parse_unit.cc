// Unit recordings, and what was recorded.
#include "fmt/format.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/parse_parts.h"

namespace vigil::replays {
namespace {

void ReadClean(Reading& reading, const Field& field, std::optional<std::vector<Code>>& out) {
  if (!field.present()) return;
  out.emplace();
  field.Each([&](Json item, const Place& place) {
    std::optional<Code> code;
    Field(reading, item, place).ErrorCode(code);
    out->push_back(code.value_or(Code::kOk));
  });
}

void CheckDamage(Reading& reading, const Field& what, const UnitOp& op) {
  if (!what.present()) return;
  std::string known;
  what.OneOf({"empty_state", "garbage_state", "missing_index", "missing_dir_entry"}, known);
  if (known.starts_with("missing_") && !op.args.contains("step"))
    reading.Fail(what.place(), fmt::format("'{}' needs 'step'", known));
}

void ReadUnitOp(Reading& reading, std::string_view unit, Json value, const Place& place, UnitOp& out) {
  Fields fields(reading, value, place);
  const Field op = fields.Deciding("op");
  op.String(out.op);
  const Schema* schema = FindSchema(UnitOps(unit), out.op);
  if (schema == nullptr) {
    if (!op.present()) return fields.Finish();
    std::string known;
    for (const Schema& entry : UnitOps(unit)) Field::AppendKnown(known, entry.name);
    return op.Unknown("operation", out.op, known);
  }
  ReadArgs(fields, schema->args, out.args);
  if (out.op == "new_saver" || out.op == "new_manager") {
    ReadArgsObject(reading, fields.Required("args"), UnitArgs(unit), out.made_with);
  }
  if (out.op == "damage") CheckDamage(reading, fields.Optional("what"), out);
  fields.Finish();
}

void ReadFlag(const Field& field, UnitSpec& out, std::string_view name) {
  bool value = false;
  field.Bool(value);
  if (field.present()) out.flags.emplace(name, value);
}

void ReadConstructorCheck(Reading& reading, Fields& fields, UnitSpec& out) {
  const Field hook = fields.Deciding("hook");
  hook.String(out.hook);
  const Field args = fields.Required("args");
  ReadFlag(fields.Optional("begin"), out, "begin");
  ReadFlag(fields.Optional("global_step"), out, "global_step");
  if (!hook.present()) return;
  if (const Schema* schema = FindSchema(ConstructorSchemas(), out.hook)) {
    return ReadArgsObject(reading, args, schema->args, out.args);
  }
  std::string known;
  for (const Schema& entry : ConstructorSchemas()) Field::AppendKnown(known, entry.name);
  hook.Unknown("hook", out.hook, known);
}

void ReadFinal(Reading& reading, const Field& field, std::optional<FinalState>& out) {
  if (!field.present()) return;
  out.emplace();
  Fields fields(reading, field.value(), field.place());
  fields.Required("checkpoints").Each([&](Json item, const Place& place) {
    Field(reading, item, place).Integer(kSteps, out->checkpoints.emplace_back());
  });
  const Field latest = fields.Optional("latest");
  if (latest.present()) latest.String(out->latest.emplace());
  const Field all = fields.Optional("all");
  if (all.present()) out->all.emplace();
  fields.Optional("events_files").Integer(kCounts, out->events_files);
  all.Each([&](Json item, const Place& place) { Field(reading, item, place).String(out->all->emplace_back()); });
  fields.Finish();
}

void ReadLines(Reading& reading, const Field& field, std::vector<std::string>& out) {
  field.Each([&](Json item, const Place& place) { Field(reading, item, place).String(out.emplace_back()); });
}

}  // namespace

void ReadUnit(Reading& reading, Fields& fields, const Field& unit, UnitSpec& out) {
  unit.OneOf({"timer", "coordinator", "saver", "checkpoint_manager", "arguments", "device_setter", "looper"}, out.unit);
  if (out.unit.empty()) return;
  if (out.unit == "arguments") return ReadConstructorCheck(reading, fields, out);
  if (out.unit == "coordinator") {
    ReadClean(reading, fields.Optional("clean"), out.clean);
  } else {
    ReadArgsObject(reading, fields.Required("args"), UnitArgs(out.unit), out.args);
  }
  fields.Required("ops").Each(
      [&](Json item, const Place& place) { ReadUnitOp(reading, out.unit, item, place, out.ops.emplace_back()); });
}

void ReadExpectation(Reading& reading, const Field& field, Expectation& out) {
  if (!field.present()) return;
  Fields fields(reading, field.value(), field.place());
  const Field violates = fields.Optional("violates");
  violates.Name(out.violates);
  if (violates.present()) return fields.Finish();  // what a saved failure shows besides is not compared
  ReadLines(reading, fields.Required("events"), out.events);
  ReadFinal(reading, fields.Optional("final"), out.final);
  ReadLines(reading, fields.Optional("messages"), out.messages);
  fields.Finish();
}

}  // namespace vigil::replays

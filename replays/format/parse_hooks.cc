// Hooks, their plans, listeners, and arguments that a table describes.
#include "fmt/format.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/parse_parts.h"

namespace vigil::replays {
namespace {

void ReadTensors(Reading& reading, const Field& field, ArgValue& out) {
  std::vector<std::string> names;
  field.Each([&](Json item, const Place& place) {
    std::string name;
    Field(reading, item, place).OneOf({"step", "fed"}, name);
    names.push_back(std::move(name));
  });
  if (field.present() && names.empty()) field.Fail("a list of tensors may not be empty");
  out = std::move(names);
}

void ReadNumber(const Field& field, ArgValue& out) {
  if (field.present() && field.value().kind() == JsonKind::kInteger) {
    std::int64_t number = 0;
    field.Integer(kValues, number);
    out = number;
  } else {
    double number = 0;
    field.Number({static_cast<double>(kValues.least), static_cast<double>(kValues.most)}, number);
    out = number;
  }
}

template <typename T>
void ReadAs(const Field& field, void (Field::*read)(T&) const, ArgValue& out) {
  T value{};
  (field.*read)(value);
  out = std::move(value);
}

void ReadArg(Reading& reading, const Field& field, ArgType type, ArgValue& out) {
  switch (type) {
    case ArgType::kInteger: {
      std::int64_t number = 0;
      field.Integer(kValues, number);
      out = number;
      return;
    }
    case ArgType::kNumber:
      return ReadNumber(field, out);
    case ArgType::kBool:
      return ReadAs<bool>(field, &Field::Bool, out);
    case ArgType::kString:
      return ReadAs<std::string>(field, &Field::Name, out);
    case ArgType::kCode: {
      std::optional<Code> code;
      field.ErrorCode(code);
      out = std::string(CodeName(code.value_or(Code::kOk)));
      return;
    }
    case ArgType::kTensor: {
      std::string name;
      field.OneOf({"step", "fed", "loss"}, name);
      out = std::move(name);
      return;
    }
    case ArgType::kTensors:
      return ReadTensors(reading, field, out);
    case ArgType::kStrings: {
      std::vector<std::string> names;
      field.Each([&](Json item, const Place& place) { Field(reading, item, place).Name(names.emplace_back()); });
      out = std::move(names);
      return;
    }
  }
}

// What an action is given, and where it can act at all.
void CheckAction(Reading& reading, const Place& place, const PlanEntry& entry, bool code, bool value) {
  const bool what = !entry.what.empty() || entry.nested.has_value();
  const auto need = [&](bool given, bool needed, std::string_view field) {
    if (needed && !given) reading.Fail(place, fmt::format("'{}' needs '{}'", NameOf(kActions, entry.action), field));
    if (given && !needed) reading.Fail(place, fmt::format("'{}' takes no '{}'", NameOf(kActions, entry.action), field));
  };
  need(code, entry.action == Action::kRaise || entry.action == Action::kReport, "code");
  need(what, entry.action == Action::kFetch, "what");
  need(value, entry.action == Action::kFeed || entry.action == Action::kStartThread, "value");
  need(entry.options.has_value(), entry.action == Action::kOptions, "options");
  bool possible = true;
  switch (entry.action) {
    case Action::kRaise:
      break;
    case Action::kRequestStop:
      possible = entry.method == "before_run" || entry.method == "after_run";
      break;
    case Action::kFetch:
    case Action::kFeed:
    case Action::kOptions:
      possible = entry.method == "before_run";
      break;
    case Action::kShow:
      possible = entry.method == "after_run";
      break;
    default:  // there is no session and no coordinator yet
      possible = entry.method != "begin";
  }
  if (!possible)
    reading.Fail(place, fmt::format("'{}' cannot be done in {}", NameOf(kActions, entry.action), entry.method));
}

void ReadPlanEntry(Reading& reading, Json value, const Place& place, PlanEntry& out) {
  Fields fields(reading, value, place);
  fields.Required("method").OneOf({"begin", "after_create_session", "before_run", "after_run", "end"}, out.method);
  const Field call = fields.Required("call");
  if (call.present() && !call.value().is_null()) call.Calls(out.calls);
  fields.Required("do").Enum(kActions, "action", out.action);
  std::optional<Code> code;
  fields.Optional("code").ErrorCode(code);
  out.code = code.value_or(Code::kOk);
  ReadFetch(reading, fields.Optional("what"), out.nested);
  if (out.nested.has_value() && out.nested->kind == FetchSpec::Kind::kName) {
    out.what = out.nested->name;
    out.nested.reset();
  }
  ReadRunOptions(reading, fields.Optional("options"), out.options);
  const Field number = fields.Optional("value");
  number.Integer(kValues, out.value);
  fields.Finish();
  if (reading.ok()) CheckAction(reading, place, out, code.has_value(), number.present());
}

void ReadListenerEntry(Reading& reading, Json value, const Place& place, PlanEntry& out) {
  Fields fields(reading, value, place);
  fields.Required("method").OneOf({"begin", "before_save", "after_save", "end"}, out.method);
  std::int64_t call = 1;
  fields.Required("call").Integer(kCalls, call);
  out.calls = {call};
  std::string action;
  fields.Required("do").OneOf({"raise", "request_stop"}, action);
  out.action = action == "raise" ? Action::kRaise : Action::kRequestStop;
  std::optional<Code> code;
  fields.Optional("code").ErrorCode(code);
  out.code = code.value_or(Code::kOk);
  fields.Finish();
  if (!reading.ok()) return;
  if (out.action == Action::kRaise && !code.has_value()) reading.Fail(place, "'raise' needs 'code'");
  if (out.action == Action::kRequestStop && code.has_value()) reading.Fail(place, "'request_stop' takes no 'code'");
}

void ReadListener(Reading& reading, Json value, const Place& place, ListenerSpec& out) {
  Fields fields(reading, value, place);
  fields.Required("name").Name(out.name);
  fields.Optional("plan").Each(
      [&](Json item, const Place& at) { ReadListenerEntry(reading, item, at, out.plan.emplace_back()); });
  fields.Finish();
}

}  // namespace

void ReadArgs(Fields& fields, std::span<const ArgSpec> specs, Args& out) {
  for (const ArgSpec& spec : specs) {
    const Field field = spec.required ? fields.Required(spec.name) : fields.Optional(spec.name);
    if (!field.present()) continue;
    ArgValue value;
    if (!(spec.nullable && field.value().is_null())) ReadArg(field.reading(), field, spec.type, value);
    out.emplace(spec.name, std::move(value));
  }
}

void ReadArgsObject(Reading& reading, const Field& field, std::span<const ArgSpec> specs, Args& out) {
  if (!field.present()) return;
  Fields fields(reading, field.value(), field.place());
  ReadArgs(fields, specs, out);
  fields.Finish();
}

void ReadHook(Reading& reading, Json value, const Place& place, HookSpec& out) {
  Fields fields(reading, value, place);
  const Field hook = fields.Deciding("hook");
  hook.String(out.hook);
  if (out.hook == "probe") {
    fields.Required("name").Name(out.name);
    fields.Optional("plan").Each(
        [&](Json item, const Place& at) { ReadPlanEntry(reading, item, at, out.plan.emplace_back()); });
  } else if (const Schema* schema = FindSchema(HookSchemas(), out.hook)) {
    ReadArgs(fields, schema->args, out.args);
    if (out.hook == "checkpoint_saver") {
      fields.Optional("listeners").Each([&](Json item, const Place& at) {
        ReadListener(reading, item, at, out.listeners.emplace_back());
      });
    }
  } else if (hook.present()) {
    std::string known = "probe";
    for (const Schema& entry : HookSchemas()) Field::AppendKnown(known, entry.name);
    return hook.Unknown("hook", out.hook, known);
  }
  fields.Finish();
}

}  // namespace vigil::replays

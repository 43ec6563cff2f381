// Unit recordings.
#include <string>

#include "fmt/format.h"
#include "vigil/replays/format/objects.h"
#include "vigil/replays/format/value_types.h"

namespace vigil::replays {
namespace {

constexpr std::string_view kUnits[] = {"timer",     "coordinator",   "saver", "checkpoint_manager",
                                       "arguments", "device_setter", "looper"};

class UnitOpObject : public Object<UnitOp> {
 public:
  explicit UnitOpObject(std::string_view unit) : unit_(unit) {}
  void Describe(Described<UnitOp>& f) const override {
    const std::span<const Schema> ops = UnitOps(unit_);
    f.Deciding("op", &UnitOp::op, SchemaNameType(ops, "operation"), "which operation it is");
    const std::string& op = f.value().op;
    for (const Schema& schema : ops) f.When(op == schema.name, schema.name).Arguments(schema.args, &UnitOp::args);
    f.When(op == "new_saver" || op == "new_manager", "new_saver, new_manager")
        .Required("args", &UnitOp::made_with, ArgsType(UnitArgs(unit_)), "arguments of its constructor");
  }
  void Complete(const Field& object, UnitOp& op) const override {
    if (op.op != "damage") return;
    constexpr std::string_view kWhat[] = {"empty_state", "garbage_state", "missing_index", "missing_dir_entry"};
    Fields fields(object.reading(), object.value(), object.place());
    const Field what = fields.Required("what");
    std::string known;
    OneOfType(kWhat).Read(what, known);
    if (known.starts_with("missing_") && !op.args.contains("step")) what.Fail(fmt::format("'{}' needs 'step'", known));
  }

 private:
  std::string_view unit_;
};

// A flag that is told apart from a missing one.
class FlagType : public Typed<UnitSpec> {
 public:
  explicit FlagType(std::string_view name) : name_(name) {}
  void Read(const Field& field, UnitSpec& out) const override { field.Bool(out.flags[std::string(name_)]); }
  void Print(JsonWriter& w, const UnitSpec& unit) const override { w.Bool(unit.flags.find(name_)->second); }
  bool Missing(const UnitSpec& unit, const UnitSpec& /*missing*/) const override { return !unit.flags.contains(name_); }
  std::string Words() const override { return kFlag.Words(); }

 private:
  std::string_view name_;
};

class UnitFields : public Object<UnitSpec> {
  void Describe(Described<UnitSpec>& f) const override {
    f.Required("unit", &UnitSpec::unit, OneOfType(kUnits), "what is played alone");
    const std::string& unit = f.value().unit;
    const auto check = f.When(unit == "arguments", "arguments");
    check.Deciding("hook", &UnitSpec::hook, SchemaNameType(ConstructorSchemas(), "hook"),
                   "whose constructor is called");
    const Schema* const schema = FindSchema(ConstructorSchemas(), f.value().hook);
    const std::span<const ArgSpec> args = schema != nullptr ? schema->args : std::span<const ArgSpec>();
    check.Required("args", &UnitSpec::args, ArgsType(args), "its arguments");
    check.Optional("begin", FlagType("begin"), "Begin is called, too");
    check.Optional("global_step", FlagType("global_step"), "... in a graph that has one");
    f.When(unit != "arguments" && unit != "coordinator", "others")
        .Required("args", &UnitSpec::args, ArgsType(UnitArgs(unit)), "arguments of the constructor");
    const ListOf<Code> codes(kErrorCode);
    f.When(unit == "coordinator", "coordinator")
        .Optional("clean", &UnitSpec::clean, codes, "codes that are a clean end");
    f.When(unit != "arguments", "all but arguments")
        .Required("ops", &UnitSpec::ops, UnitOpObject(unit), "operations, one after the other");
  }
};

template <const std::string_view& unit>
void WalkOps(FieldWalk& walk) {
  UnitOp op;
  UnitOpObject(unit).Go(walk, op);
}

}  // namespace

const Object<UnitSpec>& UnitObject() {
  static const UnitFields unit;
  return unit;
}

void AppendUnitObjects(std::vector<DocumentedObject>& objects) {
  objects.push_back({"a record of a unit", WalkObject<UnitFields, UnitSpec>});
  objects.push_back({"an operation of a timer", WalkOps<kUnits[0]>});
  objects.push_back({"an operation of a coordinator", WalkOps<kUnits[1]>});
  objects.push_back({"an operation of a saver", WalkOps<kUnits[2]>});
  objects.push_back({"an operation of a checkpoint_manager", WalkOps<kUnits[3]>});
  objects.push_back({"an operation of a device_setter", WalkOps<kUnits[5]>});
  objects.push_back({"an operation of a looper", WalkOps<kUnits[6]>});
}

}  // namespace vigil::replays

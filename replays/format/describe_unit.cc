// Unit recordings.
#include <cstddef>
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
    for (const std::string_view made : {"new_saver", "new_manager"}) {
      if (FindSchema(ops, made) == nullptr) continue;
      f.When(op == made, made)
          .Required("args", &UnitOp::made_with, ArgsType(UnitArgs(unit_)), "arguments of its constructor");
    }
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
  void Print(JsonWriter& w, const UnitSpec& unit) const override {
    if (unit.flags.contains(name_)) w.Bool(unit.flags.find(name_)->second);
  }
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
    for (const Schema& schema : ConstructorSchemas()) {
      f.When(unit == "arguments" && f.value().hook == schema.name, fmt::format("arguments, of {}", schema.name))
          .Required("args", &UnitSpec::args, ArgsType(schema.args), "its arguments");
    }
    check.Optional("begin", FlagType("begin"), "Begin is called, too");
    check.Optional("global_step", FlagType("global_step"), "... in a graph that has one");
    for (const std::string_view made : kUnits) {
      if (UnitArgs(made).empty()) continue;
      f.When(unit == made, made)
          .Required("args", &UnitSpec::args, ArgsType(UnitArgs(made)), "arguments of its constructor");
    }
    const ListOf<Code> codes(kErrorCode);
    f.When(unit == "coordinator", "coordinator")
        .Optional("clean", &UnitSpec::clean, codes, "codes that are a clean end");
    f.When(unit != "arguments", "all but arguments")
        .Required("ops", &UnitSpec::ops, UnitOpObject(unit), "operations, one after the other");
  }
};

template <std::size_t unit>  // its place in kUnits
void WalkOps(FieldWalk& walk) {
  UnitOp op;
  UnitOpObject(kUnits[unit]).Go(walk, op);
}

}  // namespace

const Object<UnitSpec>& UnitObject() {
  static const UnitFields unit;
  return unit;
}

void AppendUnitObjects(std::vector<DocumentedObject>& objects) {
  objects.push_back({"a record of a unit", WalkObject<UnitFields, UnitSpec>});
  objects.push_back({"an operation of a timer", WalkOps<0>});
  objects.push_back({"an operation of a coordinator", WalkOps<1>});
  objects.push_back({"an operation of a saver", WalkOps<2>});
  objects.push_back({"an operation of a checkpoint_manager", WalkOps<3>});
  objects.push_back({"an operation of a device_setter", WalkOps<5>});
  objects.push_back({"an operation of a looper", WalkOps<6>});
}

}  // namespace vigil::replays

// What every record has, and what a session, its graph and its directory are.
#include <algorithm>
#include <string>

#include "fmt/format.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/replays/format/args.h"
#include "vigil/replays/format/objects.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/value_types.h"

namespace vigil::replays {
namespace {

class FormatType : public IntegerType {
 public:
  FormatType() : IntegerType({1, kCountRange.most}) {}
  void Read(const Field& field, std::int64_t& out) const override {
    IntegerType::Read(field, out);
    if (out <= kNewestFormat) return;
    field.Fail(fmt::format("{} is newer than what this program reads ({})", out, kNewestFormat));
  }
  std::string Words() const override { return fmt::format("integer, 1 to {}", kNewestFormat); }
};

// The name of a set of switches, or an object with some of them.
class BehaviourType : public Typed<BehaviourSpec> {
 public:
  void Read(const Field& field, BehaviourSpec& out) const override {
    if (field.value().kind() != JsonKind::kObject) return OneOfType(kNames).Read(field, out.name);
    out.name = "switches";
    Fields fields(field.reading(), field.value(), field.place());
    for (const BehaviourSwitch& entry : BehaviourSwitches()) {
      const Field value = fields.Optional(entry.name);
      if (value.present()) value.Bool(out.switches[std::string(entry.name)]);
    }
    fields.Finish();
  }
  void Print(JsonWriter& w, const BehaviourSpec& behaviour) const override {
    behaviour.name == "switches" ? MapOf<bool>(kFlag).Print(w, behaviour.switches) : kText.Print(w, behaviour.name);
  }
  bool Missing(const BehaviourSpec& value, const BehaviourSpec& missing) const override {
    return value.name == missing.name;
  }
  std::string Words() const override { return OneOfType(kNames).Words() + ", or an object of switches: true or false"; }

 private:
  static constexpr std::string_view kNames[] = {"tensorflow", "default"};
};

class LimitsObject : public Object<Limits> {
  void Describe(Described<Limits>& f) const override {
    f.Optional("events", &Limits::events, IntegerType({1, 10'000'000}),
               "lines that the caller's task may show; eight times as many events of every kind and task; of a cluster "
               "it counts these, and 20,000,000 of them is the default");
    f.Optional("virtual_s", &Limits::virtual_s, NumberType({0, 1e9}),
               "seconds; 0 = none (of a cluster then its `limit_s`, and 300 s to open sessions)");
  }
};

class RecordFields : public Object<Scenario> {
  void Describe(Described<Scenario>& f) const override {
    f.Required("id", &Scenario::id, kName, "which scenario it is");
    f.Optional("title", &Scenario::title, kText, "one line for people");
    f.Optional("format", &Scenario::format, FormatType(), "version of the format");
    f.Optional("seed", &Scenario::seed, NaturalType(), "of a schedule by chance");
    const auto last = f.Last();
    last.Optional("behaviour", &Scenario::behaviour, BehaviourType(), "what the library does where it has a choice");
    last.Optional("limits", &Scenario::limits, LimitsObject(), "after which the verdict is `runaway`");
    const ListOf<std::string> labels(kText);
    last.Optional("choices", &Scenario::choices, MapOf<std::vector<std::string>>(labels),
                  "recorded choices: labels under `node/task/point`; what is missing takes the calm default");
  }
};

class SessionObject : public Object<SessionSpec> {
  void Describe(Described<SessionSpec>& f) const override {
    const SessionKind& kind = f.value().kind;  // as it is read
    f.Optional("kind", &SessionSpec::kind, EnumType<SessionKind>(kSessionKinds, "session kind"), "which session it is");
    for (const Named<SessionKind>& entry : kSessionKinds) {
      f.When(kind == entry.value, entry.name).Arguments(SessionArgs(entry.value), &SessionSpec::args);
    }
    f.When(kind == SessionKind::kTraining || kind == SessionKind::kSupervisor, "training, supervisor")
        .Optional("shared_state", &SessionSpec::shared_state, kFlag,
                  "the variables live on a server that other sessions share");
    f.When(kind == SessionKind::kTraining, "training")
        .Optional("chief_only_hooks", &SessionSpec::chief_only_hooks, HookType(), "like `hooks`");
  }
};

constexpr Named<bool> kScopes[] = {{"with", true}, {"bare", false}};
constexpr Named<bool> kInputs[] = {{"range", false}, {"queue", true}};

class ModelObject : public Object<ModelSpec> {
  void Describe(Described<ModelSpec>& f) const override {
    f.Optional("global_step", &ModelSpec::global_step, kFlag, "is there one");
    f.Optional("steps_per_run", &ModelSpec::steps_per_run, kCount, "what one run adds to it");
    f.Optional("nan_at", &ModelSpec::nan_at, kStepNumber,
               "the loss is NaN from this step on; computing the loss then trains");
    f.Optional("batches", &ModelSpec::batches, kCount,
               "every session gets an input of so many batches, one a run, then OUT_OF_RANGE; missing: endless");
    f.Optional("input", &ModelSpec::queue_input, EnumType<bool>(kInputs),
               "`queue`: the input comes through a queue that a queue runner fills");
    f.Optional("local_variable", &ModelSpec::local_variable, kFlag, "there is one");
    f.Optional("fed_variable", &ModelSpec::fed_variable, kFlag,
               "there is a variable `base` whose initial value must be fed to the init op");
    f.Optional("device", &ModelSpec::device, kName, "every variable is placed there");
    f.Optional("summary", &ModelSpec::summary, kFlag, "there is one");
    f.Optional("run_secs", &ModelSpec::run_secs, kSecs, "virtual seconds that one run takes");
  }
};

class ScaffoldObject : public Object<Scenario> {
  void Describe(Described<Scenario>& f) const override {
    f.Optional("init_fn", &Scenario::init_fn, kFlag, "an init function that only logs");
    f.Optional("init_feed", &Scenario::init_feed, kValue,
               "the value that is fed to the init op for `base` (needs `fed_variable` of the model)");
  }
  void Complete(const Field& object, Scenario& scenario) const override {
    if (!scenario.init_feed.has_value() || scenario.model.fed_variable) return;
    object.reading().Fail(Place{&object.place(), "init_feed"},
                          "needs 'fed_variable' of the model: there is nothing to feed");
  }
};

class CheckpointObject : public Object<CheckpointSpec> {
  void Describe(Described<CheckpointSpec>& f) const override {
    f.Optional("dir", &CheckpointSpec::dir, kFlag, "the session is given the directory (which exists anyway)");
    f.Optional("filename", &CheckpointSpec::filename, kStepNumber, "it restores from the file of this step instead");
    f.Optional("preload", &CheckpointSpec::preload, kStepNumber, "an earlier process saved these steps");
    f.Optional("preload_keep", &CheckpointSpec::preload_keep, kCount, "... keeping the last so many; missing: 5");
    f.Optional("damage", &CheckpointSpec::damage, EnumType<Damage>(kDamages, "damage"),
               "what happened since, to the state file or the newest checkpoint (which needs `preload`)");
    f.Optional("events", &CheckpointSpec::events, kFlag, "an earlier process of this very second left an events file");
  }
  void Complete(const Field& object, CheckpointSpec& out) const override {
    const bool of_a_file = out.damage == Damage::kMissingIndex || out.damage == Damage::kMissingData;
    if (!of_a_file || !out.preload.empty()) return;
    object.reading().Fail(Place{&object.place(), "damage"}, "needs 'preload': there is no checkpoint to damage");
  }
};

constexpr std::string_view kEffectNames[] = {"lost_request", "lost_reply", "not_ready"};

class FaultEffectType : public Typed<Fault> {
 public:
  void Read(const Field& field, Fault& out) const override {
    std::string name;
    OneOfType(kEffectNames).Read(field, name);
    out.lost_reply = name == "lost_reply";
    out.not_ready = name == "not_ready";
  }
  void Print(JsonWriter& w, const Fault& fault) const override {
    w.String(fault.lost_reply ? "lost_reply" : fault.not_ready ? "not_ready" : "lost_request");
  }
  bool Missing(const Fault& fault, const Fault& /*missing*/) const override {
    return !fault.lost_reply && !fault.not_ready;
  }
  std::string Words() const override { return OneOfType(kEffectNames).Words(); }
};

class FaultObject : public Object<Fault> {
  void Describe(Described<Fault>& f) const override {
    f.Required("at", &Fault::at, EnumType<FaultPoint>(kFaultPoints, "fault point"), "at which kind of call");
    f.Required("call", &Fault::calls, CallsType(CallsType::Of::kSome),
               "at which of them, counted over the whole scenario, failed ones included");
    f.Optional("code", &Fault::code, kErrorCode, "the call fails");
    f.Optional("effect", FaultEffectType(), "... before or after it took effect, or as a model that is not ready does");
    f.Optional("advance_step", &Fault::advance_step, kStepNumber,
               "other workers have moved the global step on by so much just before");
    f.Optional("chief_init", &Fault::chief_init, kStepNumber,
               "the chief initialises the shared state with this step (needs `shared_state`)");
    f.Optional("sigterm", &Fault::sigterm, kFlag,
               "SIGTERM comes just before, once in a scenario (needs `stop_on_sigterm` of the session)");
    f.Optional("file", &Fault::file, kName, "of `write`: a text that the path of the file has in it");
  }
  void Complete(const Field& object, Fault& out) const override {
    const auto fail = [&object](std::string_view what) { object.Fail(what); };
    if (out.at == FaultPoint::kWrite) {
      if (out.file.empty() || !out.code.has_value()) fail("'write' needs 'file' and 'code'");
      if (out.lost_reply || out.advance_step.has_value() || out.chief_init.has_value() || out.sigterm) {
        fail("'write' takes 'file' and 'code' only");
      }
      return;
    }
    if (!out.file.empty()) fail("'file' is for 'write' only");
    if (HasMember(object.value(), "effect") && !out.code.has_value()) fail("'effect' needs 'code'");
    const bool asks = out.at == FaultPoint::kReady || out.at == FaultPoint::kReadyForLocalInit;
    if (out.not_ready && (!asks || out.code != Code::kFailedPrecondition))
      fail("'not_ready' is for 'ready' and 'ready_for_local_init' with FAILED_PRECONDITION");
    if (out.sigterm && out.at == FaultPoint::kEnqueue) fail("'sigterm' is for calls of the caller's task");
    if (out.sigterm && out.calls.size() != 1) fail("'sigterm' comes once: give one 'call'");
    if (!out.code.has_value() && !out.advance_step.has_value() && !out.chief_init.has_value() && !out.sigterm)
      fail("does nothing: give 'code', 'advance_step', 'chief_init' or 'sigterm'");
  }
};

// The faults of a session, and what must hold between the two.
class FaultsType : public Typed<Scenario> {
 public:
  void Read(const Field& field, Scenario& out) const override {
    field.Each([&](Json item, const Place& place) {
      const Field fault(field.reading(), item, place);
      FaultObject().Read(fault, out.faults.emplace_back());
      if (out.faults.back().chief_init.has_value() && !out.session.shared_state)
        fault.Fail("'chief_init' needs 'shared_state' of the session");
    });
    CheckSignal(field, out);
  }
  void Print(JsonWriter& w, const Scenario& scenario) const override {
    ListOf<Fault>(FaultType()).Print(w, scenario.faults);
  }
  bool Missing(const Scenario& scenario, const Scenario& /*missing*/) const override { return scenario.faults.empty(); }
  std::string Words() const override { return "list: object"; }

 private:
  // A process that does not listen dies of the first signal, one that listens of the second: neither leaves a session.
  static void CheckSignal(const Field& faults, const Scenario& out) {
    const bool listens = BoolArg(out.session.args, "stop_on_sigterm");
    const auto signals = std::ranges::count_if(out.faults, [](const Fault& fault) { return fault.sigterm; });
    const bool sleeps = std::ranges::any_of(out.faults, [](const Fault& f) { return f.at == FaultPoint::kSleep; });
    if (signals > 0 && !listens) faults.Fail("'sigterm' needs 'stop_on_sigterm' of the session");
    if (signals > 1) faults.Fail("'sigterm' comes once: a second one would end the process");
    if (listens && sleeps)
      faults.Fail("'sleep' meets no wait of a session with 'stop_on_sigterm': such waits are no sleeps");
  }
};

class SessionScenarioFields : public Object<Scenario> {
  void Describe(Described<Scenario>& f) const override {
    f.Optional("session", &Scenario::session, SessionObject(), "which session, and how it is made");
    f.Optional("scope", &Scenario::scope_with, EnumType<bool>(kScopes), "whether it is used in a with-block");
    f.Optional("model", &Scenario::model, ModelObject(), "the graph");
    f.Optional("scaffold", ScaffoldObject(), "the scaffold");
    f.Optional("checkpoint", &Scenario::checkpoint, CheckpointObject(), "the checkpoint directory");
    f.Optional("hooks", &Scenario::hooks, HookType(), "in list order");
    f.Optional("faults", FaultsType(), "what goes wrong");
    const SessionKind kind = f.value().session.kind;
    f.Required("drive", &Scenario::drive, StatementsType(kind), "statements inside the scope");
    f.Optional("after", &Scenario::after, StatementsType(kind),
               "... after it was left (skipped if there is no session)");
  }
};

}  // namespace

const Object<Scenario>& RecordObject() {
  static const RecordFields record;
  return record;
}

const Object<Scenario>& SessionScenarioObject() {
  static const SessionScenarioFields fields;
  return fields;
}

const Typed<Fault>& FaultType() {
  static const FaultObject fault;
  return fault;
}

void AppendSessionObjects(std::vector<DocumentedObject>& objects) {
  objects.push_back({"every record", WalkObject<RecordFields, Scenario>});
  objects.push_back({"limits", WalkObject<LimitsObject, Limits>});
  objects.push_back({"a record of a session", WalkObject<SessionScenarioFields, Scenario>});
  objects.push_back({"session", WalkObject<SessionObject, SessionSpec>});
  objects.push_back({"model", WalkObject<ModelObject, ModelSpec>});
  objects.push_back({"scaffold", WalkObject<ScaffoldObject, Scenario>});
  objects.push_back({"checkpoint", WalkObject<CheckpointObject, CheckpointSpec>});
  objects.push_back({"an entry of faults", WalkObject<FaultObject, Fault>});
}

}  // namespace vigil::replays

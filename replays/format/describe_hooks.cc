// Hooks, their plans and listeners.
#include <string>

#include "fmt/format.h"
#include "vigil/replays/format/objects.h"
#include "vigil/replays/format/value_types.h"

namespace vigil::replays {
namespace {

constexpr std::string_view kHookMethods[] = {"begin", "after_create_session", "before_run", "after_run", "end"};
constexpr std::string_view kListenerMethods[] = {"begin", "before_save", "after_save", "end"};
constexpr Named<Action> kListenerActions[] = {{"raise", Action::kRaise}, {"request_stop", Action::kRequestStop}};

// A single name is kept apart.
class PlannedFetch : public Typed<PlanEntry> {
 public:
  void Read(const Field& field, PlanEntry& out) const override {
    FetchSpec fetch;
    FetchType().Read(field, fetch);
    if (fetch.kind == FetchSpec::Kind::kName) {
      out.what = fetch.name;
    } else {
      out.nested = std::move(fetch);
    }
  }
  void Print(JsonWriter& w, const PlanEntry& entry) const override {
    entry.nested.has_value() ? FetchType().Print(w, *entry.nested) : kText.Print(w, entry.what);
  }
  bool Missing(const PlanEntry& entry, const PlanEntry& /*missing*/) const override {
    return entry.what.empty() && !entry.nested.has_value();
  }
  std::string Words() const override { return FetchType().Words(); }
};

// Where an action can act at all.
bool IsPossible(Action action, std::string_view method) {
  switch (action) {
    case Action::kRaise:
      return true;
    case Action::kRequestStop:
      return method == "before_run" || method == "after_run";
    case Action::kFetch:
    case Action::kFeed:
    case Action::kOptions:
      return method == "before_run";
    case Action::kShow:
      return method == "after_run";
    default:  // there is no session and no coordinator yet
      return method != "begin";
  }
}

class PlanEntryObject : public Object<PlanEntry> {
  static bool TakesValue(Action action) { return action == Action::kFeed || action == Action::kStartThread; }

  void Describe(Described<PlanEntry>& f) const override {
    f.Required("method", &PlanEntry::method, OneOfType(kHookMethods), "in which method");
    f.Required("call", &PlanEntry::calls, CallsType(CallsType::Of::kSomeOrAll),
               "at which calls of it, counted over the hook's life");
    f.Required("do", &PlanEntry::action, EnumType<Action>(kActions, "action"), "what the hook does then");
    f.Optional("code", &PlanEntry::code, kErrorCode, "of `raise` and `report`, which need it");
    f.Optional("what", PlannedFetch(), "of `fetch`, which needs it");
    f.Optional("options", &PlanEntry::options, RunOptionsType(), "of `options`, which needs them");
    f.Shown(TakesValue(f.value().action))
        .Optional("value", &PlanEntry::value, kValue,
                  "of `feed`; of `start_thread`: for how many seconds it hears of no stop; both need it");
  }
  void Complete(const Field& object, PlanEntry& entry) const override {
    const std::string_view action = NameOf(kActions, entry.action);
    const auto need = [&](bool given, bool needed, std::string_view field) {
      if (needed && !given) object.Fail(fmt::format("'{}' needs '{}'", action, field));
      if (given && !needed) object.Fail(fmt::format("'{}' takes no '{}'", action, field));
    };
    need(entry.code != Code::kOk, entry.action == Action::kRaise || entry.action == Action::kReport, "code");
    need(!entry.what.empty() || entry.nested.has_value(), entry.action == Action::kFetch, "what");
    need(HasMember(object.value(), "value"), TakesValue(entry.action), "value");
    need(entry.options.has_value(), entry.action == Action::kOptions, "options");
    if (!IsPossible(entry.action, entry.method))
      object.Fail(fmt::format("'{}' cannot be done in {}", action, entry.method));
  }
};

class ListenerEntryObject : public Object<PlanEntry> {
  void Describe(Described<PlanEntry>& f) const override {
    f.Required("method", &PlanEntry::method, OneOfType(kListenerMethods), "in which method");
    f.Required("call", &PlanEntry::calls, CallsType(CallsType::Of::kOne), "at which call of it");
    f.Required("do", &PlanEntry::action, EnumType<Action>(kListenerActions), "what the listener does then");
    f.Optional("code", &PlanEntry::code, kErrorCode, "of `raise`, which needs it");
  }
  void Complete(const Field& object, PlanEntry& entry) const override {
    const bool raises = entry.action == Action::kRaise;
    if (raises && entry.code == Code::kOk) object.Fail("'raise' needs 'code'");
    if (!raises && entry.code != Code::kOk) object.Fail("'request_stop' takes no 'code'");
  }
};

class ListenerObject : public Object<ListenerSpec> {
  void Describe(Described<ListenerSpec>& f) const override {
    f.Required("name", &ListenerSpec::name, kName, "stands before its lines");
    f.Optional("plan", &ListenerSpec::plan, ListenerEntryObject(), "what it does");
  }
};

class HookObject : public Object<HookSpec> {
  void Describe(Described<HookSpec>& f) const override {
    f.Deciding("hook", &HookSpec::hook, SchemaNameType(HookSchemas(), "hook", "probe"), "which hook it is");
    const std::string& hook = f.value().hook;
    const auto probe = f.When(hook == "probe", "probe");
    probe.Required("name", &HookSpec::name, kName, "stands before its lines");
    for (const Schema& schema : HookSchemas()) {
      f.When(hook == schema.name, schema.name).Arguments(schema.args, &HookSpec::args);
    }
    probe.Optional("plan", &HookSpec::plan, PlanEntryObject(), "what it does; all entries that match a call, in order");
    f.When(hook == "checkpoint_saver", "checkpoint_saver")
        .Optional("listeners", &HookSpec::listeners, ListenerObject(), "who hears of its saves");
  }
};

}  // namespace

const Typed<HookSpec>& HookType() {
  static const HookObject hook;
  return hook;
}

void AppendHookObjects(std::vector<DocumentedObject>& objects) {
  objects.push_back({"an entry of hooks", WalkObject<HookObject, HookSpec>});
  objects.push_back({"an entry of a probe's plan", WalkObject<PlanEntryObject, PlanEntry>});
  objects.push_back({"an entry of listeners", WalkObject<ListenerObject, ListenerSpec>});
  objects.push_back({"an entry of a listener's plan", WalkObject<ListenerEntryObject, PlanEntry>});
}

}  // namespace vigil::replays

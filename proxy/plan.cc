#include "vigil/proxy/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "vigil/core/base/splitmix64.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/format/json_writer.h"

namespace vigil::proxy {
namespace {

using replays::Json;
using replays::JsonKind;

constexpr std::array<std::string_view, 5> kEffects = {"error", "lost_reply", "reset", "delay", "never"};
constexpr std::int64_t kMost = 1'000'000'000;

template <typename Names>
std::string Known(const Names& names) {
  std::string known;
  for (const auto& name : names) known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  return known;
}

// One entry; the first thing that is wrong counts.
class Entry {
 public:
  explicit Entry(std::size_t index) : place_(fmt::format("/{}", index)) {}

  absl::StatusOr<Fault> Read(Json json) {
    if (json.kind() == JsonKind::kObject) {
      for (const Json member : json) Member(member);
      Check();
    } else {
      Fail("", fmt::format("expected an object, got {}", json.Describe()));
    }
    if (!wrong_.ok()) return wrong_;
    return fault_;
  }

 private:
  void Fail(std::string_view field, std::string_view what) {
    if (!wrong_.ok()) return;
    wrong_ =
        MakeStatus(Code::kInvalidArgument, fmt::format("{}{}{}: {}", place_, field.empty() ? "" : "/", field, what));
  }
  std::string Text(Json json) {
    if (json.kind() == JsonKind::kString) return std::string(json.string());
    Fail(json.key(), fmt::format("expected a string, got {}", json.Describe()));
    return "";
  }
  std::int64_t Count(Json json) {
    if (json.kind() == JsonKind::kInteger && json.integer() >= 1 && json.integer() <= kMost) return json.integer();
    Fail(json.key(), fmt::format("expected a whole number from 1 on, got {}", json.Describe()));
    return 1;
  }
  // Which of two; true: the second.
  bool Second(Json json, std::string_view first, std::string_view second) {
    const std::string text = Text(json);
    if (text != first && text != second)
      Fail(json.key(), fmt::format("expected {} or {}, got '{}'", first, second, text));
    return text == second;
  }
  void Kind(Json json) {
    const std::string name = Text(json);
    const std::optional<CallKind> kind = CallKindFromName(name);
    std::vector<std::string_view> names;
    for (const CallKindInfo& info : AllCallKinds()) names.push_back(info.name);
    if (!kind.has_value()) return Fail(json.key(), fmt::format("unknown kind '{}'; known: {}", name, Known(names)));
    fault_.on = *kind;
    has_kind_ = true;
  }
  void Effects(Json json) {
    const std::string name = Text(json);
    const auto* const found = std::ranges::find(kEffects, name);
    if (found == kEffects.end())
      return Fail(json.key(), fmt::format("unknown fault '{}'; known: {}", name, Known(kEffects)));
    fault_.effect = static_cast<Effect>(found - kEffects.begin());
  }
  void CodeOfIt(Json json) {
    const std::string name = Text(json);
    const std::optional<Code> code = CodeFromName(name);
    if (!code.has_value() || *code == Code::kOk || code > Code::kUnauthenticated)
      return Fail(json.key(), fmt::format("unknown code '{}'; say UNAVAILABLE, ABORTED, ...", name));
    fault_.code = *code;
    given_code_ = true;
  }
  void Seconds(Json json) {
    const bool number = json.kind() == JsonKind::kInteger || json.kind() == JsonKind::kNumber;
    const double seconds = number ? json.number() : -1;
    if (!(seconds > 0 && seconds <= 1e6))
      return Fail(json.key(), fmt::format("expected seconds, more than 0, got {}", json.Describe()));
    fault_.lasts = vigil::Seconds(seconds);
  }

  void Member(Json member) {
    const std::string_view key = member.key();
    if (key == "on") return Kind(member);
    if (key == "nth") return static_cast<void>(fault_.nth = Count(member));
    if (key == "times") return static_cast<void>(fault_.times = Count(member));
    if (key == "fault") return Effects(member);
    if (key == "code") return CodeOfIt(member);
    if (key == "by") {
      given_by_ = true;
      return static_cast<void>(fault_.in_body = Second(member, "status", "body"));
    }
    if (key == "when") {
      given_when_ = true;
      return static_cast<void>(fault_.after = Second(member, "before", "after"));
    }
    if (key == "for_s") return Seconds(member);
    Fail(key, "unknown field; known: on, nth, times, fault, code, by, when, for_s");
  }

  void Check() {
    if (!has_kind_) Fail("on", "it is missing: which calls?");
    const bool is_error = fault_.effect == Effect::kError;
    if (!is_error && (given_code_ || given_by_ || given_when_)) Fail("", "code, by and when are of fault error alone");
    if ((fault_.effect == Effect::kDelay) != (fault_.lasts > Duration::zero()))
      Fail("for_s", "it is of fault delay, which needs it");
    if (fault_.in_body && !IsStep(fault_.on))
      Fail("by", "only the reply of a step has a place for an error in its body");
  }

  const std::string place_;
  Fault fault_;
  bool has_kind_ = false;
  bool given_code_ = false;
  bool given_by_ = false;
  bool given_when_ = false;
  absl::Status wrong_;
};

}  // namespace

std::string_view NameOf(Effect effect) { return kEffects[static_cast<std::size_t>(effect)]; }

absl::StatusOr<Plan> ParsePlan(std::string_view json) {
  replays::JsonDocument document;
  if (const absl::Status status = document.Parse(json); !status.ok()) return status;
  if (document.root().kind() != JsonKind::kArray) {
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("expected a list of faults, got {}", document.root().Describe()));
  }
  Plan plan;
  for (const Json item : document.root()) {
    absl::StatusOr<Fault> fault = Entry(plan.size()).Read(item);
    if (!fault.ok()) return fault.status();
    plan.push_back(*fault);
  }
  return plan;
}

std::string PrintPlan(const Plan& plan) {
  replays::JsonWriter w;
  w.Open('[');
  for (const Fault& fault : plan) {
    w.Newline().Open('{').Key("on").String(NameOf(fault.on)).Key("nth").Integer(fault.nth);
    if (fault.times != 1) w.Key("times").Integer(fault.times);
    w.Key("fault").String(NameOf(fault.effect));
    if (fault.effect == Effect::kError) {
      w.Key("code").String(CodeName(fault.code));
      w.Key("by").String(fault.in_body ? "body" : "status").Key("when").String(fault.after ? "after" : "before");
    }
    if (fault.effect == Effect::kDelay) w.Key("for_s").Seconds(ToSeconds(fault.lasts));
    w.Close('}');
  }
  w.Newline().Close(']');
  return w.Take() + "\n";
}

std::string Describe(const Fault& fault) {
  std::string text = fmt::format("{} {}", NameOf(fault.on), fault.nth);
  if (fault.times > 1) text += fmt::format("..{}", fault.nth + fault.times - 1);
  text += fmt::format(": {}", NameOf(fault.effect));
  if (fault.effect == Effect::kError)
    text += fmt::format(" {} {}, by {}", CodeName(fault.code), fault.after ? "after" : "before",
                        fault.in_body ? "body" : "status");
  if (fault.effect == Effect::kDelay) text += fmt::format(" {:g} s", ToSeconds(fault.lasts));
  return text;
}

Plan DrawPlan(std::uint64_t seed) {
  SplitMix64 draws(seed);
  const auto below = [&draws](std::uint64_t bound) { return static_cast<std::size_t>(draws.Next() % bound); };
  constexpr std::array kKinds = {CallKind::kTrain,    CallKind::kTrain, CallKind::kTrain, CallKind::kCreateSession,
                                 CallKind::kRestore,  CallKind::kSave,  CallKind::kInit,  CallKind::kReady,
                                 CallKind::kReadStep, CallKind::kRun};
  constexpr std::array kCodes = {Code::kUnavailable, Code::kUnavailable, Code::kAborted};
  Plan plan(1 + below(4));
  for (Fault& fault : plan) {
    fault.on = kKinds[below(kKinds.size())];
    fault.nth = 1 + static_cast<std::int64_t>(below(fault.on == CallKind::kTrain ? 40 : 3));
    fault.effect = static_cast<Effect>(below(4));  // nobody waits for ever by chance
    if (fault.effect == Effect::kDelay) fault.lasts = std::chrono::milliseconds(100 + 100 * below(10));
    if (fault.effect != Effect::kError) continue;
    fault.code = kCodes[below(kCodes.size())];
    fault.in_body = IsStep(fault.on) && below(2) == 0;
    fault.after = below(2) == 0;
  }
  return plan;
}

}  // namespace vigil::proxy

#include "vigil/replays/player/protocol.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/fnv.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/fields.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/format/json_writer.h"
#include "vigil/replays/format/names.h"
#include "vigil/replays/player/event_json.h"
#include "vigil/replays/show/text.h"
#include "vigil/sim/world.h"

namespace vigil::replays {
namespace {

constexpr Range<std::int64_t> kIds = {0, std::numeric_limits<std::int64_t>::max()};
constexpr EventKind kDetailKindsOfPlayers[] = {EventKind::kRunPart, EventKind::kHookDetail, EventKind::kSaverDetail,
                                               EventKind::kCoordinatorDetail, EventKind::kQueueDetail};

constexpr Named<Verdict> kPlayerVerdicts[] = {{"played", Verdict::kPlayed},
                                              {"not set up", Verdict::kNotSetUp},
                                              {"runaway", Verdict::kRunaway},
                                              {"deadlock", Verdict::kDeadlock}};

void PrintWords(std::string_view key, const Greeting::Words& words, JsonWriter& w) {
  w.Key(key).Open('[');
  for (const std::string& word : words) w.String(word);
  w.Close(']');
}

void PrintTexts(std::string_view key, const std::vector<std::string>& texts, JsonWriter& w) {
  if (texts.empty()) return;
  w.Key(key).Open('[');
  for (const std::string& text : texts) w.String(text);
  w.Close(']');
}

void ReadWords(const Field& field, Greeting::Words& words) {
  field.Each([&](const Json& item, const Place& place) {
    std::string word;
    Field(field.reading(), item, place).String(word);
    words.insert(std::move(word));
  });
}

void ReadTexts(const Field& field, std::vector<std::string>& texts) {
  field.Each(
      [&](const Json& item, const Place& place) { Field(field.reading(), item, place).String(texts.emplace_back()); });
}

// The type that a message has, or that it is no object.
std::string TypeOf(Fields& f) {
  std::string type;
  f.Deciding("type").String(type);
  return type;
}

// That ours is among the protocols that are offered.
void CheckOffer(const Field& field) {
  bool ours = false;
  field.Each([&](const Json& item, const Place& place) {
    std::int64_t offered = 0;
    Field(field.reading(), item, place).Integer(kIds, offered);
    ours = ours || offered == kPlayerProtocol;
  });
  if (!ours) field.Fail(fmt::format("this player speaks protocol {}, which is not among them", kPlayerProtocol));
}

absl::Status Misread(std::string_view line, const absl::Status& why) {
  return MakeStatus(Code::kInvalidArgument, fmt::format("{} (in {})", MessageOf(why), Shortened(line, 80)));
}

bool Lists(const std::optional<Greeting::Words>& words, std::string_view word) {
  return !words.has_value() || words->contains(word);
}

void PrintFinal(const FinalState& final, JsonWriter& w) {
  w.Key("final").Open('{').Key("checkpoints").Open('[');
  for (const std::int64_t step : final.checkpoints) w.Integer(step);
  w.Close(']');
  if (final.latest.has_value()) w.Key("latest").String(*final.latest);
  if (final.all.has_value()) {
    w.Key("all").Open('[');
    for (const std::string& name : *final.all) w.String(name);
    w.Close(']');
  }
  if (final.events_files.has_value()) w.Key("events_files").Integer(*final.events_files);
  w.Close('}');
}

void ReadFinal(const Field& field, FinalState& final) {
  if (!field.present()) return;
  Fields f(field.reading(), field.value(), field.place());
  const Field checkpoints = f.Required("checkpoints");
  checkpoints.Each([&](const Json& item, const Place& place) {
    Field(field.reading(), item, place).Integer(kIds, final.checkpoints.emplace_back());
  });
  const Field latest = f.Optional("latest");
  if (latest.present()) latest.String(final.latest.emplace());
  const Field all = f.Optional("all");
  if (all.present()) ReadTexts(all, final.all.emplace());
  const Field events_files = f.Optional("events_files");
  if (events_files.present()) events_files.Integer(kIds, final.events_files.emplace());
  f.Finish();
}

void ReadHash(const Field& field, std::uint64_t& hash) {
  std::string text;
  field.String(text);
  if (!field.present()) return;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (error != std::errc() || end != text.data() + text.size()) field.Fail("expected a hash in hexadecimal");
}

// Of what was played by somebody who gives no hash: over the lines.
std::uint64_t HashOfEvents(const std::vector<std::string>& lines) {
  std::uint64_t hash = Fnv1a("");
  for (const std::string& line : lines) hash = Fnv1a("\n", Fnv1a(line, hash));
  return hash;
}

void ReadSeen(const Field& field, std::vector<HookSaid::Seen>& all) {
  field.Each([&](const Json& item, const Place& place) {
    HookSaid::Seen& seen = all.emplace_back();
    Fields one(field.reading(), item, place);
    one.Required("what").String(seen.what);
    one.Required("name").String(seen.name);
    one.Optional("inside").String(seen.inside);
    one.Optional("step").Integer(kIds, seen.step);
    one.Finish();
  });
}

void ReadHookSaid(const Field& field, HookSaid& said) {
  if (!field.present()) return;
  Fields f(field.reading(), field.value(), field.place());
  const Field decisions = f.Optional("decisions");
  decisions.Each([&](const Json& item, const Place& place) {
    HookSaid::Decision& decision = said.decisions.emplace_back();
    Fields one(field.reading(), item, place);
    one.Optional("life").Integer(kIds, decision.life);
    one.Required("step").Integer(kIds, decision.step);
    one.Required("what").String(decision.what);
    one.Finish();
  });
  const Field offences = f.Optional("offences");
  offences.Each([&](const Json& item, const Place& place) {
    HookSaid::Offence& offence = said.offences.emplace_back();
    Fields one(field.reading(), item, place);
    one.Required("promise").String(offence.promise);
    one.Required("actual").String(offence.actual);
    one.Finish();
  });
  ReadSeen(f.Optional("seen"), said.seen);
  f.Optional("may_use_outside").Bool(said.may_use_outside);
  ReadTexts(f.Optional("may_write"), said.may_write);
  f.Optional("stopped_last_run").Bool(said.stopped_last_run);
  f.Optional("error").String(said.error);
  f.Finish();
}

bool RecordsServicesOf(const Scenario& scenario) {
  const auto found = scenario.session.args.find("services");
  return found != scenario.session.args.end() && found->second == ArgValue(true);
}

}  // namespace

std::string Greeting::Title() const { return fmt::format("{} {}", Escaped(name), Escaped(version)); }

std::string PrintHello() {
  JsonWriter w;
  w.Open('{').Key("type").String("hello").Key("protocols").Open('[').Integer(kPlayerProtocol).Close(']').Close('}');
  return w.Take();
}

std::string PrintGreeting(const Greeting& greeting) {
  JsonWriter w;
  w.Open('{').Key("type").String("hello").Key("protocol").Integer(kPlayerProtocol);
  w.Key("name").String(greeting.name).Key("version").String(greeting.version);
  PrintWords("kinds", greeting.kinds, w);
  if (greeting.hooks.has_value()) PrintWords("hooks", *greeting.hooks, w);
  if (greeting.faults.has_value()) PrintWords("faults", *greeting.faults, w);
  PrintWords("behaviours", greeting.behaviours, w);
  w.Key("typed").Bool(greeting.typed);
  PrintWords("details", greeting.details, w);
  if (!greeting.hook.empty()) w.Key("hook").String(greeting.hook);
  w.Key("choices").Bool(greeting.choices).Close('}');
  return w.Take();
}

absl::StatusOr<Greeting> ParseGreeting(std::string_view line) {
  JsonDocument document;
  if (const absl::Status status = document.Parse(line); !status.ok()) return Misread(line, status);
  Reading reading;
  const Place root;
  Fields f(reading, document.root(), root);
  Greeting greeting;
  const std::string type = TypeOf(f);
  if (reading.ok() && type != "hello") reading.Fail(root, fmt::format("expected a hello, got {}", Quoted(type)));
  std::int64_t protocol = 0;
  const Field protocol_field = f.Required("protocol");
  protocol_field.Integer(kIds, protocol);
  if (reading.ok() && protocol != kPlayerProtocol)
    protocol_field.Fail(fmt::format("protocol {} is none of ours, which are: {}", protocol, kPlayerProtocol));
  f.Required("name").Name(greeting.name);
  f.Required("version").Name(greeting.version);
  ReadWords(f.Required("kinds"), greeting.kinds);
  const Field hooks = f.Optional("hooks");
  if (hooks.present()) ReadWords(hooks, greeting.hooks.emplace());
  const Field faults = f.Optional("faults");
  if (faults.present()) ReadWords(faults, greeting.faults.emplace());
  ReadWords(f.Required("behaviours"), greeting.behaviours);
  f.Optional("typed").Bool(greeting.typed);
  ReadWords(f.Optional("details"), greeting.details);
  f.Optional("choices").Bool(greeting.choices);
  f.Optional("hook").String(greeting.hook);
  f.Finish();
  if (!reading.ok()) return Misread(line, reading.status());
  return greeting;
}

std::string WhyNotPlayed(const Greeting& greeting, const Scenario& scenario) {
  if (scenario.job.has_value()) return "clusters need our own core";
  if (scenario.trace != nullptr) return "traces of production runs need our own core";
  if (!greeting.behaviours.contains(scenario.behaviour.name))
    return fmt::format("not the behaviour {}", Quoted(scenario.behaviour.name));
  if (scenario.unit.has_value()) return greeting.kinds.contains("unit") ? "" : "no units";
  const std::string_view kind = NameOf(kSessionKinds, scenario.session.kind);
  if (!greeting.kinds.contains(kind)) return fmt::format("no sessions of kind {}", kind);
  for (const auto* const hooks : {&scenario.hooks, &scenario.session.chief_only_hooks}) {
    for (const HookSpec& hook : *hooks) {
      if (!Lists(greeting.hooks, hook.hook)) return fmt::format("no hook {}", Quoted(hook.hook));
    }
  }
  for (const Fault& fault : scenario.faults) {
    const std::string_view at = NameOf(kFaultPoints, fault.at);
    if (!Lists(greeting.faults, at)) return fmt::format("no faults at {}", at);
  }
  return "";
}

std::vector<EventKind> UnseenBy(const Greeting& greeting) {
  std::vector<EventKind> unseen;
  if (!greeting.typed) unseen.push_back(EventKind::kHookCall);
  for (const EventKind kind : kDetailKindsOfPlayers) {
    if (!greeting.details.contains(EventKindName(kind))) unseen.push_back(kind);
  }
  return unseen;
}

std::string PrintRequest(const PlayRequest& request) {
  JsonWriter w;
  w.Open('{').Key("type").String("play").Key("id").Integer(request.id);
  if (request.random) w.Key("random").Bool(true);
  if (request.lives != 1) w.Key("lives").Integer(request.lives);
  w.Key("scenario").Raw(request.scenario).Close('}');
  return w.Take();
}

absl::StatusOr<std::optional<PlayRequest>> ParseRequest(std::string_view line) {
  constexpr std::string_view kScenario = "\"scenario\":";
  JsonDocument document;
  if (const absl::Status status = document.Parse(line); !status.ok()) return Misread(line, status);
  Reading reading;
  const Place root;
  Fields f(reading, document.root(), root);
  const std::string type = TypeOf(f);
  if (reading.ok() && type == "hello") {
    CheckOffer(f.Required("protocols"));
    f.Finish();
    if (!reading.ok()) return Misread(line, reading.status());
    return std::nullopt;
  }
  if (reading.ok() && type != "play") reading.Fail(root, fmt::format("expected a play, got {}", Quoted(type)));
  PlayRequest request;
  f.Required("id").Integer(kIds, request.id);
  f.Optional("random").Bool(request.random);
  f.Optional("lives").Integer({1, 100}, request.lives);
  const Field scenario = f.Required("scenario");
  f.Finish();
  // The last field, as PrintRequest() writes it: its text is parsed by itself.
  const std::size_t at = line.find(kScenario);
  if (reading.ok() && (at == std::string_view::npos || scenario.value().kind() != JsonKind::kObject))
    scenario.Fail("expected a scenario as the last field, and no spaces");
  if (!reading.ok()) return Misread(line, reading.status());
  const std::string_view rest = line.substr(at + kScenario.size());
  request.scenario = std::string(rest.substr(0, rest.rfind('}')));
  return request;
}

std::string PrintAnswer(std::int64_t id, const Scenario& scenario, const PlainOutcome& outcome, const Played& played) {
  JsonWriter w;
  w.Open('{').Key("type").String("played").Key("id").Integer(id);
  w.Key("verdict").String(NameOf(kPlayerVerdicts, outcome.verdict));
  if (!outcome.reason.empty()) w.Key("reason").String(outcome.reason);
  w.Key("hash").String(fmt::format("{:016x}", outcome.hash));
  w.Key("events");
  if (scenario.unit.has_value()) {
    w.Open('[');
    for (const std::string& line : outcome.events) w.String(line);
    w.Close(']');
  } else {
    PrintEvents(played.trace, played.start, w);
  }
  PrintFinal(outcome.final, w);
  PrintTexts("messages", outcome.messages, w);
  PrintTexts("unused_choices", outcome.unused_choices, w);
  w.Key("choices").Open('{');
  for (const auto& [point, labels] : outcome.choices) PrintTexts(point, labels, w);
  w.Close('}').Close('}');
  return w.Take();
}

std::string PrintCannot(std::int64_t id, std::string_view reason) {
  JsonWriter w;
  w.Open('{').Key("type").String("cannot").Key("id").Integer(id).Key("reason").String(reason).Close('}');
  return w.Take();
}

absl::Status ParseAnswer(std::string_view line, std::int64_t id, const Scenario& scenario, PlainOutcome& outcome,
                         Played& played, HookSaid* hook) {
  JsonDocument document;
  if (const absl::Status status = document.Parse(line); !status.ok()) return Misread(line, status);
  Reading reading;
  const Place root;
  Fields f(reading, document.root(), root);
  const std::string type = TypeOf(f);
  std::int64_t answered = -1;
  f.Deciding("id").Integer(kIds, answered);
  if (!reading.ok()) return Misread(line, reading.status());
  if (answered != id) {
    return MakeStatus(Code::kFailedPrecondition,
                      fmt::format("asked for play {}, it answers play {} ({})", id, answered, Shortened(line, 80)));
  }
  if (type == "cannot") {
    f.Required("reason").String(outcome.reason);
    f.Finish();
    outcome.verdict = Verdict::kCannot;
    return reading.ok() ? absl::OkStatus() : Misread(line, reading.status());
  }
  if (type != "played") reading.Fail(root, fmt::format("expected played or cannot, got {}", Quoted(type)));
  f.Required("verdict").Enum(std::span<const Named<Verdict>>(kPlayerVerdicts), "verdict", outcome.verdict);
  f.Optional("reason").String(outcome.reason);
  const Field hash = f.Optional("hash");
  ReadHash(hash, outcome.hash);
  const Field events = f.Required("events");
  bool typed = true;
  f.Optional("typed").Bool(typed);
  if (!typed) played.unseen.push_back(EventKind::kHookCall);
  ReadFinal(f.Optional("final"), outcome.final);
  ReadTexts(f.Optional("messages"), outcome.messages);
  ReadTexts(f.Optional("unused_choices"), outcome.unused_choices);
  const Field choices = f.Optional("choices");
  choices.EachMember([&](const Json& member, const Place& place) {
    ReadTexts(Field(reading, member, place), outcome.choices[std::string(member.key())]);
  });
  // Who says nothing of a hook is not one whose hook has done nothing wrong.
  const bool must_say = hook != nullptr && outcome.verdict == Verdict::kPlayed;
  const Field said = must_say ? f.Required("hook") : f.Optional("hook");
  if (hook != nullptr) ReadHookSaid(said, *hook);
  f.Finish();
  if (!reading.ok()) return Misread(line, reading.status());
  played.start = sim::WorldOptions{}.start;
  if (scenario.unit.has_value()) {
    ReadTexts(events, outcome.events);  // lines only, of their own
  } else {
    ReadEvents(events, scenario, played.start, played.trace);
  }
  if (!reading.ok()) return MakeStatus(Code::kOutOfRange, MessageOf(reading.status()));
  if (!scenario.unit.has_value()) outcome.events = TextOfTask(played.trace, kPlayerTask, RecordsServicesOf(scenario));
  if (!hash.present()) outcome.hash = HashOfEvents(outcome.events);
  return absl::OkStatus();
}

}  // namespace vigil::replays

#include "vigil/properties/documents/rules_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "vigil/properties/documents/markdown.h"
#include "vigil/properties/judge/node_rules.h"
#include "vigil/properties/planted/registry.h"
#include "vigil/properties/rules/rule_cases.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/properties/rules/stream.h"
#include "vigil/replays/format/json_writer.h"
#include "vigil/replays/show/event_text.h"
#include "vigil/sim/checkers/checker.h"

namespace vigil::properties {
namespace {

constexpr std::string_view kInvariant = "an invariant of clusters";

constexpr std::string_view kHead = R"(# Rules

What every run of a session keeps, as `vigil check` tests it. Each rule is a small automaton over the events of one run
(`properties/rules/`); it knows nothing of the session layer. A promise comes from a document (then it says which, in our
words), from recordings of TensorFlow (then it names some by their ids in `replays/tensorflow/`), or from both. Where they
disagree, the recording wins, and the rule says so. A rule that says nothing else speaks of monitored sessions, singular and
training sessions included, under every behaviour. At the end stand the invariants of clusters (`sim/checkers/`).

Each is needed: `vigil check --planted all` plants mistakes in the library and the simulator, and the rule must find those that stand
under "found by planting" (in the last lines of an entry). A rule without which none of them would be lost says why it stays.

This page is generated: `./vigil rules --markdown > docs/rules.md`
)";

std::string_view SpeaksOfText(SpeaksOf of) {
  switch (of) {
    case SpeaksOf::kMonitored:
      return "";
    case SpeaksOf::kSupervisor:
      return "speaks of supervisors";
    case SpeaksOf::kBoth:
      return "speaks of monitored sessions and of supervisors";
  }
  return "";
}

std::string_view HoldsText(Holds holds) {
  switch (holds) {
    case Holds::kAlways:
      return "";
    case Holds::kTensorFlow:
      return "holds under TensorFlow's behaviour only";
    case Holds::kDefault:
      return "holds under the default behaviour only";
  }
  return "";
}

// A rule or an invariant, as both are shown.
struct Shown {
  std::string_view id;
  std::string_view sentence;
  std::vector<std::pair<std::string_view, std::string_view>> facts;  // "documented": ...; without a name: a remark
  const RuleInfo* rule = nullptr;
  std::string_view stays;

  // Facts, and what it is needed for.
  std::vector<std::pair<std::string_view, std::string>> AllFacts() const {
    std::vector<std::pair<std::string_view, std::string>> all(facts.begin(), facts.end());
    std::string planted;
    for (const PlantedBug* const bug : BugsThatMustBeFoundBy(id))
      planted += fmt::format("{}{}", planted.empty() ? "" : ", ", bug->id);
    if (!planted.empty()) all.emplace_back("found by planting", planted);
    if (!stays.empty()) all.emplace_back("stays because", stays);
    return all;
  }
};

Shown Of(const RuleInfo& rule) {
  Shown shown{.id = rule.id, .sentence = rule.sentence, .rule = &rule, .stays = rule.stays};
  const std::pair<std::string_view, std::string_view> facts[] = {
      {"documented", rule.documented}, {"recorded", rule.observed}, {"disagreement", rule.conflict},
      {"", HoldsText(rule.holds)},     {"", SpeaksOfText(rule.of)},
  };
  for (const auto& fact : facts) {
    if (!fact.second.empty()) shown.facts.push_back(fact);
  }
  return shown;
}

std::vector<Shown> AllShown() {
  std::vector<Shown> all;
  for (const RuleFactory factory : AllRules()) all.push_back(Of(factory()->info()));
  for (const sim::Checker& checker : sim::Checkers())
    all.push_back({.id = checker.id,
                   .sentence = checker.sentence,
                   .facts = {{"source", checker.source}, {"", kInvariant}},
                   .stays = checker.stays});
  all.push_back({.id = kNodeRules,
                 .sentence = kNodeRulesSentence,
                 .facts = {{"source", "all rules"}, {"", kInvariant}},
                 .stays = kNodeRulesStay});
  return all;
}

std::string Section(const Shown& shown) {
  std::string text = fmt::format("\n## {}\n\n{}", shown.id, MarkdownItem(shown.sentence));
  for (const auto& [name, fact] : shown.AllFacts())
    text += MarkdownItem(name.empty() ? fact : fmt::format("{}: {}", name, fact));
  return text;
}

// The hand-written stream of its test, and why that breaks it.
std::string Example(const RuleInfo& rule) {
  for (const RuleCase& example : RuleCases()) {
    if (example.rule != rule.id) continue;
    const Stream stream = ParseStream(example.breaks);
    for (const Violation& violation : Judge(stream.trace, FactsOf(example)).violations) {
      if (violation.rule != rule.id) continue;
      std::string text = "  example of a run that breaks it (* proves it):\n";
      for (std::size_t i = 0; i < stream.trace.size(); ++i) {
        const bool proves = std::ranges::find(violation.witness, i) != violation.witness.end();
        const std::string event = replays::EventText(stream.trace[i].event);
        if (!event.empty()) text += fmt::format("    {} {}\n", proves ? '*' : ' ', event);
      }
      return text + fmt::format("    expected  {}\n    actual    {}\n", violation.expected, violation.actual);
    }
  }
  return "";
}

std::string InFull(const Shown& shown) {
  std::string text = fmt::format("{}\n  {}\n", shown.id, shown.sentence);
  for (const auto& [name, fact] : shown.AllFacts())
    text += fmt::format("  {}{}{}\n", name, name.empty() ? "" : ": ", fact);
  if (shown.rule != nullptr) text += Example(*shown.rule);
  return text + "\n";
}

void WriteJson(const Shown& shown, replays::JsonWriter& json) {
  json.Newline().Open('{').Key("id").String(shown.id).Key("sentence").String(shown.sentence);
  json.Key("kind").String(shown.rule == nullptr ? "invariant" : "rule");
  for (const auto& [name, fact] : shown.facts) {
    if (!name.empty()) json.Key(name).String(fact);
  }
  if (shown.rule != nullptr) {
    constexpr std::string_view kHolds[] = {"always", "tensorflow", "default"};
    constexpr std::string_view kOf[] = {"monitored", "supervisor", "both"};
    json.Key("holds").String(kHolds[static_cast<std::size_t>(shown.rule->holds)]);
    json.Key("of").String(kOf[static_cast<std::size_t>(shown.rule->of)]);
  }
  json.Key("planted").Open('[');
  for (const PlantedBug* const bug : BugsThatMustBeFoundBy(shown.id)) json.String(bug->id);
  json.Close(']');
  if (!shown.stays.empty()) json.Key("stays").String(shown.stays);
  json.Close('}');
}

}  // namespace

std::string RulesDocument() {
  std::string text(kHead);
  for (const Shown& shown : AllShown()) text += Section(shown);
  return text;
}

std::string RulesText(std::span<const std::string> ids, RulesShown how, std::vector<std::string>* missing) {
  const std::vector<Shown> all = AllShown();
  std::vector<const Shown*> chosen;
  for (const std::string& id : ids) {
    const auto found = std::ranges::find(all, id, &Shown::id);
    if (found == all.end()) {
      missing->push_back(id);
    } else {
      chosen.push_back(&*found);
    }
  }
  if (ids.empty()) {
    for (const Shown& shown : all) chosen.push_back(&shown);
  }
  std::string text;
  replays::JsonWriter json;
  json.Open('{').Key("rules").Open('[');
  for (const Shown* shown : chosen) {
    if (how == RulesShown::kJson) WriteJson(*shown, json);
    if (how == RulesShown::kInFull) text += InFull(*shown);
    if (how == RulesShown::kList) text += fmt::format("{:<52} {}\n", shown->id, shown->sentence);
  }
  json.Newline().Close(']').Close('}');
  return how == RulesShown::kJson ? json.Take() + "\n" : text;
}

}  // namespace vigil::properties

#include "vigil/properties/rules_document.h"

#include <fmt/format.h>

#include <string_view>

#include "vigil/properties/markdown.h"
#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

constexpr std::string_view kHead = R"(# Rules

What every run of a session keeps, as `vigil check` tests it. Each rule is a small automaton over the events of one run
(`properties/rules/`); it knows nothing of the session layer. A promise comes from a document (then it says which, in our
words), from recordings of TensorFlow (then it names some by their ids in `replays/tensorflow/`), or from both. Where they
disagree, the recording wins, and the rule says so. The rules speak of monitored and singular sessions.

This page is generated: `./vigil check --list-rules > docs/rules.md`
)";

std::string Section(const RuleInfo& rule) {
  std::string text = fmt::format("\n## {}\n\n{}", rule.id, MarkdownItem(rule.sentence));
  if (!rule.documented.empty()) text += MarkdownItem(fmt::format("documented: {}", rule.documented));
  if (!rule.observed.empty()) text += MarkdownItem(fmt::format("recorded: {}", rule.observed));
  if (!rule.conflict.empty()) text += MarkdownItem(fmt::format("disagreement: {}", rule.conflict));
  if (rule.holds == Holds::kTensorFlow) text += MarkdownItem("holds under TensorFlow's behaviour only");
  return text;
}

}  // namespace

std::string RulesDocument() {
  std::string text(kHead);
  for (const RuleFactory factory : AllRules()) text += Section(factory()->info());
  return text;
}

}  // namespace vigil::properties

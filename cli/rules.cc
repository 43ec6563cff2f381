// `vigil rules`: what every run keeps, as `vigil check` tests it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/console.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/results.h"
#include "vigil/properties/documents/rules_document.h"
#include "vigil/properties/verify/judges.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/fields_document.h"

namespace vigil::cli {
namespace {

constexpr char kRulesNotes[] =
    "Rules speak of the sessions of one process; invariants of whole clusters. Both are listed; docs/rules.md holds "
    "the\n"
    "same. With IDs each is shown in full: where it comes from, what arms it, an example of a run that breaks it.\n"
    "\n"
    "Examples:\n"
    "  vigil rules\n"
    "  vigil rules end.only_on_clean_exit\n"
    "  vigil rules --json | jq -r '.rules[].id'\n"
    "  vigil rules --markdown > docs/rules.md\n"
    "  vigil rules --judges > docs/judges.md\n"
    "  vigil rules --fields > docs/scenario_fields.md\n"
    "\n"
    "Exit codes: 0 listed, 2 misuse (no such rule) or output that cannot be written.\n";

struct RulesArguments {
  std::vector<std::string> ids;
  bool json = false;
  bool markdown = false;
  bool judges = false;
  bool fields = false;
};

int ShowRules(const RulesArguments& arguments, Console& console) {
  if (arguments.markdown) {
    console.Out(properties::RulesDocument());
    return kPassed;
  }
  if (arguments.judges) {
    console.Out(JudgesDocument());
    return kPassed;
  }
  if (arguments.fields) {
    console.Out(replays::FieldsDocument());
    return kPassed;
  }
  std::vector<std::string> missing;
  const properties::RulesShown how = arguments.json          ? properties::RulesShown::kJson
                                     : arguments.ids.empty() ? properties::RulesShown::kList
                                                             : properties::RulesShown::kInFull;
  const std::string text = properties::RulesText(arguments.ids, how, &missing);
  if (!missing.empty()) {
    for (const std::string& id : missing)
      console.Err(fmt::format("error: no rule is called '{}'\n", replays::Escaped(id)));
    console.Err("vigil rules lists them\n");
    return kMisuse;
  }
  console.Out(text);
  return kPassed;
}

}  // namespace

int Rules(const std::vector<std::string>& arguments) {
  RulesArguments parsed;
  CLI::App app{"Lists the rules: what every run keeps", "vigil rules"};
  CLI::Option* const ids = app.add_option("ID", parsed.ids, "Show these in full")->type_name("");
  CLI::Option* const json = app.add_flag("--json", parsed.json, "The same as JSON");
  CLI::Option* const markdown = app.add_flag("--markdown", parsed.markdown, "Print what docs/rules.md holds");
  markdown->excludes(json)->excludes(ids);
  CLI::Option* const judges =
      app.add_flag("--judges", parsed.judges, "Print what docs/judges.md holds: all that judges, and what it excuses")
          ->excludes(json)
          ->excludes(markdown)
          ->excludes(ids);
  app.add_flag("--fields", parsed.fields, "Print what docs/scenario_fields.md holds: every field of a scenario")
      ->excludes(json)
      ->excludes(markdown)
      ->excludes(judges)
      ->excludes(ids);
  app.footer(kRulesNotes);
  if (const std::optional<int> end = ParseCommand(app, arguments)) return *end;
  Console console;
  const int code = ShowRules(parsed, console);
  return Finished(console, code);
}

}  // namespace vigil::cli

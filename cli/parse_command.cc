#include "vigil/cli/parse_command.h"

#include <CLI/CLI.hpp>

#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/console.h"
#include "vigil/cli/results.h"
#include "vigil/replays/format/escape.h"

namespace vigil::cli {

void RefuseEmptyValues(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    if (option->get_expected_max() == 0) continue;  // a flag
    option->check(CLI::Validator([](std::string& value) { return value.empty() ? "the value is empty" : ""; }, ""));
  }
}

std::optional<int> ParseCommand(CLI::App& app, const std::vector<std::string>& words) {
  RefuseEmptyValues(app);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    return Show(app.help());
  } catch (const CLI::Error& error) {
    return TellMisuse(app.get_name(), error.what());
  }
  return std::nullopt;
}

const char* FirstGiven(const CLI::App& app, std::span<const char* const> names) {
  for (const char* const name : names) {
    if (app.get_option(name)->count() > 0) return name;
  }
  return nullptr;
}

int TellMisuse(std::string_view command, std::string_view what) {
  Console().Err(fmt::format("error: {}\nSee {} --help\n", replays::Escaped(what), command));
  return kMisuse;
}

}  // namespace vigil::cli

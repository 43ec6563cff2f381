// What commands that parse their own arguments have in common.
//
// Thread safety: they print; main thread.
#ifndef VIGIL_CLI_PARSE_COMMAND_H_
#define VIGIL_CLI_PARSE_COMMAND_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace vigil::cli {

// No option takes an empty value: an unset variable of a build server must not pass for an option that was left out.
void RefuseEmptyValues(CLI::App& app);

// With a value the command ends here, with that exit code: help was printed, or misuse was told.
// REQUIRES: the app is called as the command is: "vigil check".
std::optional<int> ParseCommand(CLI::App& app, const std::vector<std::string>& words);

// The first of these options that was given; null if none was.
const char* FirstGiven(const CLI::App& app, std::span<const char* const> names);

// "error: WHAT", and where to look. Returns kMisuse.
int TellMisuse(std::string_view command, std::string_view what);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_PARSE_COMMAND_H_

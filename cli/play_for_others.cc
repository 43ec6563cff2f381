// `vigil player`: our own core as a player (docs/players.md).
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/console.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/plant.h"
#include "vigil/cli/results.h"
#include "vigil/core/base/code.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/play/player_server.h"

namespace vigil::cli {
namespace {

constexpr char kPlayerNotes[] =
    "Reads questions from standard input, a line each, and answers with a line each, until there are no more.\n"
    "\n"
    "Examples:\n"
    "  vigil check --suite random --seeds 1..2000 --player 'vigil player'\n"
    "\n"
    "Exit codes: 0 all was answered, 2 misuse, or a line that is no question.\n";

absl::StatusOr<std::string> ReadQuestions() {
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got >= 0) return std::string(buffer, static_cast<std::size_t>(got));
    if (errno != EINTR) return MakeStatus(Code::kUnknown, "cannot read standard input");
  }
}

absl::Status WriteAnswer(std::string_view answer) {
  while (!answer.empty()) {
    const ssize_t wrote = ::write(STDOUT_FILENO, answer.data(), answer.size());
    if (wrote < 0 && errno != EINTR) return MakeStatus(Code::kUnknown, "cannot write to standard output");
    answer.remove_prefix(wrote > 0 ? static_cast<std::size_t>(wrote) : 0);
  }
  return absl::OkStatus();
}

}  // namespace

int PlayForOthers(const std::vector<std::string>& words) {
  std::string plant;
  CLI::App app("Plays scenarios for others, with our own core", "vigil player");
  app.add_option("--plant", plant, "Leave this planted bug on (preset dev)")->type_name("ID");
  app.footer(kPlayerNotes);
  if (const std::optional<int> end = ParseCommand(app, words)) return *end;
  std::optional<properties::PlantedBugScope> planted;
  if (const absl::Status status = Plant(plant, planted); !status.ok())
    return TellMisuse("vigil player", MessageOf(status));
  const absl::Status served = replays::ServePlays(ReadQuestions, VIGIL_VERSION, WriteAnswer);
  if (served.ok()) return kPassed;
  Console console;
  console.Err(fmt::format("error: {}\n", replays::Escaped(MessageOf(served))));
  return Finished(console, kMisuse);
}

}  // namespace vigil::cli

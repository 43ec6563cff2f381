// The program `vigil`: reads the command line and calls the command.
#include <CLI/CLI.hpp>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/console.h"
#include "vigil/cli/crew_options.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/results.h"
#include "vigil/cli/system.h"
#include "vigil/cli/words.h"
#include "vigil/replays/format/escape.h"

namespace vigil::cli {
namespace {

constexpr char kExitCodes[] =
    "Exit codes:\n"
    "  0    everything passed\n"
    "  1    something failed\n"
    "  2    misuse, input that cannot be read (whatever the rest did), output that cannot be written\n"
    "  130  ended by Ctrl-C; 143 by SIGTERM: what was found until then has been printed\n"
    "  141  ended by a pipe whose reader went away, as in: vigil rules | head -n 1\n";

constexpr char kReplayNotes[] =
    "PATH is FILE or FILE#ID, which plays only that scenario of it. A FILE is a .json file (one scenario), a .jsonl "
    "file\n"
    "(a scenario a line), a .trace file (a production run: see docs/traces.md), any of them packed as .xz, a folder "
    "with\n"
    "such files, or - for standard input (JSON).\n"
    "docs/scenario_format.md describes the format.\n"
    "\n"
    "Examples:\n"
    "  vigil replay replays/tensorflow\n"
    "  vigil replay replays/tensorflow/cases.jsonl#lifecycle_two_hooks --trace\n"
    "  vigil replay failures/cluster_42.json --trace --until 60 --only-node chief:0\n"
    "  vigil replay failures/cluster_42.json --timeline cluster_42.html\n"
    "  vigil replay --real replays/cluster/cluster.jsonl#cluster_ps_restart_2\n"
    "  vigil replay failures/ --jobs 1 --json report.json --hashes hashes.txt\n"
    "  xzcat traces.jsonl.xz | vigil replay - --json - 2>report.txt | jq .failed\n"
    "\n";

constexpr double kMostUntil = 1e9;  // seconds

// Commands that parse their own arguments.
struct Command {
  const char* name;
  const char* description;
  int (*run)(const std::vector<std::string>& arguments);
};
constexpr Command kCommands[] = {
    {"check", "Property suites over recorded, enumerated and random faults", Check},
    {"explore", "Every scenario of a small scope, every schedule of one scenario, every fault of a small job", Explore},
    {"diff", "Plays two runs and shows where they part", Diff},
    {"rules", "Lists what every run keeps, and where that is promised", Rules},
    {"judge", "Holds the rules against what a program was observed to do", Judge},
    {"verify", "Drives hooks through faults and says which promise they break", Verify},
    {"campaign", "Cuts a check into shards for Slurm, Kubernetes or GNU parallel", Campaign},
    {"merge", "One report of the shards of a campaign", Merge},
    {"player", "Plays scenarios for others, with our own core", PlayForOthers},
    {"bench", "What hooks cost; arguments go to the benchmark program", Bench},
};

// A range would let nan pass.
std::string CheckUntil(const std::string& text) {
  double seconds = 0;
  const bool number = CLI::detail::lexical_cast(text, seconds);
  return number && seconds >= 0 && seconds <= kMostUntil
             ? ""
             : fmt::format("expected seconds from 0 to {:g}, got '{}'", kMostUntil, text);
}

// "replay, check, explore and bench"
std::string CommandNames() {
  std::string names = "replay";
  for (const Command& command : kCommands) {
    names += fmt::format("{}{}", &command == std::end(kCommands) - 1 ? " and " : ", ", command.name);
  }
  return names;
}

struct CommandLine {
  CLI::App app{"vigil: training sessions that survive faults, and the simulator that proves it", "vigil"};
  CLI::App* replay = nullptr;
  ReplayArguments replay_arguments;

  CommandLine() {
    app.set_version_flag("--version", std::string("vigil ") + VIGIL_VERSION);
    app.require_subcommand(1);
    app.footer(std::string("Examples:\n"
                           "  vigil replay replays/tensorflow/pairs.jsonl.xz\n"
                           "  vigil check\n"
                           "  vigil explore --hooks 3 --runs 4 --faults 2\n"
                           "  vigil bench --benchmark_filter=Hook\n"
                           "  vigil verify --list\n"
                           "  vigil COMMAND --help\n"
                           "\n") +
               kExitCodes);
    AddReplay();
    for (const Command& command : kCommands) {
      CLI::App* const added = app.add_subcommand(command.name, command.description);
      added->prefix_command();
      added->set_help_flag();
    }
  }

  void AddReplay() {
    ReplayArguments& a = replay_arguments;
    replay = app.add_subcommand("replay", "Plays recorded scenarios again and compares, event by event");
    replay->add_option("PATH", a.paths, "What to play")->required()->type_name("");
    replay->add_option("--only", a.only, "Play only the scenario of this id (repeatable)")
        ->allow_extra_args(false)
        ->type_name("ID");
    CLI::Option* const trace =
        replay->add_flag("--trace", a.trace,
                         "Print the events of each scenario; of a cluster in columns, a node "
                         "each. What a real cluster did is then played once, for --seed (default: 1)");
    replay->add_option("--until", a.until_s, "Of a cluster's trace: leave out what is later, in virtual seconds")
        ->check(CheckUntil)
        ->needs(trace)
        ->type_name("SECONDS");
    replay
        ->add_option("--only-node", a.only_nodes,
                     "Of a cluster's trace: show only the column of this node (repeatable)")
        ->allow_extra_args(false)
        ->needs(trace)
        ->type_name("NODE");
    replay->add_flag("--numbers", a.numbers, "Of a cluster's trace: the number of each event in front of it")
        ->needs(trace);
    replay
        ->add_option("--why", a.why,
                     "Print what is in the past of this event, back to a fault if there is one. Numbers are those of "
                     "--numbers, and of the events that a violated rule names")
        ->check(CheckSeed)
        ->type_name("EVENT");
    AddCrewOptions(*replay, a.crew);
    CLI::Option* const seeds =
        replay->add_option("--seeds", a.seeds, "How often to play what a real cluster did (default: 50)")
            ->check(CheckNumber(1, 1'000'000))
            ->type_name("N");
    replay->add_option("--seed", a.seed, "Play what a real cluster did for this seed alone")
        ->check(CheckSeed)
        ->excludes(seeds)
        ->type_name("SEED");
    replay
        ->add_option("--plant", a.plant,
                     "Leave this planted bug on, as vigil check --plant and vigil explore --plant do (preset dev)")
        ->type_name("ID");
    replay->add_option("--player", a.player, "This command plays instead of our own core (docs/players.md)")
        ->type_name("CMD");
    CLI::Option* const real = replay->add_flag(
        "--real", a.real,
        "Play clusters by processes of this machine, with gRPC between them, killed and cut off for real: "
        "in real time, once each (see --seeds)");
    replay->add_option("--keep", a.keep, "Leave the checkpoints and logs of these processes in this folder")
        ->needs(real)
        ->type_name("FOLDER");
    replay->add_option("--player-limit", a.player_limit, "The longest that it may take for one scenario (default: 60s)")
        ->type_name("TIME");
    replay->add_option("--json", a.json, "Write the results to this file as JSON; - for standard output")
        ->type_name("FILE");
    replay->add_option("--hashes", a.hashes, "Write a line 'ID HASH' for each scenario to this file")
        ->type_name("FILE");
    replay->add_option("--timeline", a.timeline, "Write a page for a browser: what happened, of one scenario")
        ->type_name("FILE.html");
    replay->add_option("--perfetto", a.perfetto, "The same as a Chrome trace, for ui.perfetto.dev")->type_name("FILE");
    replay->footer(std::string(kReplayNotes) + kExitCodes);
  }
};

int Misuse(const std::string& what, const CLI::App& app) {
  const bool in_command = !app.get_subcommands().empty();
  const std::string help =
      in_command ? "vigil " + app.get_subcommands().front()->get_name() + " --help" : "vigil --help";
  Console().Err(fmt::format("error: {}\nSee {}\n", replays::Escaped(what), help));
  return kMisuse;
}

int Run(int argc, char** argv) {
  CommandLine line;
  RefuseEmptyValues(*line.replay);
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Show(line.app.help());
  } catch (const CLI::CallForVersion&) {
    return Show(line.app.version() + "\n");
  } catch (const CLI::Error& error) {
    const bool no_command = line.app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-';
    return Misuse(no_command ? fmt::format("no command is called '{}'; there are {}", argv[1], CommandNames())
                             : std::string(error.what()),
                  line.app);
  }
  for (const Command& command : kCommands) {
    const CLI::App* const parsed = line.app.get_subcommand(command.name);
    if (parsed->parsed()) return command.run(parsed->remaining());
  }
  const ReplayArguments& replay = line.replay_arguments;
  for (const auto& [option, file] : {std::pair("--hashes", replay.hashes), std::pair("--timeline", replay.timeline),
                                     std::pair("--perfetto", replay.perfetto)}) {
    if (file == "-")
      return Misuse(fmt::format("{}: - is no file; for standard output say /dev/stdout", option), line.app);
  }
  const bool told = replay.trace || LooksAtOne(replay);
  if (replay.seeds > 0 && told)
    return Misuse("--seeds: with --trace, --timeline and --perfetto one play is told; say --seed", line.app);
  return Replay(replay);
}

}  // namespace
}  // namespace vigil::cli

int main(int argc, char** argv) {
  vigil::cli::HoldClosedStreams();
  vigil::cli::DieQuietlyOnClosedPipes();
  return vigil::cli::Run(argc, argv);
}

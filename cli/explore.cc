#include "vigil/properties/explore.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/console.h"
#include "vigil/cli/explore_report.h"
#include "vigil/cli/output.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/schedules.h"
#include "vigil/cli/system.h"
#include "vigil/cli/words.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/core/env/real/system_clock.h"
#include "vigil/properties/planted/campaign.h"
#include "vigil/replays/escape.h"

namespace vigil::cli {
namespace {

using properties::ExploreOptions;
using properties::ExploreSummary;
using properties::Grouped;

constexpr char kExploreNotes[] =
    "Without FILE, every scenario of a scope: both kinds of sessions, probe hooks a, b, ..., a caller that loops at "
    "most\n"
    "so many times; no stop request or one at any before_run or after_run; up to so many faults at different points "
    "(hook\n"
    "methods and session calls), each ABORTED, UNAVAILABLE, OUT_OF_RANGE or INTERNAL. Each is played by the library "
    "and by\n"
    "the reference model, compared line by line, and checked by all rules. Where they disagree, the scenario is saved "
    "with\n"
    "what the model says, and with the line that replays it.\n"
    "\n"
    "With FILE, one scenario of several tasks (queue runners, service threads, a thread that hears of no stop; the "
    "tasks\n"
    "of a cluster) under every schedule: which task runs, wherever several can. dfs plays them one after the other,\n"
    "depth first, within the bounds; with pct, tasks have random priorities, which change at depth-1 random moments:\n"
    "that finds what takes few ordered steps, in a scenario too large for all schedules. Each is checked by all rules, "
    "by\n"
    "the reference model where it models the scenario, and must come to an end. What the file expects must happen in "
    "the\n"
    "calm schedule, which is the one that vigil replay plays; with --as-expected in all. A failure is shrunk and "
    "saved\n"
    "with the choices that make it happen.\n"
    "\n"
    "Examples:\n"
    "  vigil explore --hooks 2 --runs 3 --faults 1\n"
    "  vigil explore --hooks 3 --runs 4 --faults 2 --state explore.state    (Ctrl-C, then once more: goes on)\n"
    "  vigil explore --hooks 3 --runs 4 --faults 2 --shard 2/8 --json shard2.json\n"
    "  vigil explore queue.json --schedules dfs --changes 3 --limit 0\n"
    "  vigil explore failures/cluster_42.json --schedules pct --seeds 1..500 --depth 4\n"
    "\n"
    "Exit codes: 0 everything agreed, 1 something failed, 2 misuse, input or a state that cannot be read or output "
    "that\n"
    "cannot be written, 130 ended by Ctrl-C and 143 by SIGTERM: what was found until then has been printed.\n";

struct ExploreArguments {
  ExploreOptions options;
  std::string shard = "1/1";
  int jobs = 0;
  std::string json;
  // Of one scenario:
  SchedulesArguments schedules;
  std::string search = "dfs";
  std::string seeds;
  std::string plant;
  bool failures_given = false;
};

// Options that only one of them has.
constexpr const char* kOfAScope[] = {"--hooks", "--runs", "--faults", "--shard", "--state"};
constexpr const char* kOfAFile[] = {"--only",  "--schedules", "--limit", "--choices",     "--changes", "--all-points",
                                    "--seeds", "--depth",     "--plant", "--as-expected", "--preempt"};
constexpr const char* kOfDepthFirst[] = {"--limit", "--choices", "--changes", "--all-points"};
constexpr const char* kOfPriorities[] = {"--seeds", "--depth"};

constexpr char kDefaultScheduleSeeds[] = "1..1000";
constexpr std::uint64_t kMostSchedules = 1'000'000'000'000;
constexpr int kMostDepth = 1000;

void AddScopeOptions(CLI::App& app, ExploreArguments& a) {
  properties::ExploreScope& scope = a.options.scope;
  constexpr char kGroup[] = "Of a scope";
  app.add_option("--hooks", scope.hooks, fmt::format("How many probe hooks (default: {})", scope.hooks))
      ->check(CLI::Range(0, properties::kMostHooks).description(""))
      ->type_name("H")
      ->group(kGroup);
  app.add_option("--runs", scope.runs, fmt::format("How many runs at most (default: {})", scope.runs))
      ->check(CLI::Range(0, properties::kMostRuns).description(""))
      ->type_name("R")
      ->group(kGroup);
  app.add_option("--faults", scope.faults, fmt::format("How many faults at most (default: {})", scope.faults))
      ->check(CLI::Range(0, std::numeric_limits<int>::max()).description(""))
      ->type_name("F")
      ->group(kGroup);
  app.add_option("--shard", a.shard, "Play only part I of N of them (default: 1/1)")->type_name("I/N")->group(kGroup);
  app.add_option(
         "--state", a.options.state,
         "Keep in this file how far it got; if it is there, go on from it. It belongs to one scope and shard, and "
         "to one build: remove it after a change of the code")
      ->type_name("FILE")
      ->group(kGroup);
}

void AddScheduleOptions(CLI::App& app, ExploreArguments& a) {
  properties::SchedulesOptions& options = a.schedules.options;
  constexpr char kGroup[] = "Of FILE, the schedules of one scenario";
  const auto add = [&](const char* name, auto& value, const std::string& what, const char* type) {
    return app.add_option(name, value, what)->type_name(type)->group(kGroup);
  };
  const auto number = [](auto least, auto most) { return CLI::Range(least, most).description(""); };
  add("--only", a.schedules.only, "The id of the scenario, where FILE holds several; also FILE#ID", "ID");
  add("--schedules", a.search, "dfs: all, depth first; pct: by random priorities (default: dfs)", "dfs|pct")
      ->check(CLI::IsMember({"dfs", "pct"}).description(""));
  add("--limit", options.limit,
      fmt::format("Of dfs: how many schedules at most; 0 = all there are (default: {})", options.limit), "N")
      ->check(number(std::uint64_t{0}, kMostSchedules));
  add("--changes", options.changes,
      "Of dfs: how many choices of a schedule may be other than the calm one (default: 0 = any number)", "N")
      ->check(number(std::uint64_t{0}, kMostSchedules));
  add("--choices", options.choices,
      "Of dfs: how many choices of a schedule vary, from its beginning (default: 0 = all)", "N")
      ->check(number(std::uint64_t{0}, kMostSchedules));
  app.add_flag("--all-points", options.all_points,
               "Of dfs: what else is chosen varies too: latencies, losses of messages. Of pct that is random")
      ->group(kGroup);
  add("--seeds", a.seeds, fmt::format("Of pct: a schedule each, both included (default: {})", kDefaultScheduleSeeds),
      "A..B");
  add("--depth", options.depth,
      fmt::format("Of pct: how many steps in one order a bug may need (default: {})", options.depth), "D")
      ->check(number(1, kMostDepth));
  app.add_flag("--preempt", options.preempt,
               "Tasks also give way after an unlock, a notification and a spawn, not only where they wait")
      ->group(kGroup);
  app.add_flag("--as-expected", options.as_expected, "What the file expects must happen in every schedule")
      ->group(kGroup);
  add("--plant", a.plant, "Leave this planted bug on: to see whether some schedule shows it (preset dev)", "ID");
}

void AddExploreOptions(CLI::App& app, ExploreArguments& a) {
  app.add_option("FILE", a.schedules.file, "A scenario, as vigil replay reads it")->type_name("");
  AddScopeOptions(app, a);
  AddScheduleOptions(app, a);
  app.add_option("--jobs", a.jobs, "How many to play at a time (default: one for each core); dfs plays one")
      ->check(CLI::Range(1, kMostJobs).description(""))
      ->type_name("N");
  app.add_option("--failures", a.options.failures, "Where failing scenarios are saved (default: failures)")
      ->type_name("DIR");
  app.add_option("--json", a.json, "Write the summary to this file as JSON; - for standard output")->type_name("FILE");
  app.footer(kExploreNotes);
}

class ExploreRun {
 public:
  explicit ExploreRun(ExploreArguments arguments) : arguments_(std::move(arguments)) {}

  int Run() {
    const ExploreOptions& options = arguments_.options;
    for (const std::string& path : {arguments_.json == "-" ? "" : arguments_.json, options.state}) {
      if (!path.empty() && !Written(path, CheckOutput(files_, path))) return kMisuse;
    }
    if (arguments_.failures_given && !Written(options.failures, CheckFolder(files_, options.failures))) return kMisuse;
    const absl::StatusOr<properties::ScenarioSpace> space = properties::ScenarioSpace::Create(options.scope);
    if (!space.ok()) return Refuse(space.status());
    Print(space->Formula() + "\n");
    if (options.shards > 1) Print(fmt::format("shard {}/{}\n", options.shard, options.shards));
    Print("\n");
    console_.Flush();
    properties::ExploreCallbacks callbacks;
    callbacks.on_failure = [this](const properties::ExploreFailure& failure) {
      failures_.push_back(failure);
      Print(failure.text + "\n");
    };
    callbacks.on_error = [this](const std::string& error) {
      Complain(error);
      errors_ = true;
    };
    callbacks.on_tick = [this](const ExploreSummary& summary) { Tick(summary); };
    callbacks.now = [this] { return clock_.Monotonic(); };
    const absl::StatusOr<ExploreSummary> summary =
        properties::RunExplore(options, files_, callbacks, signals_.stopped());
    console_.EndProgress();
    if (!summary.ok()) return Refuse(summary.status());
    Print(ExploreText(options, *summary));
    WriteJson(*summary);
    console_.Flush();
    if (!console_.status().ok()) Complain(std::string(MessageOf(console_.status())));
    if (signals_.signal() != 0) return kSignalled + signals_.signal();
    if (errors_ || !console_.status().ok()) return kMisuse;
    return summary->counts.failed > 0 ? kFailed : kPassed;
  }

 private:
  void Tick(const ExploreSummary& summary) {
    signals_.Poll();
    console_.Flush();
    console_.Progress(fmt::format("{} of {} played, {} failed", Grouped(summary.counts.played),
                                  Grouped(summary.planned), Grouped(summary.counts.failed)));
  }

  // With `--json -` standard output belongs to the document.
  void Print(std::string_view text) {
    if (arguments_.json == "-") {
      console_.Err(text);
    } else {
      console_.Out(text);
    }
  }

  void WriteJson(const ExploreSummary& summary) {
    if (arguments_.json.empty()) return;
    const std::string json = ExploreJson(arguments_.options, summary, failures_);
    if (arguments_.json == "-") return console_.Out(json);
    if (!Written(arguments_.json, WriteOutput(files_, arguments_.json, json))) errors_ = true;
  }

  bool Written(const std::string& path, const absl::Status& status) {
    if (!status.ok())
      Complain(fmt::format("cannot write {}: {}", replays::Quoted(path), replays::Escaped(MessageOf(status))));
    return status.ok();
  }

  int Refuse(const absl::Status& status) {
    console_.Flush();
    Complain(replays::Escaped(MessageOf(status)));
    return kMisuse;
  }

  void Complain(std::string_view what) { console_.Err(fmt::format("error: {}\n", what)); }

  const ExploreArguments arguments_;
  StopSignals signals_;
  PosixFiles files_;
  SystemClock clock_;
  Console console_;
  std::vector<properties::ExploreFailure> failures_;
  bool errors_ = false;
};

int ExploreMisuse(const std::string& what) { return TellMisuse("vigil explore", what); }

// The first of these options that was given; null if none was.
template <std::size_t N>
const char* FirstGiven(const CLI::App& app, const char* const (&names)[N]) {
  const auto given = [&app](const char* name) { return app.get_option(name)->count() > 0; };
  const auto found = std::ranges::find_if(names, given);
  return found == std::end(names) ? nullptr : *found;
}

int ExploreAScope(ExploreArguments arguments, const CLI::App& app) {
  if (const char* const name = FirstGiven(app, kOfAFile))
    return ExploreMisuse(fmt::format("{}: it is about the schedules of one scenario: name its FILE", name));
  ExploreOptions& options = arguments.options;
  if (app.get_option("--state")->count() > 0 && (options.state.empty() || options.state == "-"))
    return ExploreMisuse(fmt::format("--state: '{}' is no file in which something can be kept", options.state));
  if (!ParseShard(arguments.shard, options.shard, options.shards))
    return ExploreMisuse(fmt::format("--shard: expected I/N with I between 1 and N, got '{}'", arguments.shard));
  options.jobs = arguments.jobs > 0 ? arguments.jobs : Cores();
  return ExploreRun(std::move(arguments)).Run();
}

int ExploreAFile(ExploreArguments arguments, const CLI::App& app) {
  if (const char* const name = FirstGiven(app, kOfAScope))
    return ExploreMisuse(fmt::format("{}: it is about a scope of scenarios; with a FILE there is none", name));
  SchedulesArguments& schedules = arguments.schedules;
  properties::SchedulesOptions& options = schedules.options;
  const bool dfs = arguments.search == "dfs";
  if (const char* const name = dfs ? FirstGiven(app, kOfPriorities) : FirstGiven(app, kOfDepthFirst))
    return ExploreMisuse(fmt::format("{}: it is not of --schedules {}", name, arguments.search));
  options.search = dfs ? properties::ScheduleSearch::kDepthFirst : properties::ScheduleSearch::kPriorities;
  const std::string seeds = arguments.seeds.empty() ? kDefaultScheduleSeeds : arguments.seeds;
  if (!ParseSeeds(seeds, options.first_seed, options.last_seed) ||
      options.last_seed - options.first_seed >= kMostSchedules) {
    return ExploreMisuse(fmt::format("--seeds: expected A..B with A <= B, got '{}'", seeds));
  }
  options.jobs = arguments.jobs > 0 ? arguments.jobs : Cores();
  options.failures = arguments.options.failures;
  schedules.failures_given = arguments.failures_given;
  schedules.json = arguments.json;
  if (arguments.plant.empty()) return ExploreSchedules(schedules);
  if (const absl::Status built = properties::CheckPlantedBugsAreBuilt(); !built.ok())
    return ExploreMisuse("--plant: " + std::string(MessageOf(built)));
  const properties::PlantedBugScope planted(arguments.plant);
  if (!planted.known)
    return ExploreMisuse(
        fmt::format("--plant: no planted bug is called '{}'; vigil check --planted list names them", arguments.plant));
  return ExploreSchedules(schedules);
}

}  // namespace

int Explore(const std::vector<std::string>& words) {
  ExploreArguments arguments;
  CLI::App app("Every scenario of a small scope, or every schedule of one scenario", "vigil explore");
  AddExploreOptions(app, arguments);
  if (const std::optional<int> end = ParseCommand(app, words)) return *end;
  arguments.failures_given = app.get_option("--failures")->count() > 0;
  const bool scope = app.get_option("FILE")->count() == 0;
  return scope ? ExploreAScope(std::move(arguments), app) : ExploreAFile(std::move(arguments), app);
}

}  // namespace vigil::cli

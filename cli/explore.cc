#include "vigil/properties/explore/explore.h"

#include <CLI/CLI.hpp>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/crash_every.h"
#include "vigil/cli/crew_options.h"
#include "vigil/cli/explore_report.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/player_options.h"
#include "vigil/cli/results.h"
#include "vigil/cli/schedules.h"
#include "vigil/cli/system.h"
#include "vigil/cli/words.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/real/system_clock.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/format/escape.h"

namespace vigil::cli {
namespace {

using properties::ExploreOptions;
using properties::ExploreSummary;
using properties::Grouped;

constexpr char kExploreNotes[] =
    "Without FILE, every scenario of a scope: both kinds of sessions, probe hooks a, b, ..., a caller that loops at\n"
    "most so many times; no stop request or one at any before_run or after_run; up to so many faults at different\n"
    "points (hook methods and session calls), each ABORTED, UNAVAILABLE, OUT_OF_RANGE or INTERNAL. Each is played by\n"
    "the library and by the reference model, compared line by line, and checked by all rules. Where they disagree,\n"
    "the scenario is saved with what the model says, and with the line that replays it.\n"
    "\n"
    "With FILE, one scenario of several tasks (queue runners, service threads, a thread that hears of no stop; the\n"
    "tasks of a cluster) under every schedule: which task runs, wherever several can. dfs plays them one after the\n"
    "other, depth first, within the bounds; with pct, tasks have random priorities, which change at depth-1 random\n"
    "moments: that finds what takes few ordered steps, in a scenario too large for all schedules. Each is checked by\n"
    "all rules, by the reference model where it models the scenario, and must come to an end. What the file expects\n"
    "must happen in the schedule that vigil replay plays (the calm one, or by the file's choices); with --as-expected\n"
    "in all. Of what real clusters did is counted which schedules could be theirs; with --as-expected all must. A\n"
    "failure is shrunk and saved with the choices that make it happen.\n"
    "\n"
    "With --cluster SPEC --crash-every, a small job: played once without faults, and then once for each fault that "
    "can\n"
    "fall at each message that is sent or has arrived (of a request also: its reply is lost) and before each "
    "operation\n"
    "on a file, with all invariants on. What was struck is back after 2 s, a link after 5. --pairs plays all pairs.\n"
    "\n"
    "Examples:\n"
    "  vigil explore --hooks 2 --runs 3 --faults 1\n"
    "  vigil explore --hooks 3 --runs 4 --faults 2 --state explore.state    (Ctrl-C, then once more: goes on)\n"
    "  vigil explore --hooks 3 --runs 4 --faults 2 --shard 2/8 --json shard2.json\n"
    "  vigil explore --cluster chief --crash-every\n"
    "  vigil explore --cluster my_job.json --crash-every --jobs 8 --json -\n"
    "  vigil explore --cluster chief --crash-every --pairs --shard 1/100 --state pairs.state\n"
    "  vigil explore queue.json --schedules dfs --changes 3 --limit 0\n"
    "  vigil explore failures/cluster_42.json --schedules pct --seeds 1..500 --depth 4\n"
    "\n"
    "Exit codes: 0 everything agreed, 1 something failed, 2 misuse, input or a state that cannot be read or output\n"
    "that cannot be written, 130 ended by Ctrl-C and 143 by SIGTERM: what was found until then has been printed.\n";

struct ExploreArguments {
  ExploreOptions options;
  std::string shard = "1/1";
  CrewArguments crew;
  PlayerArguments player;
  std::string json;
  SchedulesArguments schedules;  // of a FILE
  CrashEveryArguments crash_every;
  bool failures_given = false;
};

constexpr const char* kOfAScope[] = {"--hooks", "--runs",   "--faults",      "--shard",
                                     "--state", "--player", "--player-limit"};
constexpr const char* kNotOfAJob[] = {"--hooks",       "--runs",        "--faults",  "--only",       "--schedules",
                                      "--limit",       "--changes",     "--choices", "--seeds",      "--depth",
                                      "--as-expected", "--preempt",     "--spins",   "--all-points", "--guarded",
                                      "--player",      "--player-limit"};
constexpr const char* kOfGuided[] = {"--seed", "--chain", "--blind"};
constexpr const char* kNotOfGuided[] = {"--shard", "--state", "--pairs"};

void AddScopeOptions(CLI::App& app, ExploreArguments& a) {
  properties::ExploreScope& scope = a.options.scope;
  constexpr char kGroup[] = "Of a scope";
  app.add_option("--hooks", scope.hooks, fmt::format("How many probe hooks (default: {})", scope.hooks))
      ->check(CheckNumber(0, properties::kMostHooks))
      ->type_name("H")
      ->group(kGroup);
  app.add_option("--runs", scope.runs, fmt::format("How many runs at most (default: {})", scope.runs))
      ->check(CheckNumber(0, properties::kMostRuns))
      ->type_name("R")
      ->group(kGroup);
  app.add_option("--faults", scope.faults, fmt::format("How many faults at most (default: {})", scope.faults))
      ->check(CheckNumber(0, std::numeric_limits<int>::max()))
      ->type_name("F")
      ->group(kGroup);
  app.add_option("--shard", a.shard, "Play only part I of N of them, or of the faults of a job (default: 1/1)")
      ->type_name("I/N")
      ->group(kGroup);
  app.add_option("--state", a.options.state,
                 "Keep in this file how far it got; if it is there, go on from it. It belongs to one scope (or job) "
                 "and shard, and "
                 "to one build: remove it after a change of the code")
      ->type_name("FILE")
      ->group(kGroup);
}

void AddExploreOptions(CLI::App& app, ExploreArguments& a) {
  app.add_option("FILE", a.schedules.file, "A scenario, as vigil replay reads it")->type_name("");
  AddScopeOptions(app, a);
  AddCrashEveryOptions(app, a.crash_every);
  AddScheduleOptions(app, a.schedules);
  AddCrewOptions(app, a.crew, replays::PlayLimits().cpu, "; dfs plays one");
  AddPlayerOptions(app, a.player);
  app.add_option("--failures", a.options.failures, "Where failing scenarios are saved (default: failures)")
      ->type_name("DIR");
  app.add_option("--json", a.json, "Write the summary to this file as JSON; - for standard output")->type_name("FILE");
  app.footer(kExploreNotes);
}

class ExploreRun {
 public:
  // `player`: a line that says who plays.
  ExploreRun(ExploreArguments arguments, std::string player)
      : arguments_(std::move(arguments)), player_(std::move(player)), results_("vigil explore", arguments_.json) {}

  int Run() {
    const ExploreOptions& options = arguments_.options;
    if (!results_.CanWrite({{"--state", options.state}}, {options.failures})) return kMisuse;
    if (arguments_.failures_given && !results_.CanSaveIn(options.failures)) return kMisuse;
    const absl::StatusOr<properties::ScenarioSpace> space = properties::ScenarioSpace::Create(options.scope);
    if (!space.ok()) return results_.Refuse(space.status());
    results_.Print(space->Formula() + "\n");
    if (options.shards > 1) results_.Print(fmt::format("shard {}/{}\n", options.shard, options.shards));
    results_.Print(player_);
    results_.Print("\n");
    results_.Flush();
    properties::ExploreCallbacks callbacks;
    callbacks.on_failure = [this](const properties::ExploreFailure& failure) {
      failures_.push_back(failure);
      results_.Print(failure.text + "\n");
    };
    callbacks.on_error = [this](const std::string& error) { results_.Fail(error); };
    callbacks.on_tick = [this](const ExploreSummary& summary) {
      results_.Tick(fmt::format("{} of {} played, {} failed", Grouped(summary.counts.played), Grouped(summary.planned),
                                Grouped(summary.counts.failed)));
    };
    callbacks.now = [this] { return clock_.Monotonic(); };
    const absl::StatusOr<ExploreSummary> summary =
        properties::RunExplore(options, results_.files(), callbacks, results_.stopped());
    results_.EndProgress();
    if (!summary.ok()) return results_.Refuse(summary.status());
    results_.Print(ExploreText(options, *summary));
    if (results_.wants_json()) results_.WriteJson(ExploreJson(options, *summary, failures_));
    return results_.End(summary->counts.failed == 0 && !summary->given_up);
  }

 private:
  const ExploreArguments arguments_;
  const std::string player_;
  Results results_;
  SystemClock clock_;
  std::vector<properties::ExploreFailure> failures_;
};

int ExploreMisuse(const std::string& what) { return TellMisuse("vigil explore", what); }

// What a scope and the faults of a job have in common.
absl::Status ReadParts(ExploreArguments& arguments, const CLI::App& app) {
  ExploreOptions& options = arguments.options;
  if (app.get_option("--state")->count() > 0 && (options.state.empty() || options.state == "-"))
    return UsageError(fmt::format("--state: '{}' is no file in which something can be kept", options.state));
  if (!ParseShard(arguments.shard, options.shard, options.shards))
    return UsageError(fmt::format("--shard: expected I/N with I between 1 and N, got '{}'", arguments.shard));
  options.jobs = JobsOf(arguments.crew);
  options.version = VIGIL_VERSION;
  return ReadPlayLimit(arguments.crew, options.limits);
}

int ExploreAJob(ExploreArguments arguments, const CLI::App& app) {
  CrashEveryArguments& every = arguments.crash_every;
  if (app.get_option("FILE")->count() > 0)
    return ExploreMisuse("FILE: it is about the schedules of one scenario; name the job as --cluster FILE");
  const bool guided = every.guided > 0;
  if (guided && every.every) return ExploreMisuse("--crash-every and --guided N exclude each other: name one of them");
  if (every.cluster.empty() || every.every == guided)
    return ExploreMisuse(
        "--cluster SPEC and --crash-every (or --guided N) go together: name the job, and what is done to it");
  if (const char* const name = FirstGiven(app, kNotOfAJob))
    return ExploreMisuse(fmt::format("{}: it is not of --crash-every", name));
  if (const char* const name = guided ? FirstGiven(app, kNotOfGuided) : FirstGiven(app, kOfGuided))
    return ExploreMisuse(fmt::format("{}: it is not of {}", name, guided ? "--guided" : "--crash-every"));
  if (const absl::Status status = ReadParts(arguments, app); !status.ok())
    return ExploreMisuse(std::string(MessageOf(status)));
  const ExploreOptions& given = arguments.options;
  every.options.shard = given.shard;
  every.options.shards = given.shards;
  every.options.jobs = given.jobs;
  every.options.limits = given.limits;
  every.options.failures = given.failures;
  every.options.state = given.state;
  every.options.version = given.version;
  every.options.plant = arguments.schedules.options.plant;
  every.failures_given = arguments.failures_given;
  every.json = arguments.json;
  return guided ? ExploreGuided(std::move(every)) : ExploreCrashEvery(std::move(every));
}

int ExploreAScope(ExploreArguments arguments, const CLI::App& app) {
  if (const char* const name = FirstGiven(app, kOfSchedules))
    return ExploreMisuse(fmt::format("{}: it is about the schedules of one scenario: name its FILE", name));
  if (const absl::Status status = ReadParts(arguments, app); !status.ok())
    return ExploreMisuse(std::string(MessageOf(status)));
  const absl::StatusOr<std::string> player =
      ReadPlayer(arguments.player, arguments.options.limits, arguments.options.player);
  if (!player.ok()) return ExploreMisuse(std::string(MessageOf(player.status())));
  return ExploreRun(std::move(arguments), *player).Run();
}

}  // namespace

int Explore(const std::vector<std::string>& words) {
  ExploreArguments arguments;
  CLI::App app("Every scenario of a small scope, every schedule of one scenario, every fault of a small job",
               "vigil explore");
  AddExploreOptions(app, arguments);
  if (const std::optional<int> end = ParseCommand(app, words)) return *end;
  arguments.failures_given = app.get_option("--failures")->count() > 0;
  if (AsksForCrashEvery(app)) return ExploreAJob(std::move(arguments), app);
  if (app.get_option("FILE")->count() == 0) return ExploreAScope(std::move(arguments), app);
  if (const char* const name = FirstGiven(app, kOfAScope))
    return ExploreMisuse(fmt::format("{}: it is about a scope of scenarios; with a FILE there is none", name));
  SchedulesArguments& schedules = arguments.schedules;
  schedules.options.jobs = JobsOf(arguments.crew);
  if (const absl::Status status = ReadPlayLimit(arguments.crew, schedules.options.limits); !status.ok())
    return ExploreMisuse(std::string(MessageOf(status)));
  schedules.options.failures = arguments.options.failures;
  schedules.failures_given = arguments.failures_given;
  schedules.json = arguments.json;
  return ExploreFile(std::move(schedules), app);
}

}  // namespace vigil::cli

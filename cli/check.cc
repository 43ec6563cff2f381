#include "vigil/properties/campaign/check.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "vigil/cli/annotations.h"
#include "vigil/cli/check_report.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/crew_options.h"
#include "vigil/cli/junit.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/plant.h"
#include "vigil/cli/player_options.h"
#include "vigil/cli/results.h"
#include "vigil/cli/system.h"
#include "vigil/cli/words.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/time.h"
#include "vigil/core/env/real/system_clock.h"
#include "vigil/properties/campaign/corpus.h"
#include "vigil/properties/campaign/shard_keeper.h"
#include "vigil/properties/campaign/suites.h"
#include "vigil/properties/documents/faults_document.h"
#include "vigil/properties/documents/rules_document.h"
#include "vigil/replays/format/escape.h"

namespace vigil::cli {
namespace {

constexpr char kDefaultSeeds[] = "1..40000";
constexpr char kDefaultJobs[] = "1..200";
constexpr char kDefaultRealJobs[] = "1..20";
constexpr properties::ExploreScope kCheckedScope = {.hooks = 2, .runs = 2, .faults = 2};

constexpr char kNotes[] =
    "Every rule is held against each session of recorded and random (docs/rules.md), the invariants of jobs against "
    "cluster;\n"
    "what real clusters did is only compared. What violates a rule (five of each, the first of them shrunk)\n"
    "is saved as a "
    "file, with the line\n"
    "that replays it.\n"
    "\n"
    "Examples:\n"
    "  vigil check\n"
    "  vigil check --suite random --seeds 1..1000000\n"
    "  vigil check --suite random --seeds 4711..4711 --json -\n"
    "  vigil check --suite cluster --time 10m --junit cluster.xml\n"
    "  vigil check --suite cluster --seeds 1..100000 --shard 3/8\n"
    "  vigil check --suite random --seeds 1001..2000 --state shards/2.state\n"
    "  vigil check --suite random --seeds 1..20000 --corpus corpus\n"
    "  vigil check --planted session.end_twice,recovery.no_pause\n"
    "  vigil check --planted all --shrink\n"
    "\n"
    "Exit codes: 0 everything passed, 1 something failed, 2 misuse, unreadable input or unwritable output,\n"
    "130 ended by Ctrl-C and 143 by SIGTERM: what was found until then has been printed.\n";

// What plays each planted bug by itself has none of these.
constexpr const char* kNotOfPlanted[] = {"--shard",           "--annotations", "--junit",      "--time",
                                         "--faults-document", "--failures",    "--recordings", "--plant",
                                         "--list-rules",      "--play-limit",  "--player",     "--player-limit",
                                         "--state",           "--corpus",      "--kills",      "--keep"};
constexpr const char* kNotOfPlantedList[] = {"--jobs", "--json", "--shrink", "--seeds"};
// What only some suites have.
constexpr const char* kOfDrawnSuites[] = {"--seeds", "--time"};

// "saved, recorded, ... or planted"
std::string SuiteNames() {
  std::string names;
  for (const properties::SuiteInfo& suite : properties::kSuites) {
    const bool last = &suite == std::end(properties::kSuites) - 1;
    names += fmt::format("{}{}", names.empty() ? "" : last ? " or " : ", ", suite.name);
  }
  return names;
}

std::string Notes() {
  std::string notes = "Suites:\n";
  for (const properties::SuiteInfo& suite : properties::kSuites)
    notes += fmt::format("  {:<11} {}\n", suite.name, suite.what);
  return notes + kNotes;
}

struct Arguments {
  std::string shard = "1/1";
  std::string annotations = "auto";
  std::vector<std::string> suites;
  std::string seeds;
  CrewArguments crew;
  PlayerArguments player;
  std::string json;
  std::string junit;
  std::string faults_document;
  std::string time;
  std::string failures = "failures";
  std::string state;
  std::string corpus;
  std::vector<std::string> recordings;
  bool list_rules = false;
  std::vector<std::string> planted;
  std::string plant;
  bool failures_given = false;
  const char* of_drawn = nullptr;  // an option that only drawn suites have, and that was given
  bool shrink = false;
  std::int64_t kills = 0;
  std::string keep;
};

void AddOptions(CLI::App& app, Arguments& a) {
  std::vector<std::string> suites;
  for (const properties::SuiteInfo& suite : properties::kSuites) suites.emplace_back(suite.name);
  app.add_option("--suite", a.suites,
                 fmt::format("{} (repeatable; default: all but {} and {}, which play alone)", SuiteNames(),
                             properties::suites::kRealCluster.name, properties::suites::kPlanted.name))
      ->allow_extra_args(false)
      ->check(CLI::IsMember(suites).description(""))
      ->type_name("NAME");
  app.add_option("--kills", a.kills, "Of real-cluster: jobs of five processes, which are killed so many times")
      ->check(CheckNumber(1, 10'000))
      ->type_name("N");
  app.add_option("--keep", a.keep, "Of real-cluster: leave the checkpoints and logs of the processes in this folder")
      ->type_name("FOLDER");
  app.add_option(
         "--seeds", a.seeds,
         fmt::format("Of random and cluster, both included (default: {} and {}; with --planted 1..N of each bug: "
                     "1..10000 and 1..6000)",
                     kDefaultSeeds, kDefaultJobs))
      ->type_name("A..B");
  app.add_option("--shard", a.shard, "Play only part I of N of each suite (default: 1/1)")->type_name("I/N");
  app.add_option("--annotations", a.annotations,
                 "Mark failures for a CI service: github, azure, teamcity, none, or auto (default: by its environment)")
      ->check(CLI::IsMember({"auto", "github", "azure", "teamcity", "none"}).description(""))
      ->type_name("SERVICE");
  AddCrewOptions(app, a.crew);
  AddPlayerOptions(app, a.player);
  app.add_option("--json", a.json, "Write the summary to this file as JSON; - for standard output")->type_name("FILE");
  app.add_option("--junit", a.junit, "Write the results to this file as JUnit XML, a testsuite a suite")
      ->type_name("FILE");
  app.add_option(
         "--time", a.time,
         "Random and cluster go on with further seeds for so long, each: 30s, 10m, 1h. The seeds are printed at "
         "the end; without --seeds they begin at 1")
      ->type_name("TIME");
  app.add_option(
         "--faults-document", a.faults_document,
         "Write what docs/faults.md holds, with the numbers of this campaign, to this file. Needs the suite cluster")
      ->type_name("FILE");
  app.add_option("--failures", a.failures, "Where failing scenarios are saved (default: failures)")->type_name("DIR");
  app.add_option("--state", a.state,
                 "Keep what was found in this file, and go on from there if it is there: a shard of a campaign, for "
                 "vigil merge. Needs --suite random, cluster or both")
      ->type_name("FILE");
  app.add_option("--corpus", a.corpus,
                 "Random and cluster play what is kept in this folder, then changed and new scenarios, and keep those "
                 "there that reach something new")
      ->type_name("DIR");
  app.add_option("--recordings", a.recordings, "What the suite recorded plays (default: the recordings of this tree)")
      ->allow_extra_args(false)
      ->type_name("PATH");
  app.add_option(
         "--planted", a.planted,
         "Turn planted bugs on, one after the other, and see whether the rule that must find it does: all, list, "
         "or ids joined by commas. Needs a build that has them (preset dev)")
      ->allow_extra_args(false)
      ->type_name("all|list|ID[,ID...]");
  app.add_flag("--shrink", a.shrink,
               "With --planted: shrink the first finding of each bug, which takes minutes, and fail if they are larger "
               "than three elements in the median or one takes over a minute");
  app.add_option("--plant", a.plant,
                 "Leave this planted bug on during the campaign: to see what its failures look like (preset dev)")
      ->type_name("ID");
  app.add_flag("--list-rules", a.list_rules, "The same as vigil rules --markdown; checks nothing");
  app.footer(Notes());
}

// As a person would write it: relative if it is below the working directory.
std::string ShortPath(const std::string& path) {
  std::error_code error;
  const std::string relative = std::filesystem::proximate(path, error).string();
  return error || relative.starts_with("..") ? path : relative;
}

class CheckRun {
 public:
  // `player`: a line that says who plays.
  CheckRun(Arguments arguments, properties::CheckOptions options, std::string player)
      : arguments_(std::move(arguments)),
        options_(std::move(options)),
        player_(std::move(player)),
        service_(ServiceOf(arguments_.annotations)),
        results_("vigil check", arguments_.json) {}

  int Run() {
    if (!results_.CanWrite({{"--junit", arguments_.junit},
                            {"--faults-document", arguments_.faults_document},
                            {"--state", arguments_.state}},
                           Inputs()))
      return kMisuse;
    if (arguments_.failures_given && !(OnlyReadsFailures() ? HasFailures() : results_.CanSaveIn(options_.failures)))
      return kMisuse;
    std::optional<properties::ShardKeeper> keeper;
    if (!arguments_.state.empty()) {
      absl::StatusOr<properties::ShardKeeper> opened =
          properties::ShardKeeper::Open(results_.files(), arguments_.state, Shard());
      if (!opened.ok()) return results_.Refuse(opened.status());
      keeper = *std::move(opened);
    }
    properties::Corpora corpora;
    if (!arguments_.corpus.empty() && !OpenCorpora(corpora)) return kMisuse;
    Announce();
    properties::CheckCallbacks callbacks;
    callbacks.on_corpus = [&](std::string_view suite) {
      const absl::Status status = corpora.find(suite)->second.Save(results_.files(), arguments_.corpus, suite);
      if (!status.ok()) results_.Fail(MessageOf(status));
    };
    callbacks.on_failure = [this](const properties::CheckFailure& failure) {
      failures_.push_back(failure);
      results_.Print(failure.text + "\n" + Annotation(service_, failure));
    };
    callbacks.on_error = [this](const std::string& error) { results_.Fail(error); };
    callbacks.on_tick = [this](std::string_view suite, const properties::SuiteCount& count) {
      results_.Tick(fmt::format("{}: {} played, {} failed", suite, count.played(), count.failed));
    };
    callbacks.now = [this] { return clock_.Monotonic(); };
    const properties::CheckSummary summary =
        properties::RunCheck(options_, results_.files(), callbacks, results_.stopped(),
                             keeper.has_value() ? &*keeper : nullptr, arguments_.corpus.empty() ? nullptr : &corpora);
    results_.EndProgress();
    results_.Print(CheckText(options_, summary));
    if (results_.wants_json()) results_.WriteJson(CheckJson(options_, summary, failures_));
    if (!arguments_.junit.empty()) results_.Write(arguments_.junit, JUnit(summary, failures_));
    WriteFaults(summary);
    const bool nothing = summary.passed() + summary.failed() == 0 && !player_.empty();
    if (nothing && !results_.interrupted()) results_.Fail("the player has played nothing");
    return results_.End(summary.failed() == 0 && !summary.given_up());
  }

 private:
  // The suite saved, alone: nothing of it is saved again.
  bool OnlyReadsFailures() const {
    return options_.saved && !options_.random && !options_.explore.has_value() && !options_.cluster &&
           options_.recordings.empty() && options_.regressions.empty();
  }
  // A folder that is named and is not there is a mistake in its name.
  bool HasFailures() {
    const absl::StatusOr<FileInfo> info = results_.files().Stat(options_.failures);
    if (info.ok() && info->is_directory) return true;
    results_.Fail(fmt::format("--failures: there is no folder {}", replays::Quoted(options_.failures)));
    return false;
  }

  // False: told.
  bool OpenCorpora(properties::Corpora& corpora) {
    if (!results_.CanSaveIn(arguments_.corpus)) return false;
    for (const properties::SuiteInfo& suite : {properties::suites::kRandom, properties::suites::kCluster}) {
      const bool plays = suite.name == properties::suites::kRandom.name ? options_.random : options_.cluster;
      if (!plays) continue;
      absl::StatusOr<properties::Corpus> corpus =
          properties::Corpus::Open(results_.files(), arguments_.corpus, suite.name);
      if (!corpus.ok()) {
        results_.Refuse(corpus.status());
        return false;
      }
      corpora.emplace(suite.name, *std::move(corpus));
    }
    return true;
  }

  properties::ShardState Shard() const {
    properties::ShardState shard;
    shard.key = {VIGIL_VERSION, options_.plant, options_.player.command};
    if (options_.random)
      shard.suites[std::string(properties::suites::kRandom.name)].asked = {options_.first_seed, options_.last_seed};
    if (options_.cluster)
      shard.suites[std::string(properties::suites::kCluster.name)].asked = {options_.first_job, options_.last_job};
    return shard;
  }

  // All that is read, and what is kept up to date.
  std::vector<std::string> Inputs() const {
    std::vector<std::string> inputs = {options_.failures};
    inputs.insert(inputs.end(), options_.recordings.begin(), options_.recordings.end());
    inputs.insert(inputs.end(), options_.regressions.begin(), options_.regressions.end());
    if (arguments_.corpus.empty()) return inputs;
    for (const properties::SuiteInfo& suite : {properties::suites::kRandom, properties::suites::kCluster})
      inputs.push_back(properties::CorpusPath(arguments_.corpus, suite.name));
    return inputs;
  }

  void Announce() {
    results_.Print(player_);
    if (options_.shards > 1) results_.Print(fmt::format("shard {}/{}\n", options_.shard, options_.shards));
    for (const std::string& path : options_.recordings)
      results_.Print(fmt::format("suite recorded: {}\n", replays::Escaped(path)));
    for (const std::string& path : options_.regressions)
      results_.Print(fmt::format("suite regressions: {}\n", replays::Escaped(path)));
    const std::string time = arguments_.time.empty() ? "" : " and on for " + arguments_.time;
    if (options_.random)
      results_.Print(fmt::format("suite random: --seeds {}..{}{}\n", options_.first_seed, options_.last_seed, time));
    if (options_.explore.has_value()) {
      const properties::ExploreScope& scope = *options_.explore;
      results_.Print(
          fmt::format("suite explore: --hooks {} --runs {} --faults {}\n", scope.hooks, scope.runs, scope.faults));
    }
    if (options_.cluster)
      results_.Print(fmt::format("suite cluster: --seeds {}..{}{}\n", options_.first_job, options_.last_job, time));
    results_.Print("\n");
    results_.Flush();
  }

  // Of half a campaign there is no document.
  void WriteFaults(const properties::CheckSummary& summary) {
    if (arguments_.faults_document.empty() || summary.stopped) return;
    const auto& [first, last] = summary.suites.at(std::string(properties::suites::kCluster.name)).seeds.value();
    results_.Write(arguments_.faults_document, properties::FaultsDocument(summary.cluster, first, last));
  }

  const Arguments arguments_;
  const properties::CheckOptions options_;
  const std::string player_;
  const CiService service_;
  Results results_;
  SystemClock clock_;
  std::vector<properties::CheckFailure> failures_;
};

int Misuse(const std::string& what) { return TellMisuse("vigil check", what); }

// What speaks against --state or --corpus; "" = nothing.
std::string WrongOfKept(const Arguments& arguments, const properties::CheckOptions& options) {
  if (!arguments.state.empty()) {
    if (arguments.suites.empty() || !std::ranges::all_of(arguments.suites, properties::IsDrawn))
      return "--state: it needs --suite random, --suite cluster or both; other suites are not kept";
    if (options.shards > 1)
      return "--state: not with --shard; give each shard seeds of its own, as vigil campaign does";
    if (!arguments.time.empty()) return "--state: not with --time; its seeds must be known, say --seeds A..B";
    if (!arguments.faults_document.empty()) return "--state: not with --faults-document";
    if (!arguments.corpus.empty())
      return "--state: not with --corpus, which plays what was reached before: seeds would not be repeated";
  }
  if (!arguments.corpus.empty() && !options.random && !options.cluster)
    return "--corpus: it needs the suite random or cluster";
  if (!arguments.corpus.empty() && options.shards > 1)
    return "--corpus: not with --shard; give each shard seeds and a folder of its own, and merge them";
  return "";
}

// By its name: of those that play alone no other way is known.
bool IsWanted(const Arguments& arguments, const properties::SuiteInfo& suite) {
  return std::ranges::find(arguments.suites, suite.name) != arguments.suites.end();
}

// What the suite real-cluster has not, since nothing of it is played again as it was; or "".
std::string_view GivenInVain(const Arguments& arguments) {
  if (!arguments.player.command.empty()) return "--player";
  if (!arguments.state.empty()) return "--state";
  if (!arguments.corpus.empty()) return "--corpus";
  return "";
}

absl::Status SetUpReal(const Arguments& arguments, properties::CheckOptions& options) {
  options.real_cluster = IsWanted(arguments, properties::suites::kRealCluster);
  if (!options.real_cluster) {
    if (arguments.kills == 0 && arguments.keep.empty()) return absl::OkStatus();
    return UsageError("--kills and --keep: they need --suite real-cluster");
  }
  if (const std::string_view vain = GivenInVain(arguments); !vain.empty())
    return UsageError(fmt::format("{}: not with --suite real-cluster", vain));
  if (arguments.seeds.empty() && arguments.time.empty())
    ParseSeeds(kDefaultRealJobs, options.first_job, options.last_job);
  options.kills = arguments.kills;
  options.player.keep = arguments.keep;
  options.player.plant = arguments.plant;
  return PlayByProcesses(options.limits, options.player);
}

int CheckWith(const Arguments& arguments) {
  properties::CheckOptions options;
  const bool given = !arguments.seeds.empty();
  if (!ParseSeeds(given ? arguments.seeds : kDefaultSeeds, options.first_seed, options.last_seed) ||
      !ParseSeeds(given ? arguments.seeds : kDefaultJobs, options.first_job, options.last_job)) {
    return Misuse(fmt::format("--seeds: expected A..B with A <= B, got '{}'", arguments.seeds));
  }
  if (!arguments.time.empty()) {
    const std::optional<Duration> time = ParseTime(arguments.time);
    if (!time.has_value())
      return Misuse(fmt::format("--time: expected a time as 30s, 10m or 1h, got '{}'", arguments.time));
    options.time = *time;
    if (!given) options.last_seed = options.last_job = options.first_seed;
  }
  if (const absl::Status status = ReadPlayLimit(arguments.crew, options.limits); !status.ok())
    return Misuse(std::string(MessageOf(status)));
  namespace suites = properties::suites;
  const auto wants = [&arguments](const properties::SuiteInfo& suite) {
    return arguments.suites.empty() || IsWanted(arguments, suite);
  };
  if (!ParseShard(arguments.shard, options.shard, options.shards))
    return Misuse(fmt::format("--shard: expected I/N with I between 1 and N, got '{}'", arguments.shard));
  options.saved = wants(suites::kSaved);
  options.random = wants(suites::kRandom);
  if (wants(suites::kExplore)) options.explore = kCheckedScope;
  options.cluster = wants(suites::kCluster);
  if (const absl::Status status = SetUpReal(arguments, options); !status.ok())
    return Misuse(std::string(MessageOf(status)));
  if (!arguments.player.command.empty()) {
    if (options.cluster && !arguments.suites.empty())
      return Misuse("--suite cluster: it needs our own core, not --player (clusters, virtual time inside)");
    options.cluster = false;
  }
  if (!arguments.faults_document.empty() && !options.cluster)
    return Misuse("--faults-document: it needs the suite cluster");
  if (arguments.of_drawn != nullptr && !options.random && !options.cluster && !options.real_cluster)
    return Misuse(fmt::format("{}: it needs the suite random or cluster", arguments.of_drawn));
  if (!arguments.recordings.empty() && !wants(suites::kRecorded))
    return Misuse("--recordings: it needs the suite recorded");
  if (const std::string wrong = WrongOfKept(arguments, options); !wrong.empty()) return Misuse(wrong);
  for (const std::string& file : {arguments.junit, arguments.faults_document, arguments.state}) {
    if (file == "-")
      return Misuse("--junit, --faults-document and --state: - is no file; for standard output say /dev/stdout");
  }
  options.jobs = JobsOf(arguments.crew);
  options.failures = arguments.failures;
  if (std::find(arguments.recordings.begin(), arguments.recordings.end(), "-") != arguments.recordings.end()) {
    return Misuse("--recordings: - is no file; it is read again to explain a failure");
  }
  if (wants(suites::kRecorded)) {
    options.recordings = arguments.recordings;
    if (options.recordings.empty()) options.recordings = {ShortPath(VIGIL_RECORDINGS)};
  }
  if (wants(suites::kRegressions)) options.regressions = {ShortPath(VIGIL_REGRESSIONS)};
  options.plant = arguments.plant;
  std::optional<properties::PlantedBugScope> planted;
  if (const absl::Status status = Plant(options.plant, planted); !status.ok())
    return Misuse(std::string(MessageOf(status)));
  const absl::StatusOr<std::string> player = ReadPlayer(arguments.player, options.limits, options.player);
  if (!player.ok()) return Misuse(std::string(MessageOf(player.status())));
  return CheckRun(arguments, std::move(options), *player).Run();
}

// The options that were given and that it does not have, or null.
int CheckPlantedOnes(const Arguments& arguments, const char* not_of_it, const char* of_playing) {
  const std::string other = arguments.suites.empty() || arguments.suites.front() == properties::suites::kPlanted.name
                                ? ""
                                : arguments.suites.front();
  if (arguments.suites.size() > 1 ||
      (!other.empty() && other != properties::suites::kRandom.name && other != properties::suites::kCluster.name))
    return Misuse("--suite: with --planted random or cluster, which each bug is then played in");
  if (not_of_it != nullptr)
    return Misuse(fmt::format("{}: not with --planted, which plays each planted bug by itself", not_of_it));
  if (arguments.planted == std::vector<std::string>{"list"} && of_playing != nullptr)
    return Misuse(fmt::format("{}: not with --planted list, which plays nothing", of_playing));
  std::uint64_t first = 1;
  std::uint64_t last = 0;
  if (!arguments.seeds.empty() && (!ParseSeeds(arguments.seeds, first, last) || first != 1))
    return Misuse(fmt::format("--seeds: with --planted expected 1..N, got '{}'", arguments.seeds));
  return CheckPlanted({.ids = arguments.planted,
                       .jobs = arguments.crew.jobs,
                       .json = arguments.json,
                       .shrink = arguments.shrink,
                       .suite = other,
                       .most = last});
}

}  // namespace

int Check(const std::vector<std::string>& words) {
  Arguments arguments;
  CLI::App app("Property suites over recorded and random faults", "vigil check");
  AddOptions(app, arguments);
  if (const std::optional<int> end = ParseCommand(app, words)) return *end;
  arguments.failures_given = app.get_option("--failures")->count() > 0;
  arguments.of_drawn = FirstGiven(app, kOfDrawnSuites);
  if (arguments.list_rules) return Show(properties::RulesDocument());
  for (const properties::SuiteInfo& each : properties::kSuites) {
    if (each.plays_alone && IsWanted(arguments, each) && arguments.suites.size() > 1)
      return Misuse(fmt::format("--suite {}: it plays alone", each.name));
  }
  if (IsWanted(arguments, properties::suites::kPlanted) && arguments.planted.empty()) arguments.planted = {"all"};
  if (!arguments.planted.empty()) {
    return CheckPlantedOnes(arguments, FirstGiven(app, kNotOfPlanted), FirstGiven(app, kNotOfPlantedList));
  }
  if (arguments.shrink) return Misuse("--shrink: only with --planted; other findings are shrunk anyway");
  return CheckWith(arguments);
}

}  // namespace vigil::cli

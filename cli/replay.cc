#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/crew_options.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/plant.h"
#include "vigil/cli/player_options.h"
#include "vigil/cli/read_run.h"
#include "vigil/cli/results.h"
#include "vigil/cli/system.h"
#include "vigil/core/base/code.h"
#include "vigil/properties/campaign/recording_player.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/play/report.h"
#include "vigil/replays/show/perfetto.h"
#include "vigil/replays/show/timeline_page.h"

namespace vigil::cli {
namespace {

using replays::Reporter;

// As they were given.
std::string SeedsOf(const ReplayArguments& arguments) {
  if (arguments.seed.has_value()) return fmt::format("--seed {}", *arguments.seed);
  return arguments.seeds > 0 ? fmt::format("--seeds {}", arguments.seeds) : "";
}

// Everything about one call of `vigil replay`.
class ReplayRun {
 public:
  ReplayRun(const ReplayArguments& arguments, const replays::PlayLimits& limits)
      : arguments_(arguments),
        limits_(limits),
        results_("vigil replay", arguments.json),
        reporter_(
            {.trace = arguments.trace,
             .json = !arguments.json.empty(),
             .hashes = !arguments.hashes.empty(),
             .how = {.plant = arguments.plant,
                     .seeds = SeedsOf(arguments),
                     .player = arguments.player,
                     .real = arguments.real,
                     .play_limit = arguments.crew.play_limit}},
            [this](std::string_view text) { results_.Print(text); },
            [this](std::string_view text) { results_.Note(text); }) {}

  int Run() {
    std::vector<std::string> inputs;
    for (const std::string& path : arguments_.paths) {
      runs_.push_back({.name = SplitRunName(results_.files(), path)});
      inputs.push_back(runs_.back().name.path);
    }
    if (!arguments_.only.empty() &&
        std::ranges::any_of(runs_, [](const NamedRun& run) { return !run.name.id.empty(); }))
      return TellMisuse("vigil replay", "FILE#ID and --only exclude each other: both say what to play");
    if (!results_.CanWrite(
            {{"--hashes", arguments_.hashes}, {"--timeline", arguments_.timeline}, {"--perfetto", arguments_.perfetto}},
            inputs)) {
      return kMisuse;
    }
    const replays::PlaySummary summary = Play();
    results_.EndProgress();
    reporter_.Finish(summary.stopped, summary.given_up);
    if (results_.wants_json()) results_.WriteJson(reporter_.TakeJson());
    if (!arguments_.hashes.empty()) results_.Write(arguments_.hashes, reporter_.TakeHashes());
    if (LooksAtOne(arguments_) && !results_.interrupted()) SavePictures();
    for (const std::string& id : summary.unknown_ids) {
      results_.Fail(fmt::format("no scenario is called {}", replays::Quoted(id)));
    }
    const bool all = !results_.interrupted() && !summary.given_up;
    if (all) {
      CheckIds();
      CheckNodes();
      for (const std::string& missing : missing_) results_.Fail(missing);
      CheckSeeds();
    }
    const bool nothing = reporter_.passed() + reporter_.failed() == 0 && reporter_.not_played() > 0;
    if (nothing && all) results_.Fail("the player can play nothing of it");
    const int code = results_.End(reporter_.failed() == 0 && !summary.given_up);
    return code <= kFailed && reporter_.unreadable() > 0 ? kMisuse : code;
  }

 private:
  struct NamedRun {
    RunName name;
    bool played = false;  // of FILE#ID
  };

  replays::PlaySummary Play() {
    replays::PlayOptions options;
    options.jobs = JobsOf(arguments_.crew);
    if (LooksAtOne(arguments_)) options.jobs = 0;  // what is shown stays where it was made
    options.only = arguments_.only;
    options.limits = limits_;
    replays::PlayCallbacks callbacks;
    const replays::ChunkSource standard_input = [this] { return ReadStandardInput(results_.stopped()); };
    callbacks.read = [&](const replays::OnRecord& on_record) { Read(standard_input, on_record); };
    callbacks.new_player = [this](const std::atomic<bool>* interrupt) { return NewPlayer(arguments_, interrupt); };
    callbacks.on_result = [this](const replays::Result& result) {
      if (arguments_.why.has_value()) TellWhy(result);
      reporter_.Add(result);
      for (NamedRun& run : runs_) run.played = run.played || IsOf(result, run.name);
      by_seeds_ = by_seeds_ || result.by_seeds;
      clusters_ = clusters_ || result.outcome.job.has_value();
      nodes_.insert(result.outcome.nodes.begin(), result.outcome.nodes.end());
      if (result.outcome.timeline == nullptr) return;
      if (++pictures_ == 1) picture_ = result.outcome.timeline;
    };
    callbacks.on_tick = [this] {
      results_.Tick(fmt::format("{} played, {} failed", reporter_.passed() + reporter_.failed(), reporter_.failed()));
    };
    return replays::PlayAll(options, callbacks, results_.stopped());
  }

  // In the order of the paths. Those that name no id are read in one go: standard input is there only once.
  void Read(const replays::ChunkSource& standard_input, const replays::OnRecord& on_record) {
    bool enough = false;
    for (auto run = runs_.begin(); run != runs_.end() && !enough;) {
      const std::string& id = run->name.id;
      std::vector<std::string> paths = {(run++)->name.path};
      for (; id.empty() && run != runs_.end() && run->name.id.empty(); ++run) paths.push_back(run->name.path);
      replays::ReadRecords(results_.files(), standard_input, paths, [&](replays::RawRecord record) {
        record.only = id;
        enough = !on_record(std::move(record));
        return !enough;
      });
    }
  }

  static bool IsOf(const replays::Result& result, const RunName& name) {
    return !name.id.empty() && result.id == name.id &&
           (result.source == name.path || (IsFile(result.source) && IsBelow(result.source, name.path)));
  }

  void TellWhy(const replays::Result& result) {
    const std::string& why = result.outcome.extra;
    if (why.starts_with(properties::kNoSuchEvent)) return missing_.push_back(why);
    if (!why.empty())
      results_.Print(fmt::format("why event {} of {}:\n{}", *arguments_.why, replays::Escaped(result.id), why));
  }

  // Each FILE#ID must have been there.
  void CheckIds() {
    for (const auto& [name, played] : runs_) {
      if (name.id.empty() || played) continue;
      results_.Fail(
          fmt::format("{} holds no scenario called {}", replays::Quoted(name.path), replays::Quoted(name.id)));
    }
  }

  // What was asked for must have been about something.
  void CheckSeeds() {
    if (reporter_.passed() + reporter_.failed() == 0) return;
    const bool seeds = arguments_.seeds > 0;
    if ((seeds || arguments_.seed.has_value()) && !by_seeds_)
      results_.Fail(fmt::format("{}: nothing was played that real clusters did", seeds ? "--seeds" : "--seed"));
    if (arguments_.until_s.has_value() && !clusters_) results_.Fail("--until: no cluster was played");
  }

  // Each that is to be shown must be a node of some cluster that was played.
  void CheckNodes() {
    for (const std::string& name : arguments_.only_nodes) {
      if (nodes_.contains(name)) continue;
      const std::string others =
          nodes_.empty() ? std::string("no cluster was played") : fmt::format("there are {}", fmt::join(nodes_, ", "));
      results_.Fail(fmt::format("--only-node: no node is called {}; {}", replays::Quoted(name), others));
    }
  }

  // Of the one scenario that was played.
  void SavePictures() {
    if (pictures_ == 0) return results_.Fail("there is nothing to look at: no scenario was played");
    if (pictures_ > 1) {
      return results_.Fail(fmt::format(
          "--timeline and --perfetto show one scenario, and these are {}: name it with --only ID", pictures_));
    }
    if (!arguments_.timeline.empty()) results_.Write(arguments_.timeline, replays::TimelinePage(*picture_));
    if (!arguments_.perfetto.empty()) results_.Write(arguments_.perfetto, replays::PerfettoJson(*picture_));
  }

  const ReplayArguments& arguments_;
  const replays::PlayLimits limits_;
  Results results_;
  Reporter reporter_;
  std::shared_ptr<const replays::Timeline> picture_;
  int pictures_ = 0;                  // that were made: there must be one
  std::set<std::string> nodes_;       // of all clusters that were told
  std::vector<NamedRun> runs_;        // that the paths name
  std::vector<std::string> missing_;  // events that --why names and that there are not
  bool by_seeds_ = false;             // some of what real clusters did was played
  bool clusters_ = false;             // some cluster was
};

// What asks for the events, or for another player, of a play by processes: they tell what became of the job.
std::string_view AskedInVain(const ReplayArguments& arguments) {
  if (!arguments.player.empty()) return "--player";
  if (arguments.trace) return "--trace";
  if (arguments.why.has_value()) return "--why";
  if (!arguments.timeline.empty()) return "--timeline";
  if (!arguments.perfetto.empty()) return "--perfetto";
  if (!arguments.hashes.empty()) return "--hashes";
  return arguments.seed.has_value() ? "--seed" : "";
}

}  // namespace

int Replay(const ReplayArguments& arguments) {
  std::optional<properties::PlantedBugScope> planted;
  if (const absl::Status status = Plant(arguments.plant, planted); !status.ok())
    return TellMisuse("vigil replay", MessageOf(status));
  ReplayArguments with_player = arguments;
  replays::PlayLimits limits;
  if (const absl::Status status = ReadPlayLimit(arguments.crew, limits); !status.ok())
    return TellMisuse("vigil replay", MessageOf(status));
  const absl::StatusOr<std::string> player =
      ReadPlayer({.command = arguments.player, .limit = arguments.player_limit}, limits, with_player.player_options);
  if (!player.ok()) return TellMisuse("vigil replay", MessageOf(player.status()));
  if (arguments.real) {
    if (const std::string_view vain = AskedInVain(arguments); !vain.empty())
      return TellMisuse("vigil replay", fmt::format("--real and {} exclude each other", vain));
    with_player.player_options.keep = arguments.keep;
    with_player.player_options.plant = arguments.plant;
    if (const absl::Status status = PlayByProcesses(limits, with_player.player_options); !status.ok())
      return TellMisuse("vigil replay", MessageOf(status));
  }
  return ReplayRun(with_player, limits).Run();
}

}  // namespace vigil::cli

#include <memory>
#include <set>
#include <string>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/plant.h"
#include "vigil/cli/results.h"
#include "vigil/cli/system.h"
#include "vigil/core/base/code.h"
#include "vigil/replays/escape.h"
#include "vigil/replays/perfetto.h"
#include "vigil/replays/report.h"
#include "vigil/replays/timeline_page.h"

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
  explicit ReplayRun(const ReplayArguments& arguments)
      : arguments_(arguments),
        results_("vigil replay", arguments.json),
        reporter_(
            {.trace = arguments.trace,
             .json = !arguments.json.empty(),
             .hashes = !arguments.hashes.empty(),
             .how = {.plant = arguments.plant, .seeds = SeedsOf(arguments)}},
            [this](std::string_view text) { results_.Print(text); },
            [this](std::string_view text) { results_.Note(text); }) {}

  int Run() {
    if (!results_.CanWrite(
            {{"--hashes", arguments_.hashes}, {"--timeline", arguments_.timeline}, {"--perfetto", arguments_.perfetto}},
            arguments_.paths)) {
      return kMisuse;
    }
    const replays::PlaySummary summary = Play();
    results_.EndProgress();
    reporter_.Finish(summary.stopped);
    if (results_.wants_json()) results_.WriteJson(reporter_.TakeJson());
    if (!arguments_.hashes.empty()) results_.Write(arguments_.hashes, reporter_.TakeHashes());
    if (LooksAtOne(arguments_) && !results_.interrupted()) SavePictures();
    for (const std::string& id : summary.unknown_ids) {
      results_.Fail(fmt::format("no scenario is called {}", replays::Quoted(id)));
    }
    if (!results_.interrupted()) CheckNodes();
    const int code = results_.End(reporter_.failed() == 0);
    return code <= kFailed && reporter_.unreadable() > 0 ? kMisuse : code;
  }

 private:
  replays::PlaySummary Play() {
    replays::PlayOptions options;
    options.jobs = arguments_.jobs > 0 ? arguments_.jobs : Cores();
    options.only = arguments_.only;
    replays::PlayCallbacks callbacks;
    const replays::ChunkSource standard_input = [this] { return ReadStandardInput(results_.stopped()); };
    callbacks.read = [&](const replays::OnRecord& on_record) {
      replays::ReadRecords(results_.files(), standard_input, arguments_.paths, on_record);
    };
    callbacks.new_player = [this] { return NewPlayer(arguments_, results_.stopped()); };
    callbacks.on_result = [this](const replays::Result& result) {
      reporter_.Add(result);
      nodes_.insert(result.outcome.nodes.begin(), result.outcome.nodes.end());
      if (result.outcome.timeline == nullptr) return;
      if (++pictures_ == 1) picture_ = result.outcome.timeline;
    };
    callbacks.on_tick = [this] {
      results_.Tick(fmt::format("{} played, {} failed", reporter_.passed() + reporter_.failed(), reporter_.failed()));
    };
    return replays::PlayAll(options, callbacks, results_.stopped());
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
  Results results_;
  Reporter reporter_;
  std::shared_ptr<const replays::Timeline> picture_;
  int pictures_ = 0;             // that were made: there must be one
  std::set<std::string> nodes_;  // of all clusters that were told
};

}  // namespace

int Replay(const ReplayArguments& arguments) {
  std::optional<properties::PlantedBugScope> planted;
  if (const absl::Status status = Plant(arguments.plant, planted); !status.ok())
    return TellMisuse("vigil replay", MessageOf(status));
  return ReplayRun(arguments).Run();
}

}  // namespace vigil::cli

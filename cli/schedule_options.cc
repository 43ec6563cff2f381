// The options of `vigil explore FILE`.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "fmt/format.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/plant.h"
#include "vigil/cli/schedules.h"
#include "vigil/cli/words.h"
#include "vigil/core/base/code.h"

namespace vigil::cli {
namespace {

constexpr const char* kOfSearches[] = {"--limit", "--all-points"};
constexpr const char* kOfDepthFirst[] = {"--choices", "--changes"};
constexpr const char* kOfPriorities[] = {"--seeds", "--depth"};

constexpr char kDefaultScheduleSeeds[] = "1..1000";
constexpr std::uint64_t kMostSchedules = 1'000'000'000'000;
constexpr int kMostDepth = 1000;

int SchedulesMisuse(const std::string& what) { return TellMisuse("vigil explore", what); }

}  // namespace

void AddScheduleOptions(CLI::App& app, SchedulesArguments& a) {
  properties::SchedulesOptions& options = a.options;
  constexpr char kGroup[] = "Of FILE, the schedules of one scenario";
  const auto add = [&](const char* name, auto& value, const std::string& what, const char* type) {
    return app.add_option(name, value, what)->type_name(type)->group(kGroup);
  };
  add("--only", a.only, "The id of the scenario, where FILE holds several; also FILE#ID", "ID");
  add("--schedules", a.search,
      "dfs: all, depth first; dpor: the same, but of those that only differ in the order of steps that commute one; "
      "pct: by random priorities (default: dfs)",
      "dfs|dpor|pct")
      ->check(CLI::IsMember({"dfs", "dpor", "pct"}).description(""));
  add("--limit", options.limit,
      fmt::format("Of dfs and dpor: how many schedules at most; 0 = all there are (default: {})", options.limit), "N")
      ->check(CheckNumber(0, kMostSchedules));
  add("--changes", options.changes,
      "Of dfs: how many choices of a schedule may be other than the calm one (default: 0 = any number)", "N")
      ->check(CheckNumber(0, kMostSchedules));
  add("--choices", options.choices,
      "Of dfs: how many choices of a schedule vary, from its beginning (default: 0 = all)", "N")
      ->check(CheckNumber(0, kMostSchedules));
  app.add_flag("--all-points", options.all_points,
               "Of dfs and dpor: what else is chosen varies too: latencies, losses of messages. Of pct that is random")
      ->group(kGroup);
  app.add_flag("--guarded", options.guarded_memory,
               "Of dpor: as if tasks of one process shared only what locks guard, and atomics: far fewer schedules, "
               "some may be missed")
      ->group(kGroup);
  add("--seeds", a.seeds, fmt::format("Of pct: a schedule each, both included (default: {})", kDefaultScheduleSeeds),
      "A..B");
  add("--depth", options.depth,
      fmt::format("Of pct: how many steps in one order a bug may need (default: {})", options.depth), "D")
      ->check(CheckNumber(1, kMostDepth));
  app.add_flag("--preempt", a.preempt,
               "Tasks also give way after an unlock, a notification and a spawn, not only where they wait")
      ->group(kGroup);
  app.add_flag("--spins", a.spins,
               "As --preempt, and after each spin lock and each touch of what is shared without a lock")
      ->group(kGroup);
  app.add_flag("--as-expected", options.as_expected, "What the file expects must happen in every schedule")
      ->group(kGroup);
  add("--plant", options.plant, "Leave this planted bug on: to see whether some schedule shows it (preset dev)", "ID");
}

int ExploreFile(SchedulesArguments arguments, const CLI::App& app) {
  properties::SchedulesOptions& options = arguments.options;
  const bool dfs = arguments.search == "dfs";
  const bool pct = arguments.search == "pct";
  const char* other = pct ? FirstGiven(app, kOfSearches) : FirstGiven(app, kOfPriorities);
  if (other == nullptr && pct) other = FirstGiven(app, kOfDepthFirst);
  if (other != nullptr) return SchedulesMisuse(fmt::format("{}: it is not of --schedules {}", other, arguments.search));
  if (options.guarded_memory && (dfs || pct))
    return SchedulesMisuse(fmt::format("--guarded: it is not of --schedules {}", arguments.search));
  if (const char* const bound = dfs ? nullptr : FirstGiven(app, kOfDepthFirst))
    return SchedulesMisuse(
        fmt::format("{}: --schedules dpor leaves out a schedule because another one is as good, which such a bound may "
                    "leave out in its turn; take --limit, or --schedules dfs",
                    bound));
  if (arguments.preempt) options.preempt = sim::Preempt::kAtCalls;
  if (arguments.spins) options.preempt = sim::Preempt::kAtSpins;
  options.search = pct   ? properties::ScheduleSearch::kPriorities
                   : dfs ? properties::ScheduleSearch::kDepthFirst
                         : properties::ScheduleSearch::kReduced;
  const std::string seeds = arguments.seeds.empty() ? kDefaultScheduleSeeds : arguments.seeds;
  if (!ParseSeeds(seeds, options.first_seed, options.last_seed) ||
      options.last_seed - options.first_seed >= kMostSchedules) {
    return SchedulesMisuse(fmt::format("--seeds: expected A..B with A <= B, got '{}'", seeds));
  }
  std::optional<properties::PlantedBugScope> planted;
  if (const absl::Status status = Plant(options.plant, planted); !status.ok())
    return SchedulesMisuse(std::string(MessageOf(status)));
  return ExploreSchedules(arguments);
}

}  // namespace vigil::cli

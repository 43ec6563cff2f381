// `vigil diff A B`: two runs beside each other, up to where they part.
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/console.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/read_run.h"
#include "vigil/cli/results.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/properties/campaign/run_diff.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/show/timeline.h"

namespace vigil::cli {
namespace {

constexpr char kDiffNotes[] =
    "A and B are FILE or FILE#ID: a scenario, as vigil replay reads it, or one of several by its id. Both are played; "
    "what both\n"
    "begin with is the same to the nanosecond. Shown are the last five lines of that, and five from the first "
    "difference on.\n"
    "\n"
    "Examples:\n"
    "  vigil diff before.json after.json\n"
    "  vigil diff replays/cluster/cluster.jsonl#cluster_ps_restart_2 replays/cluster/cluster.jsonl#cluster_ps_gone\n"
    "  vigil diff a.trace b.trace --json\n"
    "\n"
    "Exit codes: 0 the same run, 1 they differ, 2 misuse or input that cannot be read.\n";

// What a real cluster did is played for seed 1, as vigil replay --trace does.
replays::Outcome PlayForDiff(replays::Recording recording) {
  const bool cluster = recording.expect.has_value() && recording.expect->job != nullptr;
  if (cluster) recording.scenario.seed = 1;
  replays::Outcome outcome =
      replays::Runner().Run(recording.scenario, {.random_schedule = cluster, .quiet = false, .log_messages = true});
  outcome.timeline = replays::ShowTimeline(recording.scenario, outcome);
  return outcome;
}

int ShowDiff(const std::string& first, const std::string& second, bool json, Console& console) {
  PosixFiles files;
  std::vector<replays::Outcome> outcomes;
  for (const std::string* const name : {&first, &second}) {
    absl::StatusOr<replays::Recording> run = ReadRun(files, SplitRunName(files, *name));
    if (!run.ok()) {
      console.Err(fmt::format("error: {}\n", replays::Escaped(MessageOf(run.status()))));
      return kMisuse;
    }
    outcomes.push_back(PlayForDiff(*std::move(run)));
    if (outcomes.back().verdict == replays::Verdict::kNotSetUp) {
      console.Err(fmt::format("error: {}: {}\n", replays::Escaped(*name), replays::Escaped(outcomes.back().reason)));
      return kMisuse;
    }
  }
  const properties::RunDiff diff = properties::CompareRuns(outcomes[0], outcomes[1]);
  console.Out(json ? properties::RunDiffJson(diff, first, second) : properties::RunDiffText(diff, first, second));
  return diff.same ? kPassed : kFailed;
}

}  // namespace

int Diff(const std::vector<std::string>& arguments) {
  std::string first;
  std::string second;
  bool json = false;
  CLI::App app{"Plays two runs and shows where they part", "vigil diff"};
  app.add_option("A", first, "The first run")->required()->type_name("");
  app.add_option("B", second, "The second run")->required()->type_name("");
  app.add_flag("--json", json, "The same as JSON");
  app.footer(kDiffNotes);
  if (const std::optional<int> end = ParseCommand(app, arguments)) return *end;
  Console console;
  const int code = ShowDiff(first, second, json, console);
  return Finished(console, code);
}

}  // namespace vigil::cli

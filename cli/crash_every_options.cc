// The options of `vigil explore --cluster SPEC`.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "fmt/format.h"
#include "vigil/cli/crash_every.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/words.h"

namespace vigil::cli {
namespace {

constexpr std::uint64_t kMostPlays = 1'000'000'000;
constexpr int kMostChain = 100;

}  // namespace

void AddCrashEveryOptions(CLI::App& app, CrashEveryArguments& a) {
  constexpr char kGroup[] = "Of a small job, faults at every point";
  std::string names;
  for (const properties::SmallJobInfo& job : properties::SmallJobs())
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", job.name, job.what);
  app.add_option("--cluster", a.cluster, fmt::format("The job: {}; or FILE, or FILE#ID, with a job", names))
      ->type_name("SPEC")
      ->group(kGroup);
  app.add_flag("--crash-every", a.every,
               "A crash, a power cut, a cut of the link, a lost reply at every message and operation on a file")
      ->group(kGroup);
  app.add_flag("--pairs", a.options.pairs, "All pairs of them: the second in the course that the first has changed")
      ->group(kGroup);
  app.add_option("--guided", a.guided,
                 "So many plays with chains of these faults; those that bring about something new are lengthened")
      ->type_name("N")
      ->check(CheckNumber(1, kMostPlays))
      ->group(kGroup);
  app.add_option("--seed", a.chains.seed, fmt::format("Of --guided (default: {})", a.chains.seed))
      ->type_name("N")
      ->check(CheckSeed)
      ->group(kGroup);
  app.add_option("--chain", a.chains.faults,
                 fmt::format("Of --guided: how many faults a chain has at most (default: {})", a.chains.faults))
      ->type_name("N")
      ->check(CheckNumber(1, kMostChain))
      ->group(kGroup);
  app.add_flag("--blind", a.chains.blind, "Of --guided: without guidance, to see what it is worth")->group(kGroup);
}

bool AsksForCrashEvery(const CLI::App& app) {
  static constexpr const char* kOptions[] = {"--cluster", "--crash-every", "--pairs", "--guided",
                                             "--seed",    "--chain",       "--blind"};
  return FirstGiven(app, kOptions) != nullptr;
}

}  // namespace vigil::cli

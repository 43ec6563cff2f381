#include "vigil/replays/play/job_player.h"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/replays/format/print.h"
#include "vigil/replays/judge/frequencies.h"
#include "vigil/replays/judge/job_comparison.h"
#include "vigil/replays/judge/job_summary.h"
#include "vigil/replays/play/play_chooser.h"
#include "vigil/replays/stage/behaviour.h"
#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/cluster/job.h"
#include "vigil/sim/world.h"

namespace vigil::replays {
namespace {

// A cluster makes more events than a session: the default limit is for those.
std::uint64_t MostEvents(const Limits& limits) {
  return limits.events == Limits{}.events ? 20'000'000 : static_cast<std::uint64_t>(limits.events);
}

// The losses of so many jobs are compared: one in each so many seeds is played a second time, without its faults.
constexpr std::uint64_t kLossesEvery = 4;

// A job whose faults stopped, and which came to its end all the same, as it would have gone without them. None if there
// is nothing to compare, or if it was interrupted.
std::optional<sim::JobFacts> PlayWithoutFaults(const Scenario& scenario, const sim::JobOptions& options,
                                               const sim::JobFacts& facts, const std::atomic<bool>* interrupt,
                                               sim::StackPool& stacks) {
  if (scenario.seed % kLossesEvery != 0 || !scenario.job->heal_after.has_value() ||
      !sim::ComparableLoss(*scenario.job, facts)) {
    return std::nullopt;
  }
  sim::JobSpec quiet = *scenario.job;
  quiet.plan = {};
  quiet.heal_after.reset();
  sim::RandomChooser random(scenario.seed);
  sim::World world({.chooser = &random,
                    .seed = scenario.seed,
                    .stacks = &stacks,
                    .max_events = MostEvents(scenario.limits),
                    .max_virtual = sim::LongestWorld(quiet),
                    .interrupt = interrupt});
  sim::Job job(world, quiet, options);
  if (world.Run().verdict == sim::WorldVerdict::kInterrupted) return std::nullopt;
  return job.Facts();
}

}  // namespace

Outcome PlayJob(const Scenario& scenario, const RunnerOptions& options, sim::StackPool& stacks) {
  Outcome outcome;
  PlayChooser choosing(scenario, options);
  const Duration most =
      scenario.limits.virtual_s > 0 ? Seconds(scenario.limits.virtual_s) : sim::LongestWorld(*scenario.job);
  sim::MessageLog messages;  // outlives the world, as the next
  sim::CourseLog course;
  sim::World world({.chooser = choosing.chooser(),
                    .seed = scenario.seed,
                    .stacks = &stacks,
                    .max_events = MostEvents(scenario.limits),
                    .max_virtual = most,
                    .preempt = choosing.preempt(),
                    .stalls = choosing.stalls(),
                    .interrupt = options.interrupt,
                    .steps = options.steps});
  const sim::JobOptions job_options{.behaviour = BehaviourOf(scenario.behaviour), .seed = scenario.seed};
  sim::Job job(world, *scenario.job, job_options);
  if (options.log_messages) world.network().LogTo(&messages);
  if (options.log_course) world.course().LogTo(&course);
  const sim::WorldResult result = world.Run();
  outcome.verdict = VerdictOf(result.verdict);
  outcome.reason = result.report;
  outcome.job = job.Facts();
  if (options.quiet && outcome.verdict != Verdict::kInterrupted) {
    outcome.quiet = PlayWithoutFaults(scenario, job_options, *outcome.job, options.interrupt, stacks);
    if (options.interrupt != nullptr && *options.interrupt && !outcome.quiet.has_value())
      outcome.verdict = Verdict::kInterrupted;
  }
  outcome.hash = world.hash();
  outcome.choices = world.ChoicesMade();
  outcome.start = world.options().start;
  outcome.trace = world.TakeTrace();
  outcome.history = job.history();
  outcome.faults = job.fault_history();
  outcome.disk_faults = job.disk_fault_history();
  outcome.message_log = std::move(messages);
  outcome.course = std::move(course);
  outcome.unused_choices = choosing.Unused();
  return outcome;
}

Outcome PlayJobLikeRecorded(Runner& runner, const Scenario& scenario, const JobExpectation& recorded,
                            const JobPlays& plays) {
  constexpr int kPlaysThatShowAllWays = 20;  // of fewer nobody expects it
  Outcome outcome;
  std::vector<std::string> misses;
  JobCoverage coverage;
  JobSummary summary;
  std::vector<JobPlay> each;
  Scenario seeded = scenario;
  const bool by_seeds = scenario.choices.empty();
  const bool once = plays.once || !by_seeds;
  for (int i = 0; i < (once ? 1 : plays.seeds); ++i) {
    if (by_seeds) seeded.seed = plays.first + static_cast<std::uint64_t>(i);
    const std::string play = by_seeds ? fmt::format("seed {}: ", seeded.seed) : "";
    outcome = runner.Run(seeded, {.random_schedule = by_seeds,
                                  .interrupt = plays.interrupt,
                                  .stalls = false,
                                  .quiet = false,
                                  .log_messages = plays.log_messages});
    if (outcome.verdict != Verdict::kPlayed) {
      outcome.reason = play + outcome.reason;
      break;
    }
    if (recorded.plays.empty()) {
      for (const std::string& miss : Misses(*scenario.job, *outcome.job, recorded)) misses.push_back(play + miss);
    }
    coverage.Add(*outcome.job, recorded);
    each.push_back(PlayOf(*outcome.job));
    summary.Add(each.back());
  }
  if (outcome.verdict == Verdict::kPlayed && !once && recorded.plays.empty() && plays.seeds >= kPlaysThatShowAllWays) {
    for (std::string& way : coverage.Missing(recorded)) misses.push_back(std::move(way));
  }
  if (outcome.verdict == Verdict::kPlayed && !recorded.plays.empty()) {
    const std::vector<Frequency> frequencies = Frequencies(recorded.plays, each);
    for (std::string& way : TooDifferent(frequencies)) misses.push_back(std::move(way));
    outcome.frequencies = PrintFrequencies(frequencies);
  }
  outcome.misses = std::move(misses);
  if (summary.expectation().repeats > 0) outcome.plays = PrintJobExpectation(summary.expectation());
  return outcome;
}

}  // namespace vigil::replays

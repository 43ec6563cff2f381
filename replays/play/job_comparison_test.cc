// The comparison of clusters with recorded ones: each field that is forged is found, and the tolerances are what was
// recorded.
#include "vigil/replays/judge/job_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/env/real/posix_files.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/judge/comparison_cases.h"
#include "vigil/replays/judge/tolerances.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/traces/input.h"

namespace vigil::replays {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(JobExpectation, EachForgedFieldIsFoundAndNoOther) {
  std::set<std::string_view> forged_fields;
  for (const ComparisonCase& c : ComparisonCases()) {
    const std::string field(c.field.substr(0, c.field.find(' ')));
    const std::string head = field == "newest_checkpoint" ? field : std::string(kComparedTask) + " " + field;
    EXPECT_THAT(Misses({}, c.like, c.recorded), IsEmpty()) << c.field;
    EXPECT_THAT(Misses({}, c.forged, c.recorded), ElementsAre(StartsWith(head + ": "))) << c.field;
    forged_fields.insert(c.field);
  }
  for (const Tolerance& tolerance : Tolerances())
    EXPECT_TRUE(forged_fields.contains(tolerance.field)) << tolerance.field << " is compared, and nothing forges it";
}

TEST(JobExpectation, ATaskThatIsNotThereIsFound) {
  const ComparisonCase c = ComparisonCases().front();
  sim::JobFacts seen = c.like;
  seen.tasks.clear();
  EXPECT_THAT(Misses({}, seen, c.recorded), ElementsAre("worker:0: recorded, but the cluster has no such task"));
}

// Recorded: 10 to 12 s, and up to 18 are tolerated.
TEST(JobExpectation, AMachineThatStoodStillExcusesJustThat) {
  const ComparisonCase c = ComparisonCases().front();
  sim::JobFacts seen = c.like;
  sim::TaskFacts& task = seen.tasks[std::string(kComparedTask)];
  const auto misses = [&](int run, int still) {
    task.longest_run = std::chrono::seconds(run);
    task.machine_still = std::chrono::seconds(still);
    return Misses({}, seen, c.recorded);
  };
  EXPECT_THAT(misses(30, 12), IsEmpty());
  EXPECT_THAT(misses(30, 11), ElementsAre("worker:0 longest_run_s: recorded 10 to 12, seen 19"));
  EXPECT_THAT(misses(19, 0), ElementsAre("worker:0 longest_run_s: recorded 10 to 12, seen 19"));
  EXPECT_THAT(misses(11, 11), IsEmpty()) << "was it as long as it was recorded, it is not made shorter";
  EXPECT_THAT(misses(4, 0), ElementsAre("worker:0 longest_run_s: recorded 10 to 12, seen 4"));
}

TEST(JobExpectation, WhatSeveralPlaysMustShow) {
  const ComparisonCase c = ComparisonCases().front();
  JobExpectation recorded = c.recorded;
  TaskExpectation& task = recorded.tasks.begin()->second;
  task.step_back_recovered_times = {0, 1};
  task.outcome = {"clean", "ABORTED"};
  JobCoverage coverage;
  coverage.Add(c.like, recorded);
  EXPECT_THAT(coverage.Missing(recorded),
              ElementsAre("worker:0 outcome: recorded ABORTED, never seen",
                          "worker:0 step_back_recovered: recorded with and without, seen always with"));
}

// All recordings of clusters that are compared by ranges: those whose plays were kept are not (frequencies.h).
std::vector<Recording> RecordedClusterList() {
  PosixFiles files;
  std::vector<Recording> all;
  const ChunkSource no_input = [] { return std::string(); };
  ReadRecords(files, no_input, {std::string(VIGIL_SOURCE_DIR) + "/replays/cluster"}, [&](RawRecord raw) {
    absl::StatusOr<Recording> recording = ParseRecording(raw.text, raw.source, raw.record);
    EXPECT_TRUE(recording.ok()) << recording.status();
    if (recording.ok() && recording->expect->job->plays.empty()) all.push_back(*std::move(recording));
    return true;
  });
  return all;
}

double RatioOf(const Span<std::int64_t>& span) {
  return static_cast<double>(span.most) / static_cast<double>(span.least);
}

// All that was recorded of one thing, or of one thing of several jobs.
struct Recorded {
  std::optional<Span<std::int64_t>> span;
  void Add(const std::optional<Span<std::int64_t>>& more) {
    if (!more.has_value() || more->least <= 0) return;
    span = span.has_value() ? Span<std::int64_t>{std::min(span->least, more->least), std::max(span->most, more->most)}
                            : *more;
  }
};

// Jobs that are the same until their fault strikes have the same key. What differs is what the fault is, and the
// timeouts.
std::string UntilItsFault(const sim::JobSpec& job) {
  sim::JobSpec until = job;
  until.workload.timeout_ms = 0;
  Duration first = std::chrono::hours(1);
  for (const sim::TimedFault& fault : job.plan.timed) first = std::min(first, fault.at);
  return fmt::format("{} {} {} {} {}", fmt::join(TaskNames(job), ","), sim::WorkloadName(job.workload.kind),
                     job.workload.filters, job.no_wait, ToSeconds(first));
}

TEST(JobExpectation, FactorsAreTheWidestRatiosThatWereRecorded) {
  std::map<std::string_view, double> widest;
  std::map<std::string, Recorded> cut_off_steps;
  std::map<std::string, Recorded> cut_off_checkpoints;
  double most_back = 0;
  double most_apart = 0;
  const auto widen = [&widest](std::string_view field, double ratio) {
    widest[field] = std::max(widest[field], ratio);
  };
  for (const Recording& recording : RecordedClusterList()) {
    const sim::JobSpec& spec = *recording.scenario.job;
    const JobExpectation& job = *recording.expect->job;
    bool all_clean = true;
    for (const auto& [name, task] : job.tasks) {
      const bool clean = task.outcome == std::vector<std::string>{"clean"};
      all_clean = all_clean && clean;
      if (task.step_back_silent.has_value()) widen("step_back_silent", RatioOf(*task.step_back_silent));
      if (clean) widen("last_step", RatioOf(*task.last_step));
      if (!clean) cut_off_steps[UntilItsFault(spec)].Add(task.last_step);
      if (task.step_back_recovered.has_value())
        most_back = std::max(most_back, static_cast<double>(task.step_back_recovered->most) /
                                            static_cast<double>(spec.workload.save_steps));
    }
    if (!job.newest_checkpoint.has_value()) continue;
    if (all_clean) {
      most_apart =
          std::max(most_apart, static_cast<double>(job.newest_checkpoint->most - job.newest_checkpoint->least));
    } else if (job.tasks.at("chief:0").outcome != std::vector<std::string>{"clean"}) {
      cut_off_checkpoints[UntilItsFault(spec)].Add(job.newest_checkpoint);
    }
  }
  for (const auto& [key, recorded] : cut_off_steps) {
    if (recorded.span.has_value()) widen("last_step of a task that is cut off", std::sqrt(RatioOf(*recorded.span)));
  }
  for (const auto& [key, recorded] : cut_off_checkpoints) {
    if (recorded.span.has_value())
      widen("newest_checkpoint of a job that is cut off", std::sqrt(RatioOf(*recorded.span)));
  }
  EXPECT_EQ(widest.size(), 4U);
  for (const auto& [field, ratio] : widest) {
    EXPECT_DOUBLE_EQ(ToleranceOf(field).most_factor, ratio) << field;
    EXPECT_DOUBLE_EQ(ToleranceOf(field).least_factor, ratio) << field;
  }
  EXPECT_LE(most_back, ToleranceOf("step_back_recovered").saves);
  EXPECT_LE(most_apart, ToleranceOf("newest_checkpoint").slack);
}

// What was recorded, but with each amount a million, last steps of 1 to 2, and checkpoints of twice the step (of a job
// that is cut off, of ten times the step).
TEST(JobExpectation, AForgedRecordingHoldsForNoPlay) {
  Runner runner;
  int played = 0;
  for (Recording& recording : RecordedClusterList()) {
    recording.scenario.seed = 1;
    const Outcome outcome = runner.Run(recording.scenario, {.random_schedule = true, .quiet = false});
    const JobExpectation& recorded = *recording.expect->job;
    EXPECT_THAT(Misses(*recording.scenario.job, *outcome.job, recorded), IsEmpty()) << recording.scenario.id;
    JobExpectation forged = recorded;
    for (auto& [name, task] : forged.tasks) {
      if (task.step_back_silent.has_value()) task.step_back_silent = {1'000'000, 1'000'000};
      if (task.step_back_recovered.has_value()) task.step_back_recovered = {1'000'000, 1'000'000};
    }
    const bool went_back = std::ranges::any_of(outcome.job->tasks, [](const auto& task) {
      return !task.second.step_back_silent.empty() || !task.second.step_back_recovered.empty();
    });
    EXPECT_EQ(Misses(*recording.scenario.job, *outcome.job, forged).empty(), !went_back) << recording.scenario.id;
    forged = recorded;
    if (forged.newest_checkpoint.has_value()) {
      const bool cut_off = std::ranges::any_of(
          recorded.tasks, [](const auto& task) { return task.second.outcome != std::vector<std::string>{"clean"}; });
      const std::int64_t times = cut_off ? 10 : 2;
      forged.newest_checkpoint = {times * recorded.newest_checkpoint->least, times * recorded.newest_checkpoint->most};
      EXPECT_FALSE(Misses(*recording.scenario.job, *outcome.job, forged).empty()) << recording.scenario.id;
    }
    forged = recorded;
    for (auto& [name, task] : forged.tasks) task.last_step = {1, 2};
    EXPECT_FALSE(Misses(*recording.scenario.job, *outcome.job, forged).empty()) << recording.scenario.id;
    ++played;
  }
  EXPECT_EQ(played, 56);
}

}  // namespace
}  // namespace vigil::replays

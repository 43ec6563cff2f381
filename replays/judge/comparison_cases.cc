#include "vigil/replays/judge/comparison_cases.h"

#include <string>
#include <utility>

namespace vigil::replays {
namespace {

// What a worker of a job met that lost its server once, and its chief once, and a play that is like that.
JobExpectation RecordedOnce() {
  JobExpectation recorded;
  TaskExpectation& task = recorded.tasks[std::string(kComparedTask)];
  task.outcome = {"clean"};
  task.sessions = {2, 2};
  task.run_failed = {Code::kUnavailable};
  task.run_failed_times = {1, 1};
  task.create_failed = {Code::kAborted};
  task.create_failed_times = {1, 1};
  task.step_back_silent_times = {1, 1};
  task.step_back_silent = {100, 120};
  task.step_back_recovered_times = {1, 1};
  task.step_back_recovered = {3, 18};
  task.longest_run_s = {10, 12};
  task.opened_after_s = {5, 8};
  task.last_step = {560, 600};
  task.hook_end = {1, 1};
  recorded.newest_checkpoint = {600, 601};
  return recorded;
}
sim::JobFacts SeenLikeThat() {
  sim::JobFacts seen;
  seen.newest_checkpoint = 600;
  seen.tasks[std::string(kComparedTask)] = {.outcome = "clean",
                                            .sessions = 2,
                                            .run_failed = {Code::kUnavailable},
                                            .create_failed = {Code::kAborted},
                                            .step_back_silent = {110},
                                            .step_back_recovered = {7},
                                            .longest_run = std::chrono::seconds(11),
                                            .opened_after = std::chrono::seconds(6),
                                            .last_step = 580,
                                            .hook_end = 1};
  return seen;
}

struct ForgedField {
  std::string_view field;  // whose miss is looked for
  void (*forge)(sim::TaskFacts& task, sim::JobFacts& job);
};

std::vector<ForgedField> ForgedFields() {
  using T = sim::TaskFacts;
  using J = sim::JobFacts;
  return {{"outcome", [](T& t, J&) { t.outcome = "ABORTED"; }},
          {"sessions", [](T& t, J&) { t.sessions = 3; }},
          {"run_failed", [](T& t, J&) { t.run_failed = {Code::kCancelled}; }},
          {"run_failed_times", [](T& t, J&) { t.run_failed.clear(); }},
          {"create_failed", [](T& t, J&) { t.create_failed = {Code::kCancelled}; }},
          {"create_failed_times", [](T& t, J&) { t.create_failed.push_back(Code::kAborted); }},
          {"step_back_silent_times", [](T& t, J&) { t.step_back_silent.clear(); }},
          {"step_back_silent", [](T& t, J&) { t.step_back_silent = {1'000'000}; }},
          {"step_back_silent", [](T& t, J&) { t.step_back_silent = {50}; }},
          {"step_back_recovered_times", [](T& t, J&) { t.step_back_recovered.clear(); }},
          {"step_back_recovered", [](T& t, J&) { t.step_back_recovered = {40}; }},
          {"step_back_recovered",
           [](T& t, J&) {
             t.step_back_recovered = {7, 1'000'000};
           }},
          {"longest_run_s", [](T& t, J&) { t.longest_run = std::chrono::seconds(19); }},
          {"longest_run_s", [](T& t, J&) { t.longest_run = std::chrono::seconds(4); }},
          {"opened_after_s", [](T& t, J&) { t.opened_after = std::chrono::seconds(31); }},
          {"opened_after_s", [](T& t, J&) { t.opened_after.reset(); }},
          {"last_step", [](T& t, J&) { t.last_step = 1200; }},
          {"last_step", [](T& t, J&) { t.last_step = 2; }},
          {"last_step of a task that is cut off",
           [](T& t, J&) {
             t.outcome = "running";
             t.last_step = 2000;
           }},
          {"hook_end", [](T& t, J&) { t.hook_end = 0; }},
          {"newest_checkpoint", [](T&, J& j) { j.newest_checkpoint = 605; }},
          {"newest_checkpoint", [](T&, J& j) { j.newest_checkpoint.reset(); }},
          {"newest_checkpoint of a job that is cut off", [](T& t, J& j) {
             t.outcome = "running";
             j.newest_checkpoint = 2000;
           }}};
}

}  // namespace

std::vector<ComparisonCase> ComparisonCases() {
  std::vector<ComparisonCase> cases;
  for (const ForgedField& field : ForgedFields()) {
    ComparisonCase& made = cases.emplace_back(ComparisonCase{
        .field = field.field, .recorded = RecordedOnce(), .like = SeenLikeThat(), .forged = SeenLikeThat()});
    if (field.field.ends_with("that is cut off")) {
      made.recorded.tasks[std::string(kComparedTask)].outcome = {"running"};
      for (sim::JobFacts* const facts : {&made.like, &made.forged})
        facts->tasks[std::string(kComparedTask)].outcome = "running";
    }
    field.forge(made.forged.tasks[std::string(kComparedTask)], made.forged);
  }
  return cases;
}

}  // namespace vigil::replays

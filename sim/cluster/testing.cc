#include "vigil/sim/cluster/testing.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace vigil::sim {

PlayedJob PlayJobOf(const JobSpec& spec, std::uint64_t seed, JobOptions options) {
  RandomChooser chooser(seed);
  options.seed = seed;
  World world({.chooser = &chooser, .seed = seed, .max_events = 5'000'000});
  Job job(world, spec, options);
  PlayedJob played;
  played.result = world.Run();
  played.facts = job.Facts();
  played.history = job.history();
  played.hash = world.hash();
  for (const std::string& task : TaskNames(spec)) {
    for (const LogLine& line : job.node(task).log()) {
      if (line.severity == Severity::kWarning) played.warnings[task].push_back(line.text);
    }
  }
  return played;
}

JobSpec SmallJob(WorkloadKind kind) {
  JobSpec spec;
  spec.workload.kind = kind;
  spec.workload.last_step = 40;
  spec.workload.save_steps = 10;
  spec.workload.step = std::chrono::seconds(2);
  if (kind == WorkloadKind::kEvaluation) spec.tasks[std::string(kEvaluatorJob)] = 1;
  return spec;
}

TimedFault CrashOf(std::string task, Duration at, std::optional<Duration> back) {
  TimedFault fault;
  fault.kind = TimedFault::Kind::kCrash;
  fault.at = at;
  fault.task = std::move(task);
  fault.restart_after = back;
  return fault;
}

std::string EndsOf(const JobFacts& facts) {
  std::string text;
  for (const auto& [name, task] : facts.tasks) text += fmt::format("{} {}, ", name, task.outcome);
  return text + (facts.newest_checkpoint.has_value() ? "a checkpoint" : "no checkpoint");
}

}  // namespace vigil::sim

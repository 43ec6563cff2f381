#include "vigil/replays/format/parse.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/objects.h"

namespace vigil::replays {
namespace {

// Each task that trains has its own, and no other.
void CheckExpectedTasks(Reading& reading, const Field& field, const std::map<std::string, int, std::less<>>& jobs,
                        const JobExpectation& expected) {
  std::set<std::string> trainers;
  for (const auto& [job, tasks] : jobs) {
    for (int i = 0; i < tasks && job != "ps"; ++i) trainers.insert(fmt::format("{}:{}", job, i));
  }
  for (const std::string& task : trainers) {
    if (!expected.tasks.contains(task)) reading.Fail(field.place(), fmt::format("'tasks' lacks '{}'", task));
  }
  for (const auto& [task, facts] : expected.tasks) {
    if (!trainers.contains(task)) {
      reading.Fail(field.place(), fmt::format("'tasks' has '{}', which is no task of the cluster that trains", task));
    }
  }
}

// Of a cluster: what real ones did; but of a saved failure, as of any other, which rule it violates.
void ReadExpect(Reading& reading, const Field& field, const Scenario& scenario, Expectation& out) {
  if (!scenario.job.has_value() || !HasMember(field.value(), "tasks")) {
    ExpectationObject().Read(field, out);
    if (scenario.job.has_value() && out.violates.empty()) {
      reading.Fail(field.place(),
                   "of a cluster 'tasks' (what real ones did) or 'violates' (of a saved failure) is expected");
    }
    return;
  }
  auto job = std::make_shared<JobExpectation>();
  JobExpectationObject().Read(field, *job);
  CheckExpectedTasks(reading, field, scenario.job->tasks, *job);
  out.job = std::move(job);
}

void ReadRecord(Reading& reading, Json root, Recording& out) {
  const Place place;
  Fields fields(reading, root, place);
  Scenario& scenario = out.scenario;
  RecordObject().ReadFields(fields, scenario);
  if (fields.Optional("unit").present()) {
    UnitObject().ReadFields(fields, scenario.unit.emplace());
    scenario.unit->behaviour = scenario.behaviour;
  } else if (fields.Optional("cluster").present()) {
    JobObject().ReadFields(fields, scenario.job.emplace());
  } else {
    SessionScenarioObject().ReadFields(fields, scenario);
  }
  const Field expect = fields.Optional("expect");
  if (expect.present()) ReadExpect(reading, expect, scenario, out.expect.emplace());
  fields.Finish();
}

}  // namespace

absl::StatusOr<Recording> ParseRecording(std::string_view text, std::string_view source, std::int64_t record,
                                         JsonDocument& scratch) {
  Reading reading;
  Recording out;
  out.source = source;
  out.record = record;
  absl::Status status = scratch.Parse(text);
  if (status.ok()) {
    ReadRecord(reading, scratch.root(), out);
    status = reading.status();
  }
  if (status.ok()) return out;
  return WithMessage(status, fmt::format("{}:{}: {}", Escaped(source), record, MessageOf(status)));
}

absl::StatusOr<Recording> ParseRecording(std::string_view text, std::string_view source, std::int64_t record) {
  JsonDocument scratch;
  return ParseRecording(text, source, record, scratch);
}

}  // namespace vigil::replays

#include "vigil/replays/format/parse.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/replays/format/args.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/parse_parts.h"

namespace vigil::replays {
namespace {

void ReadFormat(const Field& field, std::int64_t& out) {
  field.Integer({1, kCounts.most}, out);
  if (out > kNewestFormat) field.Fail(fmt::format("{} is newer than what this program reads ({})", out, kNewestFormat));
}

void ReadSession(Reading& reading, const Field& field, SessionSpec& out) {
  if (!field.present()) return;
  Fields fields(reading, field.value(), field.place());
  fields.Optional("kind").Enum(kSessionKinds, "session kind", out.kind);
  ReadArgs(fields, SessionArgs(out.kind), out.args);
  if (out.kind == SessionKind::kTraining || out.kind == SessionKind::kSupervisor) {
    fields.Optional("shared_state").Bool(out.shared_state);
  }
  if (out.kind == SessionKind::kTraining) {
    fields.Optional("chief_only_hooks").Each([&](Json item, const Place& place) {
      ReadHook(reading, item, place, out.chief_only_hooks.emplace_back());
    });
  }
  fields.Finish();
}

void ReadModel(Reading& reading, const Field& field, ModelSpec& out) {
  if (!field.present()) return;
  Fields fields(reading, field.value(), field.place());
  fields.Optional("global_step").Bool(out.global_step);
  fields.Optional("steps_per_run").Integer(kCounts, out.steps_per_run);
  fields.Optional("nan_at").Integer(kSteps, out.nan_at);
  fields.Optional("batches").Integer(kCounts, out.batches);
  std::string input;
  fields.Optional("input").OneOf({"range", "queue"}, input);
  out.queue_input = input == "queue";
  fields.Optional("local_variable").Bool(out.local_variable);
  fields.Optional("fed_variable").Bool(out.fed_variable);
  fields.Optional("device").Name(out.device);
  fields.Optional("summary").Bool(out.summary);
  fields.Optional("run_secs").Number(kSeconds, out.run_secs);
  fields.Finish();
}

void ReadScaffold(Reading& reading, const Field& field, Scenario& out) {
  if (!field.present()) return;
  Fields fields(reading, field.value(), field.place());
  fields.Optional("init_fn").Bool(out.init_fn);
  const Field feed = fields.Optional("init_feed");
  feed.Integer(kValues, out.init_feed);
  fields.Finish();
  if (feed.present() && !out.model.fed_variable)
    feed.Fail("needs 'fed_variable' of the model: there is nothing to feed");
}

void ReadCheckpoint(Reading& reading, const Field& field, CheckpointSpec& out) {
  if (!field.present()) return;
  Fields fields(reading, field.value(), field.place());
  fields.Optional("dir").Bool(out.dir);
  fields.Optional("filename").Integer(kSteps, out.filename);
  fields.Optional("preload").Each(
      [&](Json item, const Place& place) { Field(reading, item, place).Integer(kSteps, out.preload.emplace_back()); });
  fields.Optional("preload_keep").Integer(kCounts, out.preload_keep);
  const Field damage = fields.Optional("damage");
  damage.Enum(kDamages, "damage", out.damage);
  fields.Optional("events").Bool(out.events);
  fields.Finish();
  const bool of_a_file = out.damage == Damage::kMissingIndex || out.damage == Damage::kMissingData;
  if (of_a_file && out.preload.empty()) damage.Fail("needs 'preload': there is no checkpoint to damage");
}

void ReadBehaviour(Reading& reading, const Field& field, BehaviourSpec& out) {
  if (!field.present()) return;
  if (field.value().kind() != JsonKind::kObject) return field.OneOf({"tensorflow", "default"}, out.name);
  out.name = "switches";
  Fields fields(reading, field.value(), field.place());
  for (const BehaviourSwitch& entry : BehaviourSwitches()) {
    const Field value = fields.Optional(entry.name);
    if (value.present()) value.Bool(out.switches[std::string(entry.name)]);
  }
  fields.Finish();
}

void ReadLimits(Reading& reading, const Field& field, Limits& out) {
  if (!field.present()) return;
  Fields fields(reading, field.value(), field.place());
  fields.Optional("events").Integer({1, 10'000'000}, out.events);
  fields.Optional("virtual_s").Number({0, 1e9}, out.virtual_s);
  fields.Finish();
}

void ReadChoices(Reading& reading, const Field& field, Scenario& out) {
  field.EachMember([&](Json member, const Place& place) {
    std::vector<std::string>& labels = out.choices[std::string(member.key())];
    Field(reading, member, place).Each([&](Json label, const Place& at) {
      Field(reading, label, at).String(labels.emplace_back());
    });
  });
}

// A process that does not listen dies of the first signal, one that listens of the second: neither leaves a session.
void CheckSignal(Reading& reading, const Field& faults, const Scenario& out) {
  const bool listens = BoolArg(out.session.args, "stop_on_sigterm");
  const auto signals = std::count_if(out.faults.begin(), out.faults.end(), [](const Fault& f) { return f.sigterm; });
  const bool sleeps = std::any_of(out.faults.begin(), out.faults.end(),
                                  [](const Fault& fault) { return fault.at == FaultPoint::kSleep; });
  if (signals > 0 && !listens) reading.Fail(faults.place(), "'sigterm' needs 'stop_on_sigterm' of the session");
  if (signals > 1) reading.Fail(faults.place(), "'sigterm' comes once: a second one would end the process");
  if (listens && sleeps) {
    reading.Fail(faults.place(), "'sleep' meets no wait of a session with 'stop_on_sigterm': such waits are no sleeps");
  }
}

void ReadSessionScenario(Reading& reading, Fields& fields, Scenario& out) {
  ReadSession(reading, fields.Optional("session"), out.session);
  std::string scope = "with";
  fields.Optional("scope").OneOf({"with", "bare"}, scope);
  out.scope_with = scope == "with";
  ReadModel(reading, fields.Optional("model"), out.model);
  ReadScaffold(reading, fields.Optional("scaffold"), out);
  ReadCheckpoint(reading, fields.Optional("checkpoint"), out.checkpoint);
  fields.Optional("hooks").Each(
      [&](Json item, const Place& place) { ReadHook(reading, item, place, out.hooks.emplace_back()); });
  const Field faults = fields.Optional("faults");
  faults.Each([&](Json item, const Place& place) {
    Fault& fault = out.faults.emplace_back();
    ReadFault(reading, item, place, fault);
    if (fault.chief_init.has_value() && !out.session.shared_state) {
      reading.Fail(place, "'chief_init' needs 'shared_state' of the session");
    }
  });
  CheckSignal(reading, faults, out);
  ReadStatements(reading, fields.Required("drive"), out.session.kind, out.drive);
  ReadStatements(reading, fields.Optional("after"), out.session.kind, out.after);
}

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
  bool of_real_ones = false;
  if (scenario.job.has_value() && field.value().kind() == JsonKind::kObject) {
    for (const Json member : field.value()) of_real_ones = of_real_ones || member.key() == "tasks";
  }
  if (!of_real_ones) {
    ReadExpectation(reading, field, out);
    if (scenario.job.has_value() && out.violates.empty()) {
      reading.Fail(field.place(),
                   "of a cluster 'tasks' (what real ones did) or 'violates' (of a saved failure) is expected");
    }
    return;
  }
  auto job = std::make_shared<JobExpectation>();
  ReadJobExpectation(reading, field, *job);
  CheckExpectedTasks(reading, field, scenario.job->tasks, *job);
  out.job = std::move(job);
}

void ReadRecord(Reading& reading, Json root, Recording& out) {
  const Place place;
  Fields fields(reading, root, place);
  Scenario& scenario = out.scenario;
  fields.Required("id").Name(scenario.id);
  fields.Optional("title").String(scenario.title);
  ReadFormat(fields.Optional("format"), scenario.format);
  fields.Optional("seed").Natural(scenario.seed);
  ReadBehaviour(reading, fields.Optional("behaviour"), scenario.behaviour);
  ReadLimits(reading, fields.Optional("limits"), scenario.limits);
  ReadChoices(reading, fields.Optional("choices"), scenario);
  const Field unit = fields.Optional("unit");
  if (unit.present()) {
    ReadUnit(reading, fields, unit, scenario.unit.emplace());
    scenario.unit->behaviour = scenario.behaviour;
  } else {
    const Field cluster = fields.Optional("cluster");
    if (cluster.present()) {
      ReadJob(reading, fields, cluster, scenario.job.emplace());
    } else {
      ReadSessionScenario(reading, fields, scenario);
    }
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

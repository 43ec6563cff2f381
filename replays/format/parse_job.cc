// Clusters: "cluster", "workload", "plan", and what their recordings expect.
#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "vigil/replays/format/job_expectation.h"
#include "vigil/replays/format/job_names.h"
#include "vigil/replays/format/parse_parts.h"

namespace vigil::replays {
namespace {

constexpr std::int64_t kMostTasks = 128;  // of all jobs together: what they say to each other grows with the square
constexpr Range<std::int64_t> kTasksOfAJob = {0, kMostTasks};
constexpr Range<double> kShift = {-1e6, 1e6};
constexpr Range<double> kChance = {0, 1};
constexpr std::string_view kSlowLinkName = "slow_link";
constexpr Range<double> kMilliseconds = {0, 1e7};

void ReadDuration(const Field& field, Duration& out, Range<double> range = kSeconds) {
  if (!field.present()) return;
  double seconds = 0;
  field.Number(range, seconds);
  out = Seconds(seconds);
}

void ReadDuration(const Field& field, std::optional<Duration>& out) {
  if (field.present()) ReadDuration(field, out.emplace());
}

// How long an effect takes that takes time; others have no such field.
void ReadBy(const Field& field, std::string_view effect, std::string_view takes_time, Duration& out) {
  if (effect != takes_time) {
    if (field.present())
      field.Fail(fmt::format("{} takes no time of its own, only {} does: leave 'by_s' out", effect, takes_time));
    return;
  }
  ReadDuration(field, out);
  if (out == Duration(0)) {
    field.Fail(fmt::format("{}, but {} needs a time: how many seconds it takes, more than 0",
                           field.present() ? field.value().Describe() : "missing", effect));
  }
}

// A least and a most.
template <typename T, typename Read>
void ReadPair(Reading& reading, const Field& field, T& least, T& most, Read&& read) {
  if (!field.present()) return;
  int count = 0;
  field.Each([&](Json item, const Place& place) { read(Field(reading, item, place), count++ == 0 ? least : most); });
  if (count != 2) field.Fail("expected a list of two numbers: the least and the most");
  if (most < least) field.Fail("the most is less than the least");
}

void ReadDurationPair(Reading& reading, const Field& field, Duration& least, Duration& most, double unit_s) {
  ReadPair(reading, field, least, most, [unit_s](const Field& item, Duration& out) {
    double units = 0;
    item.Number(kMilliseconds, units);
    out = Seconds(units * unit_s);
  });
}

// The tasks of the cluster, so that whatever names one can be checked.
class Job {
 public:
  Job(Reading& reading, sim::JobSpec& out) : reading_(reading), out_(out) {}

  void ReadCluster(const Field& field) {
    if (!field.present()) return;
    Fields fields(reading_, field.value(), field.place());
    const Field tasks = fields.Required("tasks");
    if (tasks.present()) out_.tasks.clear();
    tasks.EachMember([&](Json member, const Place& place) {
      std::int64_t count = 0;
      Field(reading_, member, place).Integer(kTasksOfAJob, count);
      if (member.key() != "chief" && member.key() != "worker" && member.key() != "ps" && member.key() != "evaluator")
        reading_.Fail(place, "unknown job; known: chief, worker, ps, evaluator");
      if (member.key() == "chief" && count > 1)
        reading_.Fail(place, fmt::format("{} chiefs, but a cluster has one: make the others workers", count));
      out_.tasks[std::string(member.key())] = static_cast<int>(count);
    });
    const auto add = [](std::int64_t sum, const auto& job) { return sum + job.second; };
    const std::int64_t all = std::accumulate(out_.tasks.begin(), out_.tasks.end(), std::int64_t{0}, add);
    if (tasks.present() && all > kMostTasks)
      tasks.Fail(fmt::format("these are {} tasks; a cluster has at most {} in all", all, kMostTasks));
    names_ = TaskNames(out_);
    if (tasks.present() && std::ranges::find(names_, "chief:0") == names_.end()) tasks.Fail("there is no chief");
    if (tasks.present() && std::ranges::find(names_, "ps:0") == names_.end()) tasks.Fail("there is no ps");
    fields.Optional("links").EachMember([&](Json member, const Place& place) {
      const std::string name(member.key());
      if (name == "default") return ReadLink(member, place, out_.plan.default_link);
      const std::size_t arrow = name.find('>');
      if (arrow == std::string::npos) return reading_.Fail(place, "expected 'default' or 'FROM>TO'");
      CheckTask(Field(reading_, member, place), name.substr(0, arrow));
      CheckTask(Field(reading_, member, place), name.substr(arrow + 1));
      ReadLink(member, place, out_.plan.links[name]);
    });
    fields.Finish();
  }

  void ReadWorkload(const Field& field) {
    if (!field.present()) return;
    sim::WorkloadSpec& w = out_.workload;
    Fields fields(reading_, field.value(), field.place());
    fields.Optional("name").Enum(kWorkloads, "workload", w.kind);
    fields.Optional("last_step").Integer(kSteps, w.last_step);
    fields.Optional("save_steps").Integer({1, kSteps.most}, w.save_steps);
    fields.Optional("async_saves").Bool(w.async_saves);
    fields.Optional("validate_steps").Integer(kSteps, w.validate_steps);
    const Field sync = fields.Optional("sync");
    sync.Integer(kTasksOfAJob, w.sync);
    if (sync.present()) w.kind = sim::WorkloadKind::kSyncRegression;
    fields.Optional("filters").Bool(w.filters);
    fields.Optional("timeout_ms").Integer(kCounts, w.timeout_ms);
    ReadDuration(fields.Optional("step_s"), w.step);
    ReadDurationPair(reading_, fields.Optional("boot_s"), w.least_boot, w.most_boot, 1);
    const Field session = fields.Optional("session");
    if (session.present()) {
      Fields inner(reading_, session.value(), session.place());
      const Field wait = inner.Optional("max_wait_secs");
      if (wait.present()) wait.Number(kSeconds, w.max_wait_s.emplace());
      inner.Finish();
    }
    fields.Optional("tasks").EachMember([&](Json member, const Place& place) {
      CheckTask(Field(reading_, member, place), std::string(member.key()));
      Fields inner(reading_, member, place);
      inner.Required("last_step").Integer(kSteps, w.last_steps[std::string(member.key())]);
      inner.Finish();
    });
    fields.Finish();
  }

  void ReadPlan(const Field& field) {
    field.Each([&](Json item, const Place& place) { ReadEntry(item, place); });
  }

 private:
  void ReadLink(Json value, const Place& place, sim::LinkSpec& out) {
    Fields fields(reading_, value, place);
    ReadDurationPair(reading_, fields.Optional("latency_ms"), out.least_latency, out.most_latency, 1e-3);
    fields.Optional("loss").Number(kChance, out.loss);
    fields.Optional("duplication").Number(kChance, out.duplication);
    fields.Optional("reordering").Number(kChance, out.reordering);
    fields.Optional("bytes_per_s").Number({0, 1e12}, out.bytes_per_s);
    fields.Finish();
  }

  void CheckTask(const Field& field, const std::string& name) {
    if (!field.present() || std::ranges::find(names_, name) != names_.end()) return;
    std::string known;
    for (const std::string& task : names_) Field::AppendKnown(known, task);
    field.Unknown("task", name, known);
  }
  void ReadTask(const Field& field, std::string& out) {
    if (!field.present()) return;
    field.Name(out);
    CheckTask(field, out);
  }
  void ReadTaskPair(const Field& field, std::string& task, std::string& peer) {
    int count = 0;
    field.Each([&](Json item, const Place& place) {
      if (++count <= 2) ReadTask(Field(reading_, item, place), count == 1 ? task : peer);
    });
    if (field.present() && (count != 2 || task == peer)) field.Fail("expected a list of two tasks");
  }

  void ReadEntry(Json item, const Place& place) {
    Fields fields(reading_, item, place);
    const Field rpc = fields.Optional("rpc");
    const Field disk = fields.Optional("disk");
    const Field session = fields.Optional("session");
    if (rpc.present()) {
      ReadRpc(fields, rpc);
    } else if (session.present()) {
      ReadSessionCall(fields, session);
    } else if (disk.present() && fields.Optional("op").present()) {
      ReadDisk(fields, disk);
    } else {
      ReadTimed(fields, disk, place);
    }
    fields.Finish();
  }

  void ReadTimed(Fields& fields, const Field& disk, const Place& place) {
    sim::TimedFault fault;
    ReadDuration(fields.Required("at_s"), fault.at);
    int kinds = 0;
    for (const Named<sim::TimedFault::Kind>& entry : kTimedFaults) {
      const Field field = fields.Optional(entry.name);
      if (!field.present()) continue;
      fault.kind = entry.value;
      if (++kinds > 1) return reading_.Fail(place, "an entry of a plan does one thing");
      if (IsBetweenTasks(fault.kind)) {
        ReadTaskPair(field, fault.task, fault.peer);
        fields.Optional("one_way").Bool(fault.one_way);
      } else {
        ReadTask(field, fault.task);
      }
    }
    if (kinds == 0) {
      std::string known = "rpc, disk, session";
      for (const Named<sim::TimedFault::Kind>& entry : kTimedFaults) Field::AppendKnown(known, entry.name);
      return reading_.Fail(place, fmt::format("nothing happens; known: {}", known));
    }
    using Kind = sim::TimedFault::Kind;
    const Kind kind = fault.kind;
    if (kind == Kind::kCrash) {
      ReadDuration(fields.Optional("restart_after_s"), fault.restart_after);
      disk.Enum(kDiskLosses, "disk loss", fault.disk);
    } else if (kind == Kind::kPause) {
      ReadDuration(fields.Required("for_s"), fault.lasts);
    } else if (kind != Kind::kStart && kind != Kind::kClockJump) {
      ReadDuration(fields.Optional("for_s"), fault.lasts);
    }
    if (kind == Kind::kClockJump) ReadDuration(fields.Required("by_s"), fault.by, kShift);
    if (kind == Kind::kSlowLink) ReadBy(fields.Required("by_s"), kSlowLinkName, kSlowLinkName, fault.by);
    if (kind == Kind::kClockDrift) {
      const Field rate = fields.Required("rate");
      rate.Number({0, 1000}, fault.rate);
      if (fault.rate == 0)
        rate.Fail(
            "0, but a clock runs: say how many times as fast, more than 0 and at most 1000 (to stand still: pause)");
    }
    out_.plan.timed.push_back(std::move(fault));
  }

  void ReadRpc(Fields& fields, const Field& rpc) {
    sim::RpcFault& fault = out_.plan.rpcs.emplace_back();
    rpc.OneOf(kRpcMethods, "method", fault.method);
    ReadTask(fields.Optional("from"), fault.from);
    ReadTask(fields.Optional("to"), fault.to);
    fields.Optional("call").Integer({0, kCalls.most}, fault.call);
    fields.Optional("effect").Enum(kRpcEffects, "effect", fault.effect);
    ReadCode(fields.Optional("code"), fault.code);
    ReadBy(fields.Optional("by_s"), NameOf(kRpcEffects, fault.effect),
           NameOf(kRpcEffects, sim::RpcFault::Effect::kDelayed), fault.by);
  }

  void ReadDisk(Fields& fields, const Field& disk) {
    sim::DiskFault& fault = out_.plan.disks.emplace_back();
    ReadTask(disk, fault.task);
    fields.Optional("op").OneOf(kDiskOps, "op", fault.op);
    fields.Optional("path").String(fault.path);
    fields.Optional("call").Integer({0, kCalls.most}, fault.call);
    fields.Required("code").Enum(kDiskEffects, "code of a disk", fault.effect);
    ReadBy(fields.Optional("by_s"), NameOf(kDiskEffects, fault.effect),
           NameOf(kDiskEffects, sim::DiskFault::Effect::kSlow), fault.by);
  }

  void ReadSessionCall(Fields& fields, const Field& session) {
    sim::SessionCallFault& fault = out_.plan.session_calls.emplace_back();
    ReadTask(session, fault.task);
    fields.Required("at").Enum(kCallKinds, "session call", fault.at);
    fields.Optional("call").Integer({0, kCalls.most}, fault.call);
    ReadCode(fields.Optional("code"), fault.code);
    fields.Optional("lost_reply").Bool(fault.lost_reply);
  }

  static void ReadCode(const Field& field, Code& out) {
    std::optional<Code> code;
    field.ErrorCode(code);
    if (code.has_value()) out = *code;
  }

  Reading& reading_;
  sim::JobSpec& out_;
  std::vector<std::string> names_;
};

// Expectations.
// ----------------------------------------------------------------------------------------------------------

constexpr Range<std::int64_t> kAnyCount = {0, 1'000'000'000};

void ReadSpan(Reading& reading, const Field& field, Span<std::int64_t>& out) {
  ReadPair(reading, field, out.least, out.most,
           [](const Field& item, std::int64_t& value) { item.Integer(kAnyCount, value); });
}
void ReadSpan(Reading& reading, const Field& field, Span<double>& out) {
  ReadPair(reading, field, out.least, out.most, [](const Field& item, double& value) { item.Number(kSeconds, value); });
}
template <typename T>
void ReadSpan(Reading& reading, const Field& field, std::optional<Span<T>>& out) {
  if (field.present()) ReadSpan(reading, field, out.emplace());
}

void ReadStrings(Reading& reading, const Field& field, std::vector<std::string>& out) {
  field.Each([&](Json item, const Place& place) { Field(reading, item, place).String(out.emplace_back()); });
}

void ReadCodes(Reading& reading, const Field& field, std::vector<Code>& out) {
  field.Each([&](Json item, const Place& place) {
    std::optional<Code> code;
    Field(reading, item, place).ErrorCode(code);
    if (code.has_value()) out.push_back(*code);
  });
}

void ReadTaskExpectation(Reading& reading, Json value, const Place& place, TaskExpectation& out) {
  Fields fields(reading, value, place);
  ReadStrings(reading, fields.Required("outcome"), out.outcome);
  ReadSpan(reading, fields.Required("sessions"), out.sessions);
  ReadCodes(reading, fields.Required("run_failed"), out.run_failed);
  ReadSpan(reading, fields.Required("run_failed_times"), out.run_failed_times);
  ReadCodes(reading, fields.Required("create_failed"), out.create_failed);
  ReadSpan(reading, fields.Required("create_failed_times"), out.create_failed_times);
  ReadSpan(reading, fields.Required("step_back_silent_times"), out.step_back_silent_times);
  ReadSpan(reading, fields.Optional("step_back_silent"), out.step_back_silent);
  ReadSpan(reading, fields.Required("step_back_recovered_times"), out.step_back_recovered_times);
  ReadSpan(reading, fields.Optional("step_back_recovered"), out.step_back_recovered);
  ReadSpan(reading, fields.Required("longest_run_s"), out.longest_run_s);
  ReadSpan(reading, fields.Optional("opened_after_s"), out.opened_after_s);
  ReadSpan(reading, fields.Optional("last_step"), out.last_step);
  ReadSpan(reading, fields.Required("hook_end"), out.hook_end);
  ReadStrings(reading, fields.Optional("texts"), out.texts);
  fields.Finish();
}

}  // namespace

void ReadJob(Reading& reading, Fields& fields, const Field& cluster, sim::JobSpec& out) {
  Job job(reading, out);
  job.ReadCluster(cluster);
  job.ReadWorkload(fields.Optional("workload"));
  job.ReadPlan(fields.Optional("plan"));
  fields.Optional("no_wait").Bool(out.no_wait);
  ReadDuration(fields.Optional("heal_s"), out.heal_after);
  ReadDuration(fields.Optional("limit_s"), out.limit);
}

void ReadJobExpectation(Reading& reading, const Field& field, JobExpectation& out) {
  Fields fields(reading, field.value(), field.place());
  fields.Required("tasks").EachMember([&](Json member, const Place& place) {
    ReadTaskExpectation(reading, member, place, out.tasks[std::string(member.key())]);
  });
  const Field newest = fields.Optional("newest_checkpoint");
  if (newest.present() && newest.value().kind() != JsonKind::kNull) ReadSpan(reading, newest, out.newest_checkpoint);
  fields.Optional("repeats").Integer(kCounts, out.repeats);
  fields.Finish();
}

}  // namespace vigil::replays

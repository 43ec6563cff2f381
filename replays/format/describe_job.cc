// Clusters: "cluster", "workload". What happens to them: describe_plan.cc.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "vigil/replays/format/describe_plan.h"
#include "vigil/replays/format/job_names.h"
#include "vigil/replays/format/objects.h"
#include "vigil/replays/format/value_types.h"

namespace vigil::replays {
namespace {

using sim::JobSpec;
using sim::LinkSpec;
using sim::WorkloadSpec;

constexpr std::int64_t kMostTasks = 128;  // of all jobs together: what they say to each other grows with the square
const IntegerType kTasksOfAJob({0, kMostTasks});
const NumberType kChance({0, 1});
constexpr std::string_view kJobs[] = {"chief", "worker", "ps", "evaluator"};

// A least and a most, of which each is a member of S; `per_s`: units of a second.
template <typename S>
class DurationPair : public Typed<S> {
 public:
  DurationPair(Duration S::*least, Duration S::*most, double per_s) : least_(least), most_(most), per_s_(per_s) {}
  void Read(const Field& field, S& out) const override {
    int count = 0;
    field.Each([&](Json item, const Place& place) {
      double units = 0;
      kUnits.Read(Field(field.reading(), item, place), units);
      out.*(count++ == 0 ? least_ : most_) = Seconds(units * (1 / per_s_));
    });
    if (count != 2) field.Fail("expected a list of two numbers: the least and the most");
    if (out.*most_ < out.*least_) field.Fail("the most is less than the least");
  }
  void Print(JsonWriter& w, const S& value) const override {
    w.Open('[').Seconds(ToSeconds(value.*least_) * per_s_).Seconds(ToSeconds(value.*most_) * per_s_).Close(']');
  }
  bool Missing(const S& value, const S& missing) const override {
    return value.*least_ == missing.*least_ && value.*most_ == missing.*most_;
  }
  std::string Words() const override { return "least and most: " + kUnits.Words(); }

 private:
  static inline const NumberType kUnits{{0, 1e7}};

  Duration S::*least_;
  Duration S::*most_;
  double per_s_;
};

class LinkObject : public Object<LinkSpec> {
  void Describe(Described<LinkSpec>& f) const override {
    f.Optional("latency_ms", DurationPair<LinkSpec>(&LinkSpec::least_latency, &LinkSpec::most_latency, 1e3),
               "how long a message takes");
    f.Optional("loss", &LinkSpec::loss, kChance, "chance that a message is lost");
    f.Optional("duplication", &LinkSpec::duplication, kChance, "chance that a request arrives twice");
    f.Optional("reordering", &LinkSpec::reordering, kChance, "chance that others overtake a message");
    f.Optional("bytes_per_s", &LinkSpec::bytes_per_s, NumberType({0, 1e12}), "0 = as fast as it likes");
    f.Optional("bytes_in_flight", &LinkSpec::bytes_in_flight, kCount,
               "of requests that are on their way; what comes after waits for its turn. 0 = as many as it likes");
  }
};

class TasksType : public Typed<JobSpec> {
 public:
  void Read(const Field& field, JobSpec& out) const override {
    out.tasks.clear();
    field.EachMember([&](Json member, const Place& place) {
      const Field number(field.reading(), member, place);
      std::int64_t count = 0;
      kTasksOfAJob.Read(number, count);
      if (std::ranges::find(kJobs, member.key()) == std::end(kJobs))
        number.Fail("unknown job; known: chief, worker, ps, evaluator");
      if (member.key() == "chief" && count > 1)
        number.Fail(fmt::format("{} chiefs, but a cluster has one: make the others workers", count));
      out.tasks[std::string(member.key())] = static_cast<int>(count);
    });
    const auto add = [](std::int64_t sum, const auto& job) { return sum + job.second; };
    const std::int64_t all = std::accumulate(out.tasks.begin(), out.tasks.end(), std::int64_t{0}, add);
    if (all > kMostTasks)
      field.Fail(fmt::format("these are {} tasks; a cluster has at most {} in all", all, kMostTasks));
    const auto none = [&](std::string_view job) {
      return !out.tasks.contains(job) || out.tasks.find(job)->second == 0;
    };
    if (none("chief")) field.Fail("there is no chief");
    if (none("ps")) field.Fail("there is no ps");
  }
  void Print(JsonWriter& w, const JobSpec& job) const override {
    w.Open('{');
    for (const auto& [name, count] : job.tasks) w.Key(name).Integer(count);
    w.Close('}');
  }
  std::string Words() const override { return "object of " + OneOfType(kJobs).Words() + ": " + kTasksOfAJob.Words(); }
};

class LinksType : public Typed<JobSpec> {
 public:
  void Read(const Field& field, JobSpec& out) const override {
    const TaskNames names(out);
    const LinkObject link;
    field.EachMember([&](Json member, const Place& place) {
      const Field value(field.reading(), member, place);
      const std::string name(member.key());
      if (name == "default") return link.Read(value, out.plan.default_link);
      const std::size_t arrow = name.find('>');
      if (arrow == std::string::npos) return value.Fail("expected 'default' or 'FROM>TO'");
      names.Check(value, name.substr(0, arrow));
      names.Check(value, name.substr(arrow + 1));
      link.Read(value, out.plan.links[name]);
    });
  }
  void Print(JsonWriter& w, const JobSpec& job) const override {
    const LinkObject link;
    w.Open('{');
    if (job.plan.default_link != LinkSpec()) link.Print(w.Key("default"), job.plan.default_link);
    for (const auto& [name, spec] : job.plan.links) link.Print(w.Key(name), spec);
    w.Close('}');
  }
  bool Missing(const JobSpec& job, const JobSpec& /*missing*/) const override {
    return job.plan.default_link == LinkSpec() && job.plan.links.empty();
  }
  std::string Words() const override { return "object of `FROM>TO` or `default`: object"; }
};

class ClusterObject : public Object<JobSpec> {
  void Describe(Described<JobSpec>& f) const override {
    f.Required("tasks", TasksType(),
               "how many there are of each job; one chief and a ps are needed, at most 128 in all");
    f.Optional("links", LinksType(), "how messages travel");
  }
};

class WorkloadSessionObject : public Object<WorkloadSpec> {
  void Describe(Described<WorkloadSpec>& f) const override {
    f.Optional("max_wait_secs", &WorkloadSpec::max_wait_s, kSecs, "of MonitoredTrainingSession; missing: its default");
  }
};

// The last steps of single tasks, each an object.
class LastStepsType : public Typed<WorkloadSpec> {
 public:
  explicit LastStepsType(const TaskNames& names) : names_(names) {}
  void Read(const Field& field, WorkloadSpec& out) const override {
    field.EachMember([&](Json member, const Place& place) {
      const Field task(field.reading(), member, place);
      names_.Check(task, member.key());
      if (member.key().starts_with("ps")) task.Fail("a parameter server has no last step: name tasks that train");
      Fields inner(field.reading(), member, place);
      const Field step = inner.Required("last_step");
      if (step.present()) kStepNumber.Read(step, out.last_steps[std::string(member.key())]);
      inner.Finish();
    });
  }
  void Print(JsonWriter& w, const WorkloadSpec& workload) const override {
    w.Open('{');
    for (const auto& [task, step] : workload.last_steps)
      w.Key(task).Open('{').Key("last_step").Integer(step).Close('}');
    w.Close('}');
  }
  bool Missing(const WorkloadSpec& workload, const WorkloadSpec& /*missing*/) const override {
    return workload.last_steps.empty();
  }
  std::string Words() const override { return "object of tasks: `{\"last_step\": N}`"; }

 private:
  const TaskNames& names_;
};

const DurationType kMeasured;

// Measured times, one of which is drawn: choices tell them apart by their whole milliseconds.
class MeasuredTimesType : public ListOf<Duration> {
 public:
  MeasuredTimesType() : ListOf(kMeasured) {}
  void Read(const Field& field, std::vector<Duration>& out) const override {
    ListOf::Read(field, out);
    if (out.size() > kMost)
      return field.Fail(
          fmt::format("{} times, but at most {} are drawn from: give their quantiles", out.size(), kMost));
    if (std::ranges::adjacent_find(out, std::ranges::greater_equal(), InMilliseconds) != out.end())
      field.Fail("expected times that increase, in whole milliseconds");
  }
  std::string Words() const override { return "list of increasing times: " + kMeasured.Words(); }

 private:
  static constexpr std::size_t kMost = 20;
  static std::chrono::milliseconds InMilliseconds(Duration time) {
    return std::chrono::floor<std::chrono::milliseconds>(time);
  }
};

class WorkloadObject : public Object<WorkloadSpec> {
 public:
  explicit WorkloadObject(const TaskNames& names) : names_(names) {}
  void Describe(Described<WorkloadSpec>& f) const override {
    f.Shown().Optional("name", &WorkloadSpec::kind, EnumType<sim::WorkloadKind>(kWorkloads, "workload"),
                       "what is trained, and how");
    f.Shown().Optional("last_step", &WorkloadSpec::last_step, kStepNumber,
                       "where the training ends; of a conversation: so many asks");
    f.Optional("save_steps", &WorkloadSpec::save_steps, IntegerType({1, 1'000'000'000}), "steps between checkpoints");
    f.Optional("before_save_s", &WorkloadSpec::before_save, DurationType(),
               "the chief stands so long before it writes a checkpoint, in a listener of its saver");
    f.Optional("async_saves", &WorkloadSpec::async_saves, kFlag, "checkpoints are written beside the training");
    f.Optional("validate_steps", &WorkloadSpec::validate_steps, kStepNumber,
               "of a regression: so often a task runs its loss in the session without training");
    f.Optional("visits_s", &WorkloadSpec::visits, DurationType(),
               "the pause between two sessions that each task has beside its training; 0 = none");
    f.Optional("diary_s", &WorkloadSpec::diary, DurationType(),
               "how often each task writes into a file on its own disk, which it looks at when it starts; 0 = never");
    f.Optional("init_fn", &WorkloadSpec::init_fn, kFlag,
               "the model has an init_fn, which sets a variable by three runs with a pause after each");
    f.Optional("nan_batch", &WorkloadSpec::nan_batch, kCount,
               "the batch of that number of `worker:0`, in its first life, makes the loss NaN, and the variables; the "
               "chief watches for that, and stops. 0 = none");
    f.Optional("sync", &WorkloadSpec::sync, kTasksOfAJob, "replicas to aggregate, of `sync_regression`; 0 = all");
    f.Optional("shared_input", &WorkloadSpec::shared_input, kFlag,
               "of `input_pipeline`: one queue at a parameter server, which the chief fills, feeds all that train");
    f.Optional("input_batch", &WorkloadSpec::input_batch, IntegerType({1, 100}),
               "of `input_pipeline`: so many elements a step takes");
    f.Optional("input_rest", &WorkloadSpec::input_rest, kFlag,
               "... and the last step takes what is left; without it, what is less than a batch stays in the queue");
    f.Optional("shuffled_input", &WorkloadSpec::shuffled_input, kFlag,
               "of `input_pipeline`: the queue gives its elements in random order");
    f.Optional(
        "staged_input", &WorkloadSpec::staged_input, kFlag,
        "of `input_pipeline`: a queue before that one, which a second queue runner empties into it; both outlive "
        "a session");
    f.Optional("filters", &WorkloadSpec::filters, kFlag, "each task sees the parameter servers and itself only");
    f.Optional(
        "master", &WorkloadSpec::master, TaskType(names_),
        "the parameter server whose master makes the sessions of all that train; missing: each its own server's");
    f.Optional("clients", &WorkloadSpec::clients, kFlag,
               "those that train are clients of that `master` and no more: they have no server, and are no part of the "
               "cluster");
    f.Optional("timeout_ms", &WorkloadSpec::timeout_ms, kCount, "of an operation; 0 = none");
    f.Optional("disk_s", &WorkloadSpec::disk, DurationType(),
               "what a file operation takes, and each 4 KB read or written: typically, drawn for each; 0 = no time");
    f.Optional("cpu_s", &WorkloadSpec::cpu, DurationType(),
               "what an op takes, and a request or an answer on its server, and each 4 KB of it: typically, on another "
               "machine less or more; 0 = no time");
    f.Optional("processors", &WorkloadSpec::processors, IntegerType({0, 1000}),
               "for how many of these there is time at once on a machine: the others wait for their turn; 0 = for all");
    f.Optional("step_s", &WorkloadSpec::step, DurationType(), "the pause between two steps of a task");
    f.Optional("boot_s", DurationPair<WorkloadSpec>(&WorkloadSpec::least_boot, &WorkloadSpec::most_boot, 1),
               "from the start of a process to its server");
    const MeasuredTimesType measured;
    f.Optional("boots_s", &WorkloadSpec::boots, measured,
               "... as it was measured, in place of `boot_s`: each of these times is as likely");
    f.Optional("session_s", DurationPair<WorkloadSpec>(&WorkloadSpec::least_session, &WorkloadSpec::most_session, 1),
               "what a client spends on a new session, once its tasks are found");
    f.Optional("sessions_s", &WorkloadSpec::sessions, measured, "... as it was measured, in place of `session_s`");
    f.Optional("signature_s", &WorkloadSpec::signature, DurationType(),
               "what it spends on each run like which there was none in that session");
    f.Optional("signatures_s", &WorkloadSpec::signatures, measured,
               "... as it was measured, in place of `signature_s`: drawn for each such run");
    f.Optional("session", WorkloadSessionObject(), "how its sessions are made");
    f.Optional("tasks", LastStepsType(names_), "of single tasks");
  }
  void Complete(const Field& object, WorkloadSpec& workload) const override {
    if (const Field master = MemberOf(object, "master"); master.present() && !workload.master.starts_with("ps:")) {
      master.Fail(fmt::format("'{}' is no parameter server: only these are there as long as the job lasts, name one",
                              workload.master));
    }
    RefuseInputOfOthers(object, workload);
    if (workload.init_fn) RefuseInitFn(MemberOf(object, "init_fn"), workload);
    if (workload.nan_batch > 0) RefuseNan(MemberOf(object, "nan_batch"), workload);
    if (const Field sync = MemberOf(object, "sync"); sync.present()) TakeSync(object, sync, workload);
    if (workload.processors > 0 && workload.cpu == Duration::zero())
      MemberOf(object, "processors").Fail("without 'cpu_s' nothing takes time: say how much, or leave it out");
    if (workload.clients) RefuseClients(MemberOf(object, "clients"), workload);
  }

 private:
  static void TakeSync(const Field& object, const Field& sync, WorkloadSpec& workload) {
    if (HasMember(object.value(), "name") && workload.kind != sim::WorkloadKind::kSyncRegression) {
      sync.Fail(fmt::format("{}, but only `sync_regression` has replicas to aggregate: leave 'sync' or 'name' out",
                            sync.value().Describe()));
    }
    workload.kind = sim::WorkloadKind::kSyncRegression;
  }
  static void RefuseInitFn(const Field& init_fn, const WorkloadSpec& workload) {
    if (workload.kind != sim::WorkloadKind::kSupervisor && workload.kind != sim::WorkloadKind::kConversation) return;
    init_fn.Fail("only a workload with a monitored session has one: leave it out, or name another workload");
  }
  static void RefuseNan(const Field& nan_batch, const WorkloadSpec& workload) {
    if (workload.kind == sim::WorkloadKind::kAsyncRegression || workload.kind == sim::WorkloadKind::kShortJob) return;
    nan_batch.Fail("only `async_regression` and `short_job` go on without their chief: name one of them");
  }
  static void RefuseClients(const Field& clients, const WorkloadSpec& workload) {
    if (workload.master.empty())
      return clients.Fail("who has no server needs a 'master': say which parameter server's");
    if (workload.kind == sim::WorkloadKind::kInputPipeline || workload.kind == sim::WorkloadKind::kSyncRegression)
      clients.Fail(
          "the queues and the step of a replica are on its own server: leave it out, or name another workload");
  }
  static void RefuseInputOfOthers(const Field& object, const WorkloadSpec& workload) {
    if (workload.kind == sim::WorkloadKind::kInputPipeline) return;
    const std::pair<const char*, bool> asked[] = {{"shared_input", workload.shared_input},
                                                  {"input_batch", workload.input_batch > 1},
                                                  {"input_rest", workload.input_rest},
                                                  {"shuffled_input", workload.shuffled_input},
                                                  {"staged_input", workload.staged_input}};
    for (const auto& [name, is_asked] : asked) {
      if (!is_asked) continue;
      MemberOf(object, name).Fail("only `input_pipeline` has an input: leave it out, or name that workload");
      return;
    }
  }

  const TaskNames& names_;
};

class JobFields : public Object<JobSpec> {
  void Describe(Described<JobSpec>& f) const override {
    f.Required("cluster", ClusterObject(), "the tasks and what is between them");
    const TaskNames names(f.value());
    f.Shown().Optional("workload", &JobSpec::workload, WorkloadObject(names), "what they do");
    f.Shown().Optional("plan", &JobSpec::plan, PlanType(names), "what happens");
    f.Optional("no_wait", &JobSpec::no_wait, kFlag,
               "the plan's times count from the start of the processes, which then start all at once");
    const DurationType seconds;
    f.Optional("heal_s", &JobSpec::heal_after, seconds, "every fault that is under way ends; missing: never");
    f.Shown().Optional("limit_s", &JobSpec::limit, seconds, "the world ends: what still runs then is `running`");
  }
};

void WalkWorkload(FieldWalk& walk) {
  const TaskNames names((JobSpec()));
  WorkloadSpec workload;
  WorkloadObject(names).Go(walk, workload);
}

}  // namespace

const Object<JobSpec>& JobObject() {
  static const JobFields job;
  return job;
}

void AppendJobObjects(std::vector<DocumentedObject>& objects) {
  objects.push_back({"a record of a cluster", WalkObject<JobFields, JobSpec>});
  objects.push_back({"cluster", WalkObject<ClusterObject, JobSpec>});
  objects.push_back({"an entry of links", WalkObject<LinkObject, LinkSpec>});
  objects.push_back({"workload", WalkWorkload});
  objects.push_back({"session of a workload", WalkObject<WorkloadSessionObject, WorkloadSpec>});
  AppendPlanObjects(objects);
}

}  // namespace vigil::replays

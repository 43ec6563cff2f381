#include "vigil/replays/format/describe_plan.h"

#include <algorithm>

#include "fmt/format.h"
#include "vigil/replays/format/job_names.h"
#include "vigil/replays/format/print_parts.h"
#include "vigil/replays/format/value_types.h"

namespace vigil::replays {
namespace {

using sim::DiskFault;
using sim::RpcFault;
using sim::SessionCallFault;
using sim::TimedFault;
using TimedKind = TimedFault::Kind;
using PointKind = sim::FaultPoint::Kind;

const IntegerType kCallOrAll({0, 1'000'000});
const DurationType kLasting;

class TaskPairType : public Typed<TimedFault> {
 public:
  explicit TaskPairType(const TaskType& task) : task_(task) {}
  void Read(const Field& field, TimedFault& out) const override {
    int count = 0;
    field.Each([&](Json item, const Place& place) {
      if (++count > 2) return;
      task_.Read(Field(field.reading(), item, place), count == 1 ? out.task : out.peer);
    });
    if (count != 2 || out.task == out.peer) field.Fail("expected a list of two tasks");
  }
  void Print(JsonWriter& w, const TimedFault& fault) const override {
    w.Open('[').String(fault.task).String(fault.peer).Close(']');
  }
  std::string Words() const override { return "list of two tasks"; }

 private:
  const TaskType& task_;
};

// How long an effect takes that takes time; others have no such field.
void CheckBy(const Field& object, std::string_view effect, std::string_view takes_time, Duration by) {
  const Field field = MemberOf(object, "by_s");
  if (effect != takes_time) {
    if (field.present())
      field.Fail(fmt::format("{} takes no time of its own, only {} does: leave 'by_s' out", effect, takes_time));
  } else if (by == Duration(0)) {
    field.Fail(fmt::format("{}, but {} needs a time: how many seconds it takes, more than 0",
                           field.present() ? field.value().Describe() : "missing", effect));
  }
}

// Which of the points of its kind: the kind is told by the name of the field.
class PointType : public Typed<TimedFault> {
 public:
  void Read(const Field& field, TimedFault& out) const override { kNumber.Read(field, out.point->n); }
  void Print(JsonWriter& w, const TimedFault& fault) const override { w.Integer(fault.point->n); }
  std::string Words() const override { return kNumber.Words(); }

 private:
  static inline const IntegerType kNumber{{1, 1'000'000'000}};
};

class TimedObject : public Object<TimedFault> {
 public:
  explicit TimedObject(const TaskNames& names) : task_(names) {}

  void Describe(Described<TimedFault>& f) const override {
    const TimedKind kind = f.value().kind;
    const auto of = [&](TimedKind wanted) { return f.When(kind == wanted, NameOf(kTimedFaults, wanted)); };
    const std::optional<sim::FaultPoint>& point = f.value().point;
    f.When(!point.has_value(), "no point of the course").Required("at_s", &TimedFault::at, kLasting, "when it happens");
    for (const Named<PointKind>& entry : kCoursePoints) {
      f.When(point.has_value() && point->kind == entry.value, "no time")
          .Required(entry.name, PointType(), AtPoint(entry.value));
    }
    for (const Named<TimedKind>& entry : kTimedFaults) {
      if (!IsBetweenTasks(entry.value)) {
        of(entry.value).Listed().Required(entry.name, &TimedFault::task, task_, Does(entry.value));
        continue;
      }
      of(entry.value).Listed().Required(entry.name, TaskPairType(task_), Does(entry.value));
      of(entry.value).Optional("one_way", &TimedFault::one_way, kFlag, "only from the first to the second");
    }
    f.When(kind == TimedKind::kCut || kind == TimedKind::kSilent, "cut, silent")
        .Optional("part_of", &TimedFault::part_of, EnumType<TimedFault::Whole>(kWholesOfLinks, "whole"),
                  "what it is one pair of, with other entries: `partition` of several tasks from several others");
    of(TimedKind::kPause).Required("for_s", &TimedFault::lasts, kLasting, "how long it stands still");
    const bool lasts = kind != TimedKind::kCrash && kind != TimedKind::kPause && kind != TimedKind::kStart &&
                       kind != TimedKind::kClockJump && kind != TimedKind::kZombie;
    f.When(lasts, "cut, silent, slow_link, slow_node, overload, clock_drift")
        .Optional("for_s", &TimedFault::lasts, kLasting, "how long; missing: for ever");
    const auto crash = of(TimedKind::kCrash);
    crash.Optional("restart_after_s", &TimedFault::restart_after, kLasting, "it starts again; missing: never");
    crash.Optional("disk", &TimedFault::disk, EnumType<sim::DiskLoss>(kDiskLosses, "disk loss"),
                   "what is left on its disk: `unsynced_lost` the power goes, `torn` and only a part of what was not "
                   "synced is left, `lost` its own disk is gone");
    crash.Optional("silently", &TimedFault::silently, kFlag,
                   "the machine goes with it: nobody is told, and its connections end only when it starts again");
    crash.Optional("in_order", &TimedFault::in_order, kFlag,
                   "it is told to stop, and its process ends when it has: a parameter server, or a worker (SIGTERM), "
                   "which does not come back");
    crash.Optional("part_of", &TimedFault::part_of, EnumType<TimedFault::Whole>(kWholesOfCrashes, "whole"),
                   "what it is one task of, with other entries: `rack` several lose their power at one moment, "
                   "`rolling_restart` one is started again after the other");
    crash.Optional(
        "elsewhere_s", &TimedFault::elsewhere, kLasting,
        "it starts again on another machine, to which its name leads so long after that; missing: on its own");
    const auto zombie = of(TimedKind::kZombie);
    zombie.Required("for_s", &TimedFault::lasts, kLasting, "how long it stands still");
    zombie.Required("restart_after_s", &TimedFault::restart_after, kLasting,
                    "a new process of the task starts on another machine");
    zombie.Optional("silently", &TimedFault::silently, kFlag,
                    "it does not stand still, but nothing gets to it or from it");
    zombie.Optional("elsewhere_s", &TimedFault::elsewhere, kLasting,
                    "the task's name leads there so long after that; missing: at once");
    of(TimedKind::kClockJump).Required("by_s", &TimedFault::by, DurationType({-1e6, 1e6}), "how far");
    of(TimedKind::kSlowLink).Shown().Optional("by_s", &TimedFault::by, kLasting, "how much longer: more than 0");
    of(TimedKind::kClockDrift)
        .Required("rate", &TimedFault::rate, NumberType({0, 1000}), "how many times as fast: more than 0");
    of(TimedKind::kSlowNode).Required("rate", &TimedFault::rate, NumberType({1, 1000}), "how many times as slow");
    of(TimedKind::kOverload)
        .Optional("at_once", &TimedFault::at_once, IntegerType({1, 1'000'000}),
                  "how many requests it handles at a time");
  }
  void Complete(const Field& object, TimedFault& fault) const override {
    const std::string_view slow = NameOf(kTimedFaults, TimedKind::kSlowLink);
    if (fault.kind == TimedKind::kSlowLink) CheckBy(object, slow, slow, fault.by);
    if (fault.kind == TimedKind::kClockDrift && fault.rate == 0) {
      object.reading().Fail(
          Place{&object.place(), "rate"},
          "0, but a clock runs: say how many times as fast, more than 0 and at most 1000 (to stand still: pause)");
    }
    if (fault.kind == TimedKind::kZombie && fault.task.starts_with("ps"))
      MemberOf(object, NameOf(kTimedFaults, TimedKind::kZombie))
          .Fail(fmt::format("{}, but a parameter server is its variables: two of one would be two models, and no judge "
                            "knows which is right; say a task that trains",
                            fault.task));
    if (fault.kind == TimedKind::kCrash && fault.in_order) CheckInOrder(object, fault);
    if (fault.kind == TimedKind::kCrash && fault.elsewhere.has_value() && !fault.restart_after.has_value())
      MemberOf(object, "elsewhere_s")
          .Fail(fmt::format("{:g}, but it never starts again: say when with 'restart_after_s'",
                            ToSeconds(*fault.elsewhere)));
  }

 private:
  static void CheckInOrder(const Field& object, const TimedFault& fault) {
    const Field in_order = MemberOf(object, "in_order");
    const bool trains = fault.task.starts_with("worker");
    if (!trains && !fault.task.starts_with("ps"))
      in_order.Fail(
          fmt::format("true, but of {} nobody knows what then becomes of the training: say a parameter server "
                      "or a worker",
                      fault.task));
    if (trains && fault.restart_after.has_value())
      in_order.Fail(fmt::format("true, but {} has ended then, and does not start again: leave 'restart_after_s' out",
                                fault.task));
    if (fault.silently || fault.disk != sim::DiskLoss::kNothing || fault.point.has_value())
      in_order.Fail(
          "true, but a process that ends in good order loses nothing, and at no point of the course: leave "
          "'silently', 'disk' and the point out");
  }
  static std::string_view AtPoint(PointKind kind) {
    switch (kind) {
      case PointKind::kSent:
        return "in place of a time: when the n-th message between two tasks is sent, from the start of the job";
      case PointKind::kDelivered:
        return "when the n-th message between two tasks has arrived";
      case PointKind::kFileOp:
        return "before the n-th operation on a file, of all tasks";
    }
    return "";
  }
  static std::string_view Does(TimedKind kind) {
    switch (kind) {
      case TimedKind::kCrash:
        return "its process ends";
      case TimedKind::kPause:
        return "it stands still; its connections stay open";
      case TimedKind::kStart:
        return "it starts only now";
      case TimedKind::kCut:
        return "connections are reset and refused";
      case TimedKind::kSilent:
        return "nothing passes, nothing is closed";
      case TimedKind::kClockJump:
        return "its wall clock jumps";
      case TimedKind::kClockDrift:
        return "its wall clock runs faster or slower";
      case TimedKind::kSlowLink:
        return "every message takes longer";
      case TimedKind::kSlowNode:
        return "its work and every request to it take longer";
      case TimedKind::kOverload:
        return "it handles `at_once` requests at a time, the others wait for their turn";
      case TimedKind::kZombie:
        return "it stands still, is taken for dead and followed by a new process; then it goes on beside that one, "
               "until "
               "all faults end";
    }
    return "";
  }

  TaskType task_;
};

class RpcObject : public Object<RpcFault> {
 public:
  explicit RpcObject(const TaskNames& names) : task_(names) {}

  void Describe(Described<RpcFault>& f) const override {
    f.Required("rpc", &RpcFault::method, OneOfType(kRpcMethods, "method"), "which request; \"\" = any");
    f.Optional("from", &RpcFault::from, task_, "who asks; missing: any");
    f.Optional("to", &RpcFault::to, task_, "who is asked; missing: any");
    f.Shown().Optional("call", &RpcFault::call, kCallOrAll, "which of them; 0 = every one");
    f.Shown().Optional("effect", &RpcFault::effect, EnumType<RpcFault::Effect>(kRpcEffects, "effect"),
                       "what happens to it");
    f.Shown().Optional("code", &RpcFault::code, kErrorCode, "the error");
    f.Optional("by_s", &RpcFault::by, kLasting, "of `delayed`, which needs it: more than 0");
  }
  void Complete(const Field& object, RpcFault& fault) const override {
    CheckBy(object, NameOf(kRpcEffects, fault.effect), NameOf(kRpcEffects, RpcFault::Effect::kDelayed), fault.by);
  }

 private:
  TaskType task_;
};

class DiskObject : public Object<DiskFault> {
 public:
  explicit DiskObject(const TaskNames& names) : task_(names) {}

  void Describe(Described<DiskFault>& f) const override {
    f.Required("disk", &DiskFault::task, task_, "whose disk");
    f.Shown().Optional("op", &DiskFault::op, OneOfType(kDiskOps, "op"), "which operation on a file; \"\" = any");
    f.Optional("path", &DiskFault::path, kText, "a text that its path has in it");
    f.Shown().Optional("call", &DiskFault::call, kCallOrAll, "which of them; 0 = every one");
    f.Required("code", &DiskFault::effect, EnumType<DiskFault::Effect>(kDiskEffects, "code of a disk"),
               "what happens to it");
    f.Optional("by_s", &DiskFault::by, kLasting, "of `SLOW` and `STALE`, which need it: more than 0");
    f.Optional("at_s", &DiskFault::at, kLasting, "operations count from then on; missing: from the start of the job");
    f.Optional("for_s", &DiskFault::lasts, kLasting, "... for so long, from the begin of the plan or `at_s`");
  }
  void Complete(const Field& object, DiskFault& fault) const override {
    const bool stale = fault.effect == DiskFault::Effect::kStale;
    const std::string_view takes_time = NameOf(kDiskEffects, stale ? fault.effect : DiskFault::Effect::kSlow);
    CheckBy(object, NameOf(kDiskEffects, fault.effect), takes_time, fault.by);
    if (stale && fault.op != fakes::FileOpName(fakes::FileOp::kList))
      MemberOf(object, "op").Fail(fmt::format("{} is of listings: say 'list'", takes_time));
    const bool of_a_file = fault.effect == DiskFault::Effect::kBitRot || fault.effect == DiskFault::Effect::kGone;
    const bool on_a_directory = fault.op == fakes::FileOpName(fakes::FileOp::kList) ||
                                fault.op == fakes::FileOpName(fakes::FileOp::kMakeDirectory);
    if (of_a_file && on_a_directory)
      MemberOf(object, "op").Fail("a directory is no file: say which operation on a file, as 'read'");
  }

 private:
  TaskType task_;
};

class SessionCallObject : public Object<SessionCallFault> {
 public:
  explicit SessionCallObject(const TaskNames& names) : task_(names) {}

  void Describe(Described<SessionCallFault>& f) const override {
    f.Required("session", &SessionCallFault::task, task_, "whose raw session");
    f.Required("at", &SessionCallFault::at, EnumType<CallKind>(kCallKinds, "session call"), "which kind of call");
    f.Shown().Optional("call", &SessionCallFault::call, kCallOrAll, "which of them; 0 = every one");
    f.Shown().Optional("code", &SessionCallFault::code, kErrorCode, "the error");
    f.Optional("lost_reply", &SessionCallFault::lost_reply, kFlag, "it fails after it took effect");
  }

 private:
  TaskType task_;
};

template <typename S>
void ReadInto(const Object<S>& object, Fields& fields, const Field& entry, S& out) {
  object.ReadFields(fields, out);
  fields.Finish();
  if (entry.reading().ok()) object.Complete(entry, out);
}

constexpr std::string_view kRpcEntry = "rpc";
constexpr std::string_view kDiskEntry = "disk";
constexpr std::string_view kSessionEntry = "session";

// The fields of an entry that say what it does. A disk does so with an operation only: without, it is of a crash.
std::vector<std::string_view> KindsOf(const Json& entry) {
  std::vector<std::string_view> kinds;
  const auto add = [&](std::string_view name) {
    if (HasMember(entry, name)) kinds.push_back(name);
  };
  add(kRpcEntry);
  if (HasMember(entry, "op")) add(kDiskEntry);
  add(kSessionEntry);
  for (const Named<TimedKind>& known : kTimedFaults) add(known.name);
  return kinds;
}

// The field that tells what an entry does; fails unless it does one thing. What else it may have, its kind says.
std::string_view KindOf(const Field& entry) {
  const std::vector<std::string_view> kinds = KindsOf(entry.value());
  if (kinds.size() > 1) {
    const Field second = MemberOf(entry, kinds[1]);
    second.Fail(fmt::format("{}, but an entry of a plan does one thing, and this one has '{}': write two entries",
                            second.value().Describe(), kinds[0]));
    return "";
  }
  const std::string_view crash = NameOf(kTimedFaults, TimedKind::kCrash);
  const std::string_view kind = kinds.empty() ? "" : kinds[0];
  const Field disk = MemberOf(entry, kDiskEntry);
  if (disk.present() && kind.empty()) {
    disk.Fail(fmt::format("{}, but nothing happens to it: say at which operation on a file with 'op'",
                          disk.value().Describe()));
  } else if (disk.present() && kind != kDiskEntry && kind != crash) {
    disk.Fail(fmt::format("{}, but '{}' does nothing to a disk, only '{}' does: leave 'disk' out",
                          disk.value().Describe(), kind, crash));
  } else if (kind.empty()) {
    std::string names = fmt::format("{}, {}, {}", kRpcEntry, kDiskEntry, kSessionEntry);
    for (const Named<TimedKind>& known : kTimedFaults) Field::AppendKnown(names, known.name);
    entry.Fail(fmt::format("nothing happens; known: {}", names));
  }
  return kind;
}

// Whether it begins at a point of the course instead of a time; fails unless it begins once.
bool FindPoint(const Field& entry, std::optional<sim::FaultPoint>& out) {
  std::string points;
  for (const Named<PointKind>& known : kCoursePoints) {
    Field::AppendKnown(points, known.name);
    if (!HasMember(entry.value(), known.name)) continue;
    if (out.has_value() || HasMember(entry.value(), "at_s")) {
      entry.Fail(fmt::format("{}, and another moment: an entry of a plan happens once", known.name));
      return false;
    }
    out = sim::FaultPoint{known.value, 1};
  }
  const bool begins = out.has_value() || HasMember(entry.value(), "at_s");
  if (!begins) entry.Fail(fmt::format("missing field 'at_s', or in its place one of {}", points));
  return begins;
}

template <typename S, typename O>
void WalkEntry(FieldWalk& walk) {
  const TaskNames names((sim::JobSpec()));
  S value;
  O(names).Go(walk, value);
}

}  // namespace

void TaskNames::Check(const Field& field, std::string_view name) const {
  if (!field.present() || std::ranges::find(names_, name) != names_.end()) return;
  std::string known;
  for (const std::string& task : names_) Field::AppendKnown(known, task);
  field.Unknown("task", name, known);
}

void PlanType::Read(const Field& field, sim::FaultPlan& out) const {
  field.Each([&](Json item, const Place& place) { ReadEntry(Field(field.reading(), item, place), out); });
}

void PlanType::ReadEntry(const Field& entry, sim::FaultPlan& out) const {
  Fields fields(entry.reading(), entry.value(), entry.place());
  if (!entry.reading().ok()) return;
  const std::string_view kind = KindOf(entry);
  if (!entry.reading().ok()) return;
  if (kind == kRpcEntry) return ReadInto(RpcObject(names_), fields, entry, out.rpcs.emplace_back());
  if (kind == kDiskEntry) return ReadInto(DiskObject(names_), fields, entry, out.disks.emplace_back());
  if (kind == kSessionEntry)
    return ReadInto(SessionCallObject(names_), fields, entry, out.session_calls.emplace_back());
  TimedFault fault;
  fault.kind = FromName(kTimedFaults, kind).value_or(fault.kind);
  if (FindPoint(entry, fault.point)) ReadInto(TimedObject(names_), fields, entry, out.timed.emplace_back(fault));
}

void PlanType::Print(JsonWriter& w, const sim::FaultPlan& plan) const {
  using List = sim::InertFault::List;
  w.Open('[');
  for (std::size_t i = 0; i < plan.timed.size(); ++i) PrintPlanEntry(w, plan, List::kTimed, i);
  for (std::size_t i = 0; i < plan.rpcs.size(); ++i) PrintPlanEntry(w, plan, List::kRpcs, i);
  for (std::size_t i = 0; i < plan.disks.size(); ++i) PrintPlanEntry(w, plan, List::kDisks, i);
  for (std::size_t i = 0; i < plan.session_calls.size(); ++i) PrintPlanEntry(w, plan, List::kSessionCalls, i);
  w.Close(']');
}

void PrintPlanEntry(JsonWriter& w, const sim::FaultPlan& plan, sim::InertFault::List list, std::size_t index) {
  static const TaskNames names((sim::JobSpec()));  // a printer does not ask which there are
  switch (list) {
    case sim::InertFault::List::kTimed:
      return TimedObject(names).Print(w, plan.timed[index]);
    case sim::InertFault::List::kRpcs:
      return RpcObject(names).Print(w, plan.rpcs[index]);
    case sim::InertFault::List::kDisks:
      return DiskObject(names).Print(w, plan.disks[index]);
    case sim::InertFault::List::kSessionCalls:
      return SessionCallObject(names).Print(w, plan.session_calls[index]);
  }
}

void AppendPlanObjects(std::vector<DocumentedObject>& objects) {
  objects.push_back({"an entry of a plan: at a time", WalkEntry<TimedFault, TimedObject>});
  objects.push_back({"an entry of a plan: a request", WalkEntry<RpcFault, RpcObject>});
  objects.push_back({"an entry of a plan: an operation on a file", WalkEntry<DiskFault, DiskObject>});
  objects.push_back({"an entry of a plan: a call on a session", WalkEntry<SessionCallFault, SessionCallObject>});
}

}  // namespace vigil::replays

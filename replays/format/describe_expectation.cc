// What was recorded: "expect".
#include <string>

#include "vigil/replays/format/objects.h"
#include "vigil/replays/format/value_types.h"

namespace vigil::replays {
namespace {

class FinalStateObject : public Object<FinalState> {
  void Describe(Described<FinalState>& f) const override {
    f.Required("checkpoints", &FinalState::checkpoints, kStepNumber, "the steps that have a checkpoint file");
    f.Optional("latest", &FinalState::latest, kText, "as the state file calls it; `invalid`: it names none");
    const ListOf<std::string> names(kText);
    f.Optional("all", &FinalState::all, names, "... all of them; neither of the two: no readable state file");
    f.Optional("events_files", &FinalState::events_files, kCount, "how many there are; missing: not compared");
  }
};

class ExpectationFields : public Object<Expectation> {
  void Describe(Described<Expectation>& f) const override {
    f.Optional("violates", &Expectation::violates, kName, "of a saved failure, and nothing else then: the rule");
    const auto recorded = f.When(f.value().violates.empty(), "a recording");
    recorded.Required("events", &Expectation::events, kText, "compared one by one");
    recorded.Optional("final", &Expectation::final, FinalStateObject(), "what is left; missing: not compared");
    recorded.Optional("messages", &Expectation::messages, kText, "for reading");
  }
};

// The least and the most.
template <typename T>
class SpanType : public Typed<Span<T>> {
 public:
  explicit SpanType(const Typed<T>& number) : number_(number) {}
  void Read(const Field& field, Span<T>& out) const override {
    int count = 0;
    field.Each([&](Json item, const Place& place) {
      number_.Read(Field(field.reading(), item, place), count++ == 0 ? out.least : out.most);
    });
    if (count != 2) field.Fail("expected a list of two numbers: the least and the most");
    if (out.most < out.least) field.Fail("the most is less than the least");
  }
  void Print(JsonWriter& w, const Span<T>& span) const override {
    number_.Print(w.Open('['), span.least);
    number_.Print(w, span.most);
    w.Close(']');
  }
  std::string Words() const override { return "least and most: " + number_.Words(); }

 private:
  const Typed<T>& number_;
};

const SpanType<std::int64_t> kTimes(kStepNumber);
const SpanType<double> kSecondsSpan(kSecs);

class TaskExpectationObject : public Object<TaskExpectation> {
  using Task = TaskExpectation;
  void Describe(Described<Task>& f) const override {
    f.Required("outcome", &Task::outcome, kText, "how its last life ended: `clean`, a code, `killed`, `running`");
    f.Required("sessions", &Task::sessions, kTimes, "how often AfterCreateSession was called");
    f.Required("run_failed", &Task::run_failed, kErrorCode, "codes with which a run (below the recovery) failed");
    f.Required("run_failed_times", &Task::run_failed_times, kTimes, "... and how often in one play");
    f.Required("create_failed", &Task::create_failed, kErrorCode, "codes with which the creation of a session failed");
    f.Required("create_failed_times", &Task::create_failed_times, kTimes, "... and how often in one play");
    f.Required("step_back_silent_times", &Task::step_back_silent_times, kTimes,
               "how often the step went back without a new session of this task");
    f.Optional("step_back_silent", &Task::step_back_silent, kTimes, "... and by how many steps");
    f.Required("step_back_recovered_times", &Task::step_back_recovered_times, kTimes, "... and right after a new one");
    f.Optional("step_back_recovered", &Task::step_back_recovered, kTimes, "... and by how many steps");
    f.Required("longest_run_s", &Task::longest_run_s, kSecondsSpan, "the longest run as its caller saw it");
    f.Optional("opened_after_s", &Task::opened_after_s, kSecondsSpan,
               "from the start of the process to its open session");
    f.Optional("last_step", &Task::last_step, kTimes, "the greatest step that a run came back with");
    f.Required("hook_end", &Task::hook_end, kTimes, "how often End was called");
    f.Optional("texts", &Task::texts, kText, "for reading");
  }
};

// Null is printed, too.
class NewestType : public Typed<std::optional<Span<std::int64_t>>> {
 public:
  void Read(const Field& field, std::optional<Span<std::int64_t>>& out) const override {
    if (!field.value().is_null()) kTimes.Read(field, out.emplace());
  }
  void Print(JsonWriter& w, const std::optional<Span<std::int64_t>>& newest) const override {
    newest.has_value() ? kTimes.Print(w, *newest) : static_cast<void>(w.Null());
  }
  std::string Words() const override { return kTimes.Words() + ", or null"; }
};

class TaskPlayObject : public Object<TaskPlay> {
  using Task = TaskPlay;
  void Describe(Described<Task>& f) const override {
    f.Required("outcome", &Task::outcome, kText, "how its last life ended: `clean`, a code, `killed`, `running`");
    f.Required("sessions", &Task::sessions, kStepNumber, "how often AfterCreateSession was called");
    f.Required("run_failed", &Task::run_failed, kErrorCode, "the code of each run that failed, in order");
    f.Required("create_failed", &Task::create_failed, kErrorCode, "... and of each creation of a session");
    const ListOf<std::int64_t> steps(kStepNumber);
    f.Required("step_back_silent", &Task::step_back_silent, steps,
               "by how much the step went back, each time, without a new session of this task");
    f.Required("step_back_recovered", &Task::step_back_recovered, steps, "... and right after a new one");
    f.Required("longest_run_s", &Task::longest_run_s, kSecs, "the longest run as its caller saw it");
    f.Optional("opened_after_s", &Task::opened_after_s, kSecs,
               "from the start of the process to its open session; missing: it never opened one");
    f.Optional("last_step", &Task::last_step, kStepNumber, "the greatest step that a run came back with");
    f.Required("hook_end", &Task::hook_end, kStepNumber, "how often End was called");
    f.Optional("text", &Task::text, kText, "for reading");
  }
};

class JobPlayObject : public Object<JobPlay> {
  void Describe(Described<JobPlay>& f) const override {
    const TaskPlayObject task;
    f.Required("tasks", &JobPlay::tasks, MapOf<TaskPlay>(task), "of every task but the parameter servers");
    f.Optional("newest_checkpoint", &JobPlay::newest_checkpoint, kStepNumber,
               "the step of the newest file at the end; missing: there was none");
  }
};

class JobExpectationFields : public Object<JobExpectation> {
  void Describe(Described<JobExpectation>& f) const override {
    const TaskExpectationObject task;
    f.Required("tasks", &JobExpectation::tasks, MapOf<TaskExpectation>(task),
               "of every task but the parameter servers, over all plays and all lives of the task");
    f.Shown().Optional("newest_checkpoint", &JobExpectation::newest_checkpoint, NewestType(),
                       "the step of the newest file at the end; null, or missing: there was none");
    f.Shown().Optional("repeats", &JobExpectation::repeats, kCount, "the number of plays");
    const JobPlayObject play;
    f.Optional("plays", &JobExpectation::plays, ListOf<JobPlay>(play),
               "each by itself: then how often each way was taken is compared, too");
  }
};

}  // namespace

const Object<Expectation>& ExpectationObject() {
  static const ExpectationFields expectation;
  return expectation;
}

const Object<JobExpectation>& JobExpectationObject() {
  static const JobExpectationFields expectation;
  return expectation;
}

void AppendExpectationObjects(std::vector<DocumentedObject>& objects) {
  objects.push_back({"expect", WalkObject<ExpectationFields, Expectation>});
  objects.push_back({"final", WalkObject<FinalStateObject, FinalState>});
  objects.push_back({"expect of a cluster", WalkObject<JobExpectationFields, JobExpectation>});
  objects.push_back({"what is expected of a task", WalkObject<TaskExpectationObject, TaskExpectation>});
  objects.push_back({"a play of a cluster", WalkObject<JobPlayObject, JobPlay>});
  objects.push_back({"what a task did in a play", WalkObject<TaskPlayObject, TaskPlay>});
}

}  // namespace vigil::replays

// A scenario: what a caller, its hooks and the environment do to one session. Data only.
//
// The one format for everything that is played: recorded from TensorFlow, written by hand, generated, saved from a
// failure. docs/scenario_format.md describes the JSON; parse.h reads it, print.h writes it, runner.h plays it. What
// really happened (`expect`) is not part of a Scenario: the runner never sees it.
//
// A field that is missing in the file has its default here; null and missing differ only where the type is ArgValue.
#ifndef VIGIL_REPLAYS_FORMAT_SCENARIO_H_
#define VIGIL_REPLAYS_FORMAT_SCENARIO_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/session/run_options.h"
#include "vigil/sim/cluster/job_spec.h"

namespace vigil::replays {

// An argument of a built-in hook, a session or a supervisor as written in the file; monostate = null ("passed as
// none").
using ArgVariant = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>>;
// A variant (std::get, std::visit work on it) whose copying and destroying stand in one source.
struct ArgValue : ArgVariant {
  using ArgVariant::ArgVariant;
  using ArgVariant::operator=;
  ArgValue();
  ArgValue(const ArgValue& other);
  ArgValue(ArgValue&& other) noexcept;
  ArgValue& operator=(const ArgValue& other);
  ArgValue& operator=(ArgValue&& other) noexcept;
  ~ArgValue();
};
using Args = std::map<std::string, ArgValue, std::less<>>;

enum class SessionKind { kMonitored, kSingular, kTraining, kSupervisor };

// What a probe (or a listener) does at a call of one of its methods.
enum class Action {
  kRaise,
  kRequestStop,
  kReport,
  kCoordinatorStop,
  kReadStep,
  kFetch,
  kFeed,
  kOptions,      // asks for RunOptions
  kShow,         // says which results, options and trace the run came back with
  kStartThread,  // registers a thread with the coordinator that hears of no stop
};

// What a run fetches, nested: the name of a tensor or op of the model, a list, or an object of such.
struct FetchSpec {
  enum class Kind { kName, kList, kMap };
  Kind kind = Kind::kName;
  std::string name;               // step, train, fed, loss, base, train_op, or missing: in no graph
  std::vector<std::string> keys;  // of a map, as items
  std::vector<FetchSpec> items;   // of a list or a map
  friend bool operator==(const FetchSpec&, const FetchSpec&) = default;
};

struct PlanEntry {
  std::string method;               // begin, after_create_session, before_run, after_run, end; before_save, after_save
  std::vector<std::int64_t> calls;  // counted from 1 over the hook's life; empty = every call (null in the file)
  Action action = Action::kRaise;
  Code code = Code::kOk;              // of raise and report
  std::string what;                   // of fetch: the name of a tensor
  std::int64_t value = 0;             // of feed; of start_thread: how many seconds it is deaf
  std::optional<FetchSpec> nested;    // of fetch, if it is no single name
  std::optional<RunOptions> options;  // of options
  friend bool operator==(const PlanEntry&, const PlanEntry&) = default;
};

struct ListenerSpec {
  std::string name;
  std::vector<PlanEntry> plan;
  friend bool operator==(const ListenerSpec&, const ListenerSpec&) = default;
};

struct HookSpec {
  std::string hook;                     // "probe" or a built-in hook
  std::string name;                     // of a probe
  std::vector<PlanEntry> plan;          // of a probe
  std::vector<ListenerSpec> listeners;  // of checkpoint_saver
  Args args;                            // of a built-in hook
  friend bool operator==(const HookSpec&, const HookSpec&) = default;
};

// Where the environment can interfere; counted over the whole scenario, failed calls included.
enum class FaultPoint {
  kCreate,
  kRestore,
  kInit,
  kInitFn,
  kReadyForLocalInit,
  kLocalInit,
  kReady,
  kQueueRunners,
  kRun,
  kReadStep,
  kRawRun,
  kSave,
  kSummary,
  kFinalOps,
  kClose,
  kSleep,
  kWrite,    // to a file
  kEnqueue,  // a queue runner's call, in its own thread
};

struct Fault {
  FaultPoint at = FaultPoint::kRun;
  std::vector<std::int64_t> calls;
  std::optional<Code> code;
  bool lost_reply = false;  // fails after it took effect
  bool not_ready =
      false;  // of a question for readiness: the error says that a variable is uninitialized, which means "no"
  std::optional<std::int64_t> advance_step;
  std::optional<std::int64_t> chief_init;
  bool sigterm = false;  // the process is told to end
  std::string file;      // of write: part of the file's name
  friend bool operator==(const Fault&, const Fault&) = default;
};

enum class Op {
  kRun,
  kLoop,
  kShouldStop,
  kClose,
  kRaise,
  kAdvance,
  kClock,
  kStep,
  kRawRun,        // inside a step
  kRunWithHooks,  // inside a step
  kRequestStop,   // inside a step; of a supervisor
  // Of a supervisor:
  kPrepare,
  kGuarded,
  kStop,
  kStartServices,
  kService,
  kSummaryComputed,
  kStartThread,
  kStartLoop,
};

struct Statement {
  Op op = Op::kRun;
  bool catch_error = false;                  // "catch"
  std::optional<std::int64_t> feed;          // run, run_with_hooks
  std::int64_t times = 1;                    // run
  bool fetch_missing = false;                // run with "fetch": "missing"
  std::optional<FetchSpec> fetch;            // run, run_with_hooks: any other "fetch"
  std::optional<RunOptions> options;         // run, run_with_hooks
  bool metadata = false;                     // run, run_with_hooks: says whether the run was traced
  std::int64_t max = 0;                      // loop
  std::optional<Code> code;                  // raise, request_stop, start_loop
  double secs = 0;                           // advance, start_thread, start_loop
  double every_secs = 0;                     // start_loop
  std::optional<std::int64_t> on_call;       // inside a step
  std::optional<double> max_wait_secs;       // prepare
  std::optional<bool> close_summary_writer;  // stop
  std::optional<bool> ignore_live_threads;   // stop
  std::string name;                          // service
  std::optional<std::int64_t> step;          // summary_computed
  std::vector<Statement> body;               // loop, step, guarded
  friend bool operator==(const Statement&, const Statement&) = default;
};

struct ModelSpec {
  bool global_step = true;
  std::int64_t steps_per_run = 1;
  std::optional<std::int64_t> nan_at;
  std::optional<std::int64_t> batches;
  bool queue_input = false;  // "input": "queue" (else "range")
  bool local_variable = false;
  bool fed_variable = false;  // one whose initial value must be fed to the init op
  std::string device;
  bool summary = false;
  double run_secs = 0;
  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

enum class Damage { kNone, kEmptyState, kGarbageState, kMissingState, kMissingIndex, kMissingData };

struct CheckpointSpec {
  bool dir = false;
  std::optional<std::int64_t> filename;
  std::vector<std::int64_t> preload;
  std::optional<std::int64_t> preload_keep;
  Damage damage = Damage::kNone;
  bool events = false;  // an earlier process of this very second left an events file
  friend bool operator==(const CheckpointSpec&, const CheckpointSpec&) = default;
};

struct SessionSpec {
  SessionKind kind = SessionKind::kMonitored;
  bool shared_state = false;
  std::vector<HookSpec> chief_only_hooks;
  Args args;  // everything else of training and supervisor, as given
  friend bool operator==(const SessionSpec&, const SessionSpec&) = default;
};

// "behaviour": the names of the switches are those of Behaviour (core/base/behaviour.h).
struct BehaviourSpec {
  std::string name = "tensorflow";  // tensorflow, default, or "switches"
  std::map<std::string, bool, std::less<>> switches;
  friend bool operator==(const BehaviourSpec&, const BehaviourSpec&) = default;
};

// A unit recording (timer, coordinator, saver, arguments): not a session. Its operations are typed by their own fields.
struct UnitOp {
  std::string op;
  Args args;
  Args made_with;  // of new_saver and new_manager: "args", the constructor arguments
  friend bool operator==(const UnitOp&, const UnitOp&) = default;
};
struct UnitSpec {
  std::string unit;
  std::string hook;  // unit "arguments"
  Args args;
  std::optional<std::vector<Code>> clean;          // unit "coordinator"
  std::map<std::string, bool, std::less<>> flags;  // begin, global_step
  std::vector<UnitOp> ops;
  BehaviourSpec behaviour;  // the scenario's
  friend bool operator==(const UnitSpec&, const UnitSpec&) = default;
};

struct Limits {
  std::int64_t events = 600;
  double virtual_s = 0;  // 0 = none
  friend bool operator==(const Limits&, const Limits&) = default;
};

struct TraceSpec;  // trace_spec.h

struct Scenario {
  std::string id;
  std::string title;
  std::int64_t format = 1;
  std::uint64_t seed = 0;
  BehaviourSpec behaviour;
  SessionSpec session;
  bool scope_with = true;  // "scope": "with" | "bare"
  ModelSpec model;
  bool init_fn = false;                   // "scaffold": {"init_fn": true}
  std::optional<std::int64_t> init_feed;  // "scaffold": what is fed to the fed variable's initial value
  CheckpointSpec checkpoint;
  std::vector<HookSpec> hooks;
  std::vector<Fault> faults;
  std::vector<Statement> drive;
  std::vector<Statement> after;
  Limits limits;
  // Choices made by the scheduler and others, as labels under "node/task/point", in order; absent ones take the calm
  // default.
  std::map<std::string, std::vector<std::string>, std::less<>> choices;
  std::optional<UnitSpec> unit;            // then nothing of a session applies
  std::optional<sim::JobSpec> job;         // a cluster ("cluster", "workload", "plan", "limit_s", "no_wait"): the same
  std::shared_ptr<const TraceSpec> trace;  // a traced production run: the same; print.h leaves it out
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

struct FinalState {
  std::vector<std::int64_t> checkpoints;
  std::optional<std::string> latest;
  std::optional<std::vector<std::string>> all;
  std::optional<std::int64_t> events_files;  // how many; expected: absent = not compared
  friend bool operator==(const FinalState&, const FinalState&) = default;
};

struct JobExpectation;  // job_expectation.h

// "expect": what really happened; or, of a saved failure, which rule it violates.
struct Expectation {
  std::vector<std::string> events;
  std::optional<FinalState> final;            // absent (unit recordings): not compared
  std::vector<std::string> messages;          // for reading, not for comparing
  std::string violates;                       // id of a rule; then events and final are not compared
  std::shared_ptr<const JobExpectation> job;  // of a cluster: then neither are they
  friend bool operator==(const Expectation&, const Expectation&) = default;
};

struct Recording {
  Scenario scenario;
  std::optional<Expectation> expect;
  std::string source;       // the file (or "-") it came from
  std::int64_t record = 1;  // line in a .jsonl, 1 in a .json
  std::string note;         // what a reader should know of it, though it is no error; one line
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_SCENARIO_H_

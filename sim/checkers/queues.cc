// Queues, element by element: what servers were asked to do with each, from the call to the return, and what the
// replicas got of it.
//
// * On its server a queue is a queue: some order of the operations that overlapped explains every element taken, every
//   end of the input (it was closed, and empty, or had less than was asked for) and every size. No order explains an
//   element that was lost, came twice or overtook another; but one that shuffles may give any, until it is closed not
//   its last few. The queue of a server that died is gone with it.
// * A run that returned has taken an element before it did, and the one that it says. Over a whole job a replica takes
//   at most one, or one batch, for each attempt: an attempt that fails loses what it has taken, and may take it late.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/sim/checkers/attempts.h"
#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/linearizability.h"
#include "vigil/sim/workloads/input_pipeline.h"

namespace vigil::sim {
namespace {

using Elements = std::vector<std::int64_t>;

struct QueueModel {
  struct State {
    bool closed = false;
    std::int64_t lent = 0;    // at most so many of them are in the hands of those that will give them back
    std::int64_t gone = 0;    // so many of them are no more in it: nobody knows which
    std::int64_t taker = -1;  // who has taken a part of what it takes: until it has the rest it is its turn
    std::int64_t parts = 0;   // ... and how many
    Elements elements = {};   // of a queue that shuffles in the order of their values
    friend auto operator<=>(const State&, const State&) = default;

    std::int64_t size() const { return std::ssize(elements) - gone; }
  };
  struct Operation {
    enum class Does : std::uint8_t {
      kPut,
      kRenew,
      kTake,
      kTakeUnknown,
      kFindEnd,
      kLend,
      kGiveBack,
      kClose,
      kOpen,
      kSize
    };
    Does kind = Does::kPut;
    Elements elements = {};
    std::int64_t number = 0;  // of kPut: the capacity; of kFindEnd: what is too few; of kSize, kLend, kGiveBack
    std::int64_t shuffled_above = -1;  // as QueueOp's
    // Of kTake: which of how many, by the same.
    std::int64_t taker = -1;
    std::int64_t part = 0;
    std::int64_t parts = 1;
    Elements batch = {};  // of the first part: what all of them take
    friend bool operator==(const Operation&, const Operation&) = default;
  };

  static bool Free(const State&, const Operation&) { return false; }
  static bool Before(const Operation&, const Operation&) { return false; }
  static bool Alike(const State& state, const Operation& first, const Operation& second);
  static std::optional<State> Apply(const State& state, const Operation& operation);
};

void Add(const QueueModel::Operation& operation, Elements& elements) {
  elements.insert(elements.end(), operation.elements.begin(), operation.elements.end());
  if (operation.shuffled_above >= 0) std::ranges::sort(elements);
}

// The one that is taken; none: it cannot be now.
std::optional<QueueModel::State> WithoutTaken(QueueModel::State state, const QueueModel::Operation& operation) {
  const bool shuffled = operation.shuffled_above >= 0;
  const bool known = operation.kind == QueueModel::Operation::Does::kTake;
  if (state.size() <= (state.closed ? 0 : std::max<std::int64_t>(0, operation.shuffled_above))) return {};
  if (shuffled && !known) {
    ++state.gone;
    return state;
  }
  auto taken = state.elements.begin();
  if (shuffled) taken = std::ranges::find(state.elements, operation.elements.front());
  if (taken == state.elements.end() || (known && *taken != operation.elements.front())) return {};
  state.elements.erase(taken);
  return state;
}

std::optional<QueueModel::State> QueueModel::Apply(const State& state, const Operation& operation) {
  using Does = Operation::Does;
  const std::int64_t least_size = state.size() - state.lent;
  State next = state;
  switch (operation.kind) {
    case Does::kPut:
      // Several are put in one after the other, as there is room.
      if (state.closed || (operation.elements.size() == 1 && operation.number >= 0 && least_size >= operation.number))
        return {};
      Add(operation, next.elements);
      return next;
    case Does::kRenew:
      return State{.lent = state.lent, .taker = state.taker, .parts = state.parts, .elements = operation.elements};
    case Does::kTake: {
      const bool goes_on = state.taker >= 0;
      if (goes_on ? state.taker != operation.taker || state.parts != operation.part : operation.part != 0) return {};
      const bool over = operation.part + 1 == operation.parts;
      next.taker = over ? -1 : operation.taker;
      next.parts = over ? 0 : operation.part + 1;
      return WithoutTaken(std::move(next), operation);
    }
    case Does::kTakeUnknown:
      return WithoutTaken(std::move(next), operation);
    case Does::kFindEnd:
      return state.closed && state.size() < operation.number ? std::optional(state) : std::nullopt;
    case Does::kLend:
      next.lent += operation.number;
      return next;
    case Does::kGiveBack:
      next.lent -= operation.number;
      return next.lent >= 0 ? std::optional(next) : std::nullopt;
    case Does::kClose:
      next.closed = true;
      return next;
    case Does::kOpen:
      next.closed = false;
      return next;
    case Does::kSize:
      return least_size <= operation.number && operation.number <= state.size() ? std::optional(state) : std::nullopt;
  }
  return {};
}

// Two that take from a queue which shuffles, as much each, do not disturb each other, if all that the first takes is
// there and may go. It holds where no value is in the queue twice, as in all inputs that are drawn.
bool QueueModel::Alike(const State& state, const Operation& first, const Operation& second) {
  if (first.kind != Operation::Does::kTake || second.kind != Operation::Does::kTake || first.shuffled_above < 0 ||
      first.part != 0 || second.part != 0 || first.parts != second.parts || state.taker >= 0) {
    return false;
  }
  const std::int64_t stay = state.closed ? 0 : first.shuffled_above;
  return state.size() - first.parts >= stay && std::ranges::includes(state.elements, first.batch);
}

using Operations = std::vector<QueueModel::Operation>;

// One who takes several takes them one by one as they come, and gives them back if they do not become enough.
Operations TakesOf(const QueueOp& op, std::optional<Code> end, std::int64_t taker) {
  using Does = QueueModel::Operation::Does;
  const std::int64_t above = op.shuffled_above;
  if (!end.has_value()) {
    return Operations(static_cast<std::size_t>(op.most), {.kind = Does::kTakeUnknown, .shuffled_above = above});
  }
  Operations all;
  if (end == Code::kOk) {
    for (const std::int64_t element : op.elements) {
      all.push_back({.kind = Does::kTake,
                     .elements = {element},
                     .shuffled_above = above,
                     .taker = op.elements.size() > 1 ? taker : -1,  // one element is one as another's
                     .part = std::ssize(all),
                     .parts = std::ssize(op.elements)});
    }
    if (!all.empty()) {
      all.front().batch = op.elements;
      std::ranges::sort(all.front().batch);
    }
    if (std::ssize(op.elements) < op.most) all.push_back({.kind = Does::kFindEnd, .number = 1});
    return all;
  }
  if (op.most > 1) all.push_back({.kind = Does::kLend, .number = op.most});
  if (end == Code::kOutOfRange) all.push_back({.kind = Does::kFindEnd, .number = op.least});
  if (op.most > 1) all.push_back({.kind = Does::kGiveBack, .number = op.most});
  return all;
}

// What one does, in order, if it came to that end. None: it never ended.
Operations OperationsOf(const QueueOp& op, std::optional<Code> end, std::int64_t who) {
  using Does = QueueModel::Operation::Does;
  const bool well = !end.has_value() || end == Code::kOk;
  switch (op.what) {
    case QueueOp::What::kPut:
      if (well) return {{Does::kPut, op.elements, op.capacity, op.shuffled_above}};
      return {};
    case QueueOp::What::kRenew:
      return {{Does::kRenew, well ? op.elements : Elements()}};
    case QueueOp::What::kTake:
      return TakesOf(op, end, who);
    case QueueOp::What::kClose:
      if (well) return {{Does::kClose}};
      return {};
    case QueueOp::What::kSize: {
      Operations both;
      if (op.opens) both.push_back({Does::kOpen});
      if (end == Code::kOk) both.push_back({Does::kSize, {}, op.size});
      return both;
    }
  }
  return {};
}

// Of one replica.
struct Taken {
  Attempts attempts;    // since the last run that returned
  Elements in_attempt;  // of each batch the first
  std::int64_t all = 0;
  std::int64_t most = 0;  // by the last run that returned
};

class Queues {
 public:
  Queues(const JobRun& run, Findings& findings) : findings_(findings) {
    for (std::size_t place = 0; place < run.history.size(); ++place) {
      const JobMoment& moment = run.history[place];
      if (moment.kind == JobMoment::Kind::kQueueReturned)
        ends_[moment.step] = {static_cast<std::int64_t>(place), moment.code};
    }
    const WorkloadKind kind = run.spec.workload.kind;
    const bool input = kind == WorkloadKind::kInputPipeline;
    if (input) batch_ = run.spec.workload.input_batch;
    by_name_ = !run.spec.workload.master.empty();
    own_ = input && !run.spec.workload.shared_input && !by_name_;
    takes_ = input || (kind == WorkloadKind::kSyncRegression && run.behaviour.sync_failure_wakes);
  }

  void See(const JobMoment& moment) {
    Taken& taken = taken_[moment.task];
    taken.attempts.See(moment);
    switch (moment.kind) {
      case JobMoment::Kind::kReplaced:
        taken = taken_[moment.subject];
        zombies_[moment.subject].push_back(moment.task);
        if (auto queues = queues_.extract(moment.subject); !queues.empty()) {
          queues.key() = moment.task;
          queues_.insert(std::move(queues));
        }
        break;
      case JobMoment::Kind::kStarted:
        queues_.erase(moment.task);
        break;
      case JobMoment::Kind::kQueueCalled:
        Call(moment);
        break;
      case JobMoment::Kind::kQueueReturned:
        Return(moment);
        break;
      case JobMoment::Kind::kRunStarted:
      case JobMoment::Kind::kRecovery:
        taken.in_attempt.clear();
        break;
      case JobMoment::Kind::kAttempt:
        if (moment.code != Code::kOk) taken.in_attempt.clear();
        break;
      case JobMoment::Kind::kRunReturned:
        if (takes_) CompareWithRun(moment, taken);
        taken.attempts = Attempts();
        break;
      default:
        break;
    }
  }

 private:
  using Queue = Linearizer<QueueModel>;
  struct End {
    std::int64_t place;  // in the history
    Code code;
  };

  // What campaigns play takes a tenth at most; these are two seconds.
  static constexpr std::size_t kMostConfigurations = 20'000;
  static constexpr std::size_t kMostSteps = 10'000'000;

  // One operation of a server may be several of the model.
  static std::int64_t IdOf(const JobMoment& moment, std::size_t part) {
    constexpr std::int64_t kMostParts = 1000;
    return kMostParts * moment.step + static_cast<std::int64_t>(part);
  }

  Queue& QueueOf(const JobMoment& moment) {
    return queues_[moment.task]
        .try_emplace(moment.queue->queue, QueueModel::State(), kMostConfigurations, kMostSteps)
        .first->second;
  }

  void Call(const JobMoment& moment) {
    const auto end = ends_.find(moment.step);
    const bool lost = end == ends_.end();
    const auto operations =
        OperationsOf(*moment.queue, lost ? std::nullopt : std::optional(end->second.code), moment.step);
    const std::int64_t due = lost ? Queue::kNeverReturns : end->second.place;
    Queue& queue = QueueOf(moment);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      queue.Call(IdOf(moment, i), operations[i], due);
      if (lost) queue.Lose(IdOf(moment, i));
    }
  }

  void Return(const JobMoment& moment) {
    const QueueOp& op = *moment.queue;
    if (op.what == QueueOp::What::kTake && moment.code == Code::kOk) {
      const auto count = std::ssize(op.elements);
      if (count < op.least || count > op.most)
        findings_.Violate(moment, fmt::format("{} to {} elements taken", op.least, op.most), fmt::format("{}", count));
    }
    // What goes on into another queue no run has taken.
    if (op.what == QueueOp::What::kTake && moment.code == Code::kOk && op.queue != kFirstInputQueue) {
      const std::string& taker = op.taker.empty() ? moment.task : op.taker;
      Take(taken_[taker], op.elements);
      // Who it is of the processes of a replica nobody says: a taker is a name, and so is what a master of another
      // task goes by, which finds the server of the successor for a session of either.
      if (const auto others = zombies_.find(taker); others != zombies_.end() && (by_name_ || !op.taker.empty())) {
        for (const std::string& zombie : others->second) Take(taken_[zombie], op.elements);
      }
    }
    Queue& queue = QueueOf(moment);
    const auto operations = OperationsOf(op, moment.code, moment.step);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const bool before = queue.verdict() == Queue::Verdict::kExplained;
      const Queue::Verdict verdict = queue.Return(IdOf(moment, i));
      if (verdict != Queue::Verdict::kGivenUp) findings_.Arm();
      if (verdict == Queue::Verdict::kImpossible && before) Violate(moment, queue, operations[i]);
      if (verdict == Queue::Verdict::kGivenUp && before) {  // not in silence: this judge is blind then
        findings_.Violate(moment, fmt::format("fewer orders of all that is under way of the queue '{}'", op.queue),
                          "too many to look at");
      }
    }
  }

  static void Take(Taken& taken, const Elements& elements) {
    taken.all += std::ssize(elements);
    if (!elements.empty()) taken.in_attempt.push_back(elements.front());
  }

  void Violate(const JobMoment& moment, const Queue& queue, const QueueModel::Operation& operation) {
    using Does = QueueModel::Operation::Does;
    const QueueModel::State state = queue.States().front();
    const std::string held = fmt::format("the queue '{}' with [{}]{}", moment.queue->queue,
                                         fmt::join(state.elements, ", "), state.closed ? ", closed" : "");
    std::string seen;
    if (operation.kind == Does::kTake) seen = fmt::format("[{}] taken", fmt::join(operation.elements, ", "));
    if (operation.kind == Does::kFindEnd) seen = fmt::format("its end, as less than {} are left", operation.number);
    if (operation.kind == Does::kSize) seen = fmt::format("a size of {}", operation.number);
    if (operation.kind == Does::kPut) seen = fmt::format("[{}] put in", fmt::join(operation.elements, ", "));
    findings_.Violate(moment, "what comes of " + held, seen);
  }

  void CompareWithRun(const JobMoment& moment, Taken& taken) {
    findings_.Arm();
    taken.most += taken.attempts.most();
    if (taken.in_attempt.empty()) {
      findings_.Violate(moment, "an element taken before the run returned", "none");
    } else if (moment.element >= 0 && std::ranges::find(taken.in_attempt, moment.element) == taken.in_attempt.end()) {
      findings_.Violate(moment, fmt::format("the element that was taken, {}", fmt::join(taken.in_attempt, " or ")),
                        fmt::format("{}", moment.element));
    }
    const std::int64_t most = taken.most * batch_;
    const bool alone = !IsZombie(moment.task) && !zombies_.contains(moment.task);
    if (taken.all > most && (alone || own_)) {
      findings_.Violate(moment, fmt::format("at most {} elements taken, {} an attempt", most, batch_),
                        fmt::format("{}", taken.all));
    }
  }

  Findings& findings_;
  std::map<std::int64_t, End> ends_;                                      // of operations, by the place of the call
  std::int64_t batch_ = 1;                                                // elements that an attempt takes
  bool takes_ = false;                                                    // each run takes an element
  bool own_ = false;                                                      // ... from a queue of the process's own
  bool by_name_ = false;                                                  // masters of other tasks look for replicas
  std::map<std::string, std::vector<std::string>, std::less<>> zombies_;  // of replicas that have some
  std::map<std::string, std::map<std::string, Queue, std::less<>>, std::less<>> queues_;  // by server, name
  std::map<std::string, Taken, std::less<>> taken_;                                       // by replica
};

void CheckQueues(const JobRun& run, Findings& findings) {
  Queues queues(run, findings);
  for (const JobMoment& moment : run.history) queues.See(moment);
}

}  // namespace

const Checker kQueuesInOrderOnce = {
    .id = "queues.in_order_once",
    .sentence =
        "What was put into a queue comes out of it once and in order (if it shuffles, in any, but not its last few "
        "before it is closed), and its end only when less is left than was asked for; a run that returned has taken "
        "one element, or one batch, and gives its first.",
    .source = "FIFOQueue r1.4: a queue implementation that dequeues elements in first-in first-out order",
    .check = CheckQueues,
    .excuses =
        "what an attempt took that failed, also later; what was in the queue of a server that died; tokens of a "
        "replica that was taken for dead and goes on (zombie), and its elements where another task's master makes the "
        "sessions: those that one of its processes takes count for the other, too; all that real processes do",
    .why =
        "a queue is not saved, and nobody puts back what was taken for a step that failed; a token's taker is said by "
        "the name of its task, by which such a master finds a session's server, too; real processes note what they do "
        "to a queue beside it, not in it",
    .by_order = true,
};

}  // namespace vigil::sim

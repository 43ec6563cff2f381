// The forged histories of what looks at queues.
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/sim/checkers/checker_cases.h"

namespace vigil::sim {
namespace {

using Elements = std::vector<std::int64_t>;

// Adds an operation on a queue that nothing else overlaps.
void AddOperation(JobHistory& history, std::string_view server, QueueOp op, Code code = Code::kOk) {
  if (op.queue.empty()) op.queue = "queue";
  JobMoment moment{.at = Time{std::chrono::seconds(history.size())},
                   .task = std::string(server),
                   .life = 1,
                   .kind = JobMoment::Kind::kQueueCalled,
                   .step = static_cast<std::int64_t>(history.size()),
                   .queue = std::make_shared<QueueOp>(std::move(op))};
  history.push_back(moment);
  moment.kind = JobMoment::Kind::kQueueReturned;
  moment.code = code;
  history.push_back(std::move(moment));
}

void AddMoment(JobHistory& history, std::string_view task, JobMoment::Kind kind, std::int64_t step = 0) {
  history.push_back({.at = Time{std::chrono::seconds(history.size())},
                     .task = std::string(task),
                     .life = 1,
                     .kind = kind,
                     .step = step});
}

// A server's queue gets 1, 2, 3; these are taken one after the other; then it is closed, and who takes meets its end.
JobEvidence TakenAre(const Elements& elements) {
  JobEvidence evidence;
  AddMoment(evidence.history, "worker:0", JobMoment::Kind::kStarted);
  for (const std::int64_t put : {1, 2, 3}) {
    AddOperation(evidence.history, "worker:0", {.what = QueueOp::What::kPut, .elements = {put}, .capacity = 16});
  }
  for (const std::int64_t element : elements) {
    AddOperation(evidence.history, "worker:0", {.what = QueueOp::What::kTake, .elements = {element}});
  }
  AddOperation(evidence.history, "worker:0", {.what = QueueOp::What::kClose});
  AddOperation(evidence.history, "worker:0", {.what = QueueOp::What::kTake}, Code::kOutOfRange);
  return evidence;
}

// 1, 2, 3 are put in; then they are asked for two at a time (`least`: the last time fewer will do), and so many are got
// each time; in the end nobody gets any.
JobEvidence Batches(const std::vector<Elements>& batches, std::int64_t least = 2, std::int64_t shuffled_above = -1) {
  JobEvidence evidence;
  AddMoment(evidence.history, "worker:0", JobMoment::Kind::kStarted);
  for (const std::int64_t put : {1, 2, 3}) {
    AddOperation(evidence.history, "worker:0",
                 {.what = QueueOp::What::kPut, .elements = {put}, .shuffled_above = shuffled_above});
  }
  AddOperation(evidence.history, "worker:0", {.what = QueueOp::What::kClose});
  QueueOp take{.what = QueueOp::What::kTake, .most = 2, .least = least, .shuffled_above = shuffled_above};
  for (const Elements& batch : batches) {
    take.elements = batch;
    AddOperation(evidence.history, "worker:0", take);
  }
  take.elements = {};
  AddOperation(evidence.history, "worker:0", take, Code::kOutOfRange);
  return evidence;
}

// Of 1, 2, 3 somebody wants five, and waits; meanwhile another one sees that many, and puts one in where there is room
// for two; then the first gives up, and gives back what it has; and this is taken.
JobEvidence GivenBack(std::int64_t seen, const Elements& taken) {
  JobEvidence evidence;
  JobHistory& history = evidence.history;
  AddMoment(history, "worker:0", JobMoment::Kind::kStarted);
  AddOperation(history, "worker:0", {.what = QueueOp::What::kPut, .elements = {1, 2, 3}});
  AddOperation(history, "worker:0", {.what = QueueOp::What::kTake, .most = 5, .least = 5}, Code::kCancelled);
  JobMoment end = history.back();
  history.pop_back();
  AddOperation(history, "worker:0", {.what = QueueOp::What::kSize, .size = seen});
  AddOperation(history, "worker:0", {.what = QueueOp::What::kPut, .elements = {4}, .capacity = 2});
  history.push_back(end);
  for (const std::int64_t element : taken) {
    AddOperation(history, "worker:0", {.what = QueueOp::What::kTake, .elements = {element}});
  }
  return evidence;
}

// Before it is closed, somebody takes these from a queue that keeps one of 1, 2, 3, in any order.
JobEvidence Shuffled(const Elements& taken) {
  JobEvidence evidence = Batches({}, 1, 1);
  JobHistory& history = evidence.history;
  history.resize(history.size() - 4);  // neither closed, nor asked
  for (const std::int64_t element : taken) {
    AddOperation(history, "worker:0", {.what = QueueOp::What::kTake, .elements = {element}, .shuffled_above = 1});
  }
  return evidence;
}

// All of 24 elements are taken, each by somebody else, and all at the same time; and this one besides.
JobEvidence TakenAtOnce(bool shuffled, std::optional<std::int64_t> besides) {
  JobEvidence evidence;
  JobHistory& history = evidence.history;
  Elements elements(24, 5);
  if (shuffled) std::iota(elements.begin(), elements.end(), 0);
  const std::int64_t above = shuffled ? 0 : -1;
  AddOperation(history, "ps:0", {.what = QueueOp::What::kPut, .elements = elements, .shuffled_above = above});
  if (besides.has_value()) elements.push_back(*besides);
  JobHistory ends;
  for (const std::int64_t element : elements) {
    AddOperation(history, "ps:0", {.what = QueueOp::What::kTake, .elements = {element}, .shuffled_above = above});
    ends.push_back(history.back());
    history.pop_back();
  }
  history.insert(history.end(), ends.rbegin(), ends.rend());
  return evidence;
}

// A run takes so many elements, and comes back with this one.
JobEvidence Given(std::int64_t takes, std::int64_t element) {
  JobEvidence evidence;
  evidence.spec.workload.kind = WorkloadKind::kInputPipeline;
  AddMoment(evidence.history, "worker:0", JobMoment::Kind::kStarted);
  AddOperation(evidence.history, "worker:0", {.what = QueueOp::What::kPut, .elements = {7, 7}});
  AddMoment(evidence.history, "worker:0", JobMoment::Kind::kRunStarted);
  for (std::int64_t i = 0; i < takes; ++i) {
    AddOperation(evidence.history, "worker:0", {.what = QueueOp::What::kTake, .elements = {7}});
  }
  AddMoment(evidence.history, "worker:0", JobMoment::Kind::kRunReturned);
  evidence.history.back().element = element;
  return evidence;
}

// A run takes two elements at once, and comes back with this one.
JobEvidence GivenOfTwo(std::int64_t element, std::int64_t batch) {
  JobEvidence evidence;
  evidence.spec.workload.kind = WorkloadKind::kInputPipeline;
  evidence.spec.workload.input_batch = batch;
  AddMoment(evidence.history, "worker:0", JobMoment::Kind::kStarted);
  AddOperation(evidence.history, "worker:0", {.what = QueueOp::What::kPut, .elements = {7, 8}});
  AddMoment(evidence.history, "worker:0", JobMoment::Kind::kRunStarted);
  AddOperation(evidence.history, "worker:0", {.what = QueueOp::What::kTake, .elements = {7, 8}, .most = 2, .least = 2});
  AddMoment(evidence.history, "worker:0", JobMoment::Kind::kRunReturned);
  evidence.history.back().element = element;
  return evidence;
}

// One is taken by a run, and one, before it, from that queue.
JobEvidence GoneOn(std::string queue) {
  JobEvidence evidence = Given(1, 7);
  QueueOp op{.what = QueueOp::What::kPut, .queue = std::move(queue), .elements = {9}};
  JobHistory more;
  for (const auto what : {QueueOp::What::kPut, QueueOp::What::kTake}) {
    op.what = what;
    AddOperation(more, "worker:0", op);
  }
  for (JobMoment& moment : more) moment.step += 100;
  evidence.history.insert(evidence.history.begin() + 1, more.begin(), more.end());
  return evidence;
}

// Chief and worker: a session begins with its tokens; so many come after the first step, of that number; then the
// second step is made.
JobEvidence Tokens(const Elements& tokens) {
  JobEvidence evidence;
  evidence.spec.workload.kind = WorkloadKind::kSyncRegression;
  AddOperation(evidence.history, "ps:0", {.what = QueueOp::What::kRenew, .elements = {0, 0}});
  AddMoment(evidence.history, "ps:0", JobMoment::Kind::kStepMade, 1);
  if (!tokens.empty()) AddOperation(evidence.history, "ps:0", {.what = QueueOp::What::kPut, .elements = tokens});
  AddMoment(evidence.history, "ps:0", JobMoment::Kind::kStepMade, 2);
  return evidence;
}

}  // namespace

std::vector<CheckerCase> QueueCases() {
  return {
      {"queues.in_order_once", "an element is lost", TakenAre({1, 2, 3}), TakenAre({1, 3})},
      {"queues.in_order_once", "the last element is lost", TakenAre({1, 2, 3}), TakenAre({1, 2})},
      {"queues.in_order_once", "an element comes twice", TakenAre({1, 2, 3}), TakenAre({1, 2, 2, 3})},
      {"queues.in_order_once", "an element overtakes another", TakenAre({1, 2, 3}), TakenAre({2, 1, 3})},
      {"queues.in_order_once", "a run without an element", Given(1, 7), Given(0, -1)},
      {"queues.in_order_once", "a run takes two elements", Given(1, 7), Given(2, 7)},
      {"queues.in_order_once", "a run gives another element", Given(1, 7), Given(1, 8)},
      {"queues.in_order_once", "a batch is lost", Batches({{1, 2}}), Batches({})},
      {"queues.in_order_once", "a batch in another order", Batches({{1, 2}}), Batches({{2, 1}})},
      {"queues.in_order_once", "a batch goes on", Batches({{1, 2}}), Batches({{2, 3}})},
      {"queues.in_order_once", "a batch too small", Batches({{1, 2}}), Batches({{1}, {2, 3}})},
      {"queues.in_order_once", "the rest is lost", Batches({{1, 2}, {3}}, 1), Batches({{1, 2}}, 1)},
      {"queues.in_order_once", "a rest before the end", Batches({{1, 2}, {3}}, 1), Batches({{1}, {2, 3}}, 1)},
      {"queues.in_order_once", "a shuffled batch is lost", Batches({{3, 1}}, 2, 1), Batches({}, 2, 1)},
      {"queues.in_order_once", "the last of a shuffled queue stay", Batches({{3, 1}, {2}}, 1, 1),
       Batches({{3, 1}}, 1, 1)},
      {"queues.in_order_once", "a shuffled element comes twice", Shuffled({3, 1}), Shuffled({3, 3})},
      {"queues.in_order_once", "a shuffled queue keeps too few", Shuffled({3, 1}), Shuffled({3, 1, 2})},
      {"queues.in_order_once", "one too many of two dozen equal ones that are taken at once", TakenAtOnce(false, {}),
       TakenAtOnce(false, 5)},
      {"queues.in_order_once", "twice the same of two dozen that are taken at once", TakenAtOnce(true, {}),
       TakenAtOnce(true, 7)},
      {"queues.in_order_once", "what was given back is lost", GivenBack(1, {1, 2, 3, 4}), GivenBack(1, {4})},
      {"queues.in_order_once", "what is given back comes last", GivenBack(0, {1, 2, 3}), GivenBack(0, {4, 1})},
      {"queues.in_order_once", "more are lent than there are", GivenBack(0, {1}), GivenBack(4, {1})},
      {"queues.in_order_once", "a run gives the second of its batch", GivenOfTwo(7, 2), GivenOfTwo(8, 2)},
      {"queues.in_order_once", "a run takes two in place of one", GivenOfTwo(7, 2), GivenOfTwo(7, 1)},
      {"queues.in_order_once", "an element goes on to no other queue", GoneOn("input/files"), GoneOn("others")},
      {"tokens.as_owed", "a token too few", Tokens({1, 1}), Tokens({1})},
      {"tokens.as_owed", "a token too many", Tokens({1, 1}), Tokens({1, 1, 1})},
      {"tokens.as_owed", "a token of another step", Tokens({1, 1}), Tokens({1, 0})},
      {"tokens.as_owed", "no tokens at all", Tokens({1, 1}), Tokens({})},
  };
}

}  // namespace vigil::sim

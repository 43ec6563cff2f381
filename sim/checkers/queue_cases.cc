// The forged histories of what looks at queues.
#include <string>
#include <utility>
#include <vector>

#include "vigil/sim/checkers/checker_cases.h"

namespace vigil::sim {
namespace {

using Elements = std::vector<std::int64_t>;

// Adds an operation on a queue that nothing else overlaps.
void AddOperation(JobHistory& history, std::string_view server, QueueOp op, Code code = Code::kOk) {
  op.queue = "queue";
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
      {"tokens.as_owed", "a token too few", Tokens({1, 1}), Tokens({1})},
      {"tokens.as_owed", "a token too many", Tokens({1, 1}), Tokens({1, 1, 1})},
      {"tokens.as_owed", "a token of another step", Tokens({1, 1}), Tokens({1, 0})},
      {"tokens.as_owed", "no tokens at all", Tokens({1, 1}), Tokens({})},
  };
}

}  // namespace vigil::sim

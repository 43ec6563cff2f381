#include "vigil/sim/cluster/facts_recorder.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/summary/summary_writer.h"
#include "vigil/sim/cluster/restore_watch.h"

namespace vigil::sim {

class FactsRecorder::Watch final : public SessionRunHook {
 public:
  Watch(FactsRecorder& recorder, Output global_step) : recorder_(recorder), global_step_(global_step) {}
  std::string_view name() const override { return "watch"; }
  absl::Status AfterCreateSession(const std::shared_ptr<vigil::Session>&,
                                  const std::shared_ptr<Coordinator>&) override {
    recorder_.NewSession();
    return absl::OkStatus();
  }
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = Fetches(global_step_);
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext&, const RunValues& values) override {
    recorder_.Step(values.results.tensor().scalar<std::int64_t>());
    return absl::OkStatus();
  }
  absl::Status End(vigil::Session*) override {
    recorder_.HookEnd();
    return absl::OkStatus();
  }

 private:
  FactsRecorder& recorder_;
  const Output global_step_;
};

FactsRecorder::FactsRecorder(std::string task, std::string_view node, TaskFacts& facts, Chronicle& chronicle,
                             EventSink* inner)
    : task_(std::move(task)), facts_(&facts), chronicle_(chronicle), inner_(inner) {
  ++facts_->lives;
  facts_->first_events.push_back(chronicle_.Events());
  facts_->nodes.emplace_back(node);
  facts_->outcome = "running";
  facts_->text.clear();
  Note(Kind::kStarted);
  const IndexedCheckpoints found = chronicle_.Checkpoints();
  NoteStep(Kind::kFound, found.whole.empty() ? -1 : found.whole.back());
  for (const std::int64_t step : found.incomplete) NoteStep(Kind::kFoundIncomplete, step);
  chronicle_.Became(*facts_);
}

void FactsRecorder::Replaced() {
  const Lock lock(mutex_);
  own_ = *facts_;
  facts_ = &own_;
  std::string task = ZombieOf(task_);
  task.swap(task_);
  JobMoment moment = Moment(Kind::kReplaced);
  moment.subject = std::move(task);
  chronicle_.Add(std::move(moment));
}

JobMoment FactsRecorder::Moment(Kind kind, Code code) const {
  return {.at = chronicle_.Now(), .task = task_, .life = facts_->lives, .kind = kind, .code = code};
}

void FactsRecorder::NoteStep(Kind kind, std::int64_t step, Code code) {
  JobMoment moment = Moment(kind, code);
  moment.step = step;
  chronicle_.Add(std::move(moment));
}

void FactsRecorder::Serving() {
  const Lock lock(mutex_);
  Note(Kind::kServing);
}

void FactsRecorder::NewSession() {
  const Lock lock(mutex_);
  ++facts_->sessions;
  fresh_ = true;
  creating_ = false;
  Note(Kind::kSession);
  chronicle_.Became(*facts_);
}

void FactsRecorder::Trains(bool trains) {
  const Lock lock(mutex_);
  trains_ = trains;
}

void FactsRecorder::Restoring(std::int64_t step) {
  const Lock lock(mutex_);
  restoring_ = step;
  damage_met_ = chronicle_.DamageMet(step);
}

void FactsRecorder::AtRest(std::string holds, std::int64_t graphs) {
  const Lock lock(mutex_);
  JobMoment moment = Moment(Kind::kAtRest);
  moment.subject = std::move(holds);
  moment.step = graphs;
  chronicle_.Add(std::move(moment));
}

void FactsRecorder::ToldToStop() {
  const Lock lock(mutex_);
  Note(Kind::kToldToStop);
}

void FactsRecorder::HasStopped(std::string holds) {
  const Lock lock(mutex_);
  JobMoment moment = Moment(Kind::kHasStopped);
  moment.subject = std::move(holds);
  chronicle_.Add(std::move(moment));
}

void FactsRecorder::TaskLeft(std::string_view task) {
  const Lock lock(mutex_);
  JobMoment moment = Moment(Kind::kTaskLeft);
  moment.subject = task;
  chronicle_.Add(std::move(moment));
}

void FactsRecorder::Restored(std::int64_t step, Code code) {
  JobMoment moment = Moment(Kind::kRestored, code);
  moment.step = step;
  if (step >= 0 && chronicle_.DamageMet(step) > damage_met_) moment.subject = kDamagedData;
  chronicle_.Add(std::move(moment));
}

void FactsRecorder::SessionCall(const Event& event) {
  switch (static_cast<CallKind>(event.call)) {
    case CallKind::kRun:
      if (trains_) Note(Kind::kAttempt, event.code);
      break;
    case CallKind::kRestore:
      Restored(std::exchange(restoring_, -1), event.code);
      break;
    case CallKind::kInit:
      Note(Kind::kInitialised, event.code);
      break;
    default:
      break;
  }
}

void FactsRecorder::Emit(const Event& event) {
  {
    const Lock lock(mutex_);
    Judge(event);
  }
  if (inner_ != nullptr) inner_->Emit(event);
}

void FactsRecorder::Judge(const Event& event) {
  switch (event.kind) {
    case EventKind::kRunStart:
      in_run_ = true;
      Note(Kind::kRunStarted);
      break;
    case EventKind::kSessionCall:
      SessionCall(event);
      break;
    case EventKind::kRecovery:
      ++facts_->recoveries;
      Note(Kind::kRecovery, event.code);
      if (event.session == 0) {
        facts_->create_failed.push_back(event.code);
      } else if (in_run_) {
        facts_->run_failed.push_back(event.code);
      }
      creating_ = true;
      chronicle_.Became(*facts_);
      break;
    case EventKind::kRunEnd:
      in_run_ = false;
      if (event.code == Code::kOk) break;
      (creating_ ? facts_->create_failed : facts_->run_failed).push_back(event.code);
      Note(Kind::kRunFailed, event.code);
      chronicle_.Became(*facts_);
      break;
    case EventKind::kHookRequestsStop:
      Note(Kind::kStopAsked);
      break;
    case EventKind::kCloseStart:
      if (event.code == Code::kOk) Note(Kind::kLeaves);
      break;
    case EventKind::kWriterCall:
      if (event.call == static_cast<std::uint8_t>(WriterCall::kSessionLog) &&
          event.index == static_cast<std::int32_t>(SessionLogStatus::kCheckpoint)) {
        NoteStep(Kind::kLogged, static_cast<std::int64_t>(event.value));
      }
      break;
    case EventKind::kSaverDetail:
      if (event.call == static_cast<std::uint8_t>(SaverDetail::kWritten) && event.code == Code::kOk &&
          task_.starts_with("worker"))
        NoteStep(Kind::kSavedInPlace, StepInName(event.subject));
      break;
    case EventKind::kConstructed:
      if (event.code != Code::kOk) facts_->create_failed.push_back(event.code);
      creating_ = false;
      chronicle_.Became(*facts_);
      break;
    default:
      break;
  }
}

HookPtr FactsRecorder::NewHook(Output global_step) { return std::make_shared<Watch>(*this, global_step); }

void FactsRecorder::Opened(Duration after) {
  const Lock lock(mutex_);
  Note(Kind::kOpened);
  if (!facts_->opened_after.has_value() && facts_->lives == 1) facts_->opened_after = after;
  chronicle_.Became(*facts_);
}

void FactsRecorder::RunReturned(Duration took, std::int64_t step, std::vector<float> ledger, std::int64_t element) {
  const Lock lock(mutex_);
  JobMoment moment = Moment(Kind::kRunReturned);
  moment.step = step;
  moment.ledger = std::move(ledger);
  moment.element = element;
  chronicle_.Add(std::move(moment));
  ++facts_->runs;
  facts_->longest_run = std::max(facts_->longest_run, took);
  facts_->last_step = std::max(facts_->last_step, step);
  chronicle_.Became(*facts_);
}

void FactsRecorder::RunStarted() {
  const Lock lock(mutex_);
  Note(Kind::kRunStarted);
}

void FactsRecorder::RunFailed(Code code) {
  const Lock lock(mutex_);
  Note(Kind::kAttempt, code);
  facts_->run_failed.push_back(code);
  Note(Kind::kRunFailed, code);
  chronicle_.Became(*facts_);
}

void FactsRecorder::InitFnBegan() {
  const Lock lock(mutex_);
  Note(Kind::kInitFnBegan);
}

void FactsRecorder::InitFnEnded(Code code) {
  const Lock lock(mutex_);
  Note(Kind::kInitFnEnded, code);
}

void FactsRecorder::Diverged() {
  const Lock lock(mutex_);
  Note(Kind::kDiverged);
}

void FactsRecorder::Evaluated(std::int64_t step) {
  const Lock lock(mutex_);
  NoteStep(Kind::kEvaluated, step);
  facts_->last_step = std::max(facts_->last_step, step);
  chronicle_.Became(*facts_);
}

void FactsRecorder::CameBack(Code code, Duration idle) {
  const Lock lock(mutex_);
  NoteStep(Kind::kCameBack, std::chrono::ceil<std::chrono::seconds>(idle).count(), code);
}

void FactsRecorder::Answered(Code code, Answer answer) {
  const Lock lock(mutex_);
  JobMoment moment = Moment(Kind::kAnswered, code);
  moment.answer = std::make_shared<const Answer>(std::move(answer));
  chronicle_.Add(std::move(moment));
}

void FactsRecorder::FoundDiary(std::size_t size, bool right) {
  const Lock lock(mutex_);
  NoteStep(Kind::kDiaryFound, static_cast<std::int64_t>(size), right ? Code::kOk : Code::kDataLoss);
}

void FactsRecorder::SyncedDiary(std::size_t size) {
  const Lock lock(mutex_);
  NoteStep(Kind::kDiarySynced, static_cast<std::int64_t>(size));
}

void FactsRecorder::Saved(std::int64_t step) {
  const Lock lock(mutex_);
  const std::vector<std::int64_t> whole = chronicle_.Checkpoints().whole;
  const bool there = std::ranges::find(whole, step) != whole.end();
  NoteStep(Kind::kSaved, step, there ? Code::kOk : Code::kDataLoss);
}

void FactsRecorder::Step(std::int64_t step) {
  const Lock lock(mutex_);
  NoteStep(Kind::kSawStep, step);
  if (last_.has_value() && step < *last_) {
    (fresh_ ? facts_->step_back_recovered : facts_->step_back_silent).push_back(*last_ - step);
  } else if (last_.has_value() && fresh_) {
    ++facts_->step_kept_recovered;
  }
  last_ = step;
  fresh_ = false;
  chronicle_.Became(*facts_);
}

void FactsRecorder::HookEnd() {
  const Lock lock(mutex_);
  ++facts_->hook_end;
  chronicle_.Became(*facts_);
}

void FactsRecorder::Ended(const absl::Status& status) {
  const Lock lock(mutex_);
  Note(Kind::kEnded, CodeOf(status));
  facts_->outcome = status.ok() ? "clean" : std::string(CodeName(CodeOf(status)));
  facts_->text = status.ok() ? "" : std::string(MessageOf(status));
  chronicle_.Became(*facts_);
}

}  // namespace vigil::sim

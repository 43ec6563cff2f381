#include "vigil/sim/cluster/facts_recorder.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/summary/summary_writer.h"
#include "vigil/sim/cluster/whole_checkpoints.h"

namespace vigil::sim {

class FactsRecorder::Watch final : public SessionRunHook {
 public:
  Watch(FactsRecorder& recorder, Output global_step) : recorder_(recorder), global_step_(global_step) {}
  std::string_view name() const override { return "watch"; }
  absl::Status AfterCreateSession(const std::shared_ptr<vigil::Session>&,
                                  const std::shared_ptr<Coordinator>&) override {
    recorder_.Session();
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
    ++recorder_.facts_->hook_end;
    return absl::OkStatus();
  }

 private:
  FactsRecorder& recorder_;
  const Output global_step_;
};

FactsRecorder::FactsRecorder(std::string task, std::string_view node, TaskFacts& facts, JobHistory& history,
                             World& world, EventSink* inner)
    : task_(std::move(task)), facts_(&facts), history_(history), world_(world), inner_(inner) {
  ++facts_->lives;
  facts_->first_events.push_back(world_.trace().size());
  facts_->nodes.emplace_back(node);
  facts_->outcome = "running";
  facts_->text.clear();
  Note(JobMoment::Kind::kStarted);
  const std::vector<std::int64_t> whole = WholeCheckpoints(world_);
  Note(JobMoment::Kind::kFound).step = whole.empty() ? -1 : whole.back();
}

void FactsRecorder::Replaced() {
  own_ = *facts_;
  facts_ = &own_;
  std::string task = ZombieOf(task_);
  task.swap(task_);
  Note(JobMoment::Kind::kReplaced).subject = std::move(task);
}

JobMoment& FactsRecorder::Note(JobMoment::Kind kind, Code code) {
  world_.scheduler().Touch(kTraceObject, Access::kWrite);
  return history_.emplace_back(
      JobMoment{.at = world_.now(), .task = task_, .life = facts_->lives, .kind = kind, .code = code});
}

void FactsRecorder::Session() {
  ++facts_->sessions;
  fresh_ = true;
  creating_ = false;
  Note(JobMoment::Kind::kSession);
}

void FactsRecorder::SessionCall(const Event& event) {
  switch (static_cast<CallKind>(event.call)) {
    case CallKind::kRun:
      if (trains_) Note(JobMoment::Kind::kAttempt, event.code);
      break;
    case CallKind::kRestore:
      Note(JobMoment::Kind::kRestored, event.code).step = std::exchange(restoring_, -1);
      break;
    case CallKind::kInit:
      Note(JobMoment::Kind::kInitialised, event.code);
      break;
    default:
      break;
  }
}

void FactsRecorder::Emit(const Event& event) {
  switch (event.kind) {
    case EventKind::kRunStart:
      in_run_ = true;
      Note(JobMoment::Kind::kRunStarted);
      break;
    case EventKind::kSessionCall:
      SessionCall(event);
      break;
    case EventKind::kRecovery:
      ++facts_->recoveries;
      Note(JobMoment::Kind::kRecovery, event.code);
      if (event.session == 0) {
        facts_->create_failed.push_back(event.code);
      } else if (in_run_) {
        facts_->run_failed.push_back(event.code);
      }
      creating_ = true;
      break;
    case EventKind::kRunEnd:
      in_run_ = false;
      if (event.code == Code::kOk) break;
      (creating_ ? facts_->create_failed : facts_->run_failed).push_back(event.code);
      Note(JobMoment::Kind::kRunFailed, event.code);
      break;
    case EventKind::kHookRequestsStop:
      Note(JobMoment::Kind::kStopAsked);
      break;
    case EventKind::kCloseStart:
      if (event.code == Code::kOk) Note(JobMoment::Kind::kLeaves);
      break;
    case EventKind::kWriterCall:
      if (event.call == static_cast<std::uint8_t>(WriterCall::kSessionLog) &&
          event.index == static_cast<std::int32_t>(SessionLogStatus::kCheckpoint)) {
        Note(JobMoment::Kind::kLogged).step = static_cast<std::int64_t>(event.value);
      }
      break;
    case EventKind::kConstructed:
      if (event.code != Code::kOk) facts_->create_failed.push_back(event.code);
      creating_ = false;
      break;
    default:
      break;
  }
  if (inner_ != nullptr) inner_->Emit(event);
}

HookPtr FactsRecorder::NewHook(Output global_step) { return std::make_shared<Watch>(*this, global_step); }

void FactsRecorder::Opened(Duration after) {
  Note(JobMoment::Kind::kOpened);
  if (!facts_->opened_after.has_value() && facts_->lives == 1) facts_->opened_after = after;
}

void FactsRecorder::RunReturned(Duration took, std::int64_t step, std::vector<float> ledger, std::int64_t element) {
  JobMoment& moment = Note(JobMoment::Kind::kRunReturned);
  moment.step = step;
  moment.ledger = std::move(ledger);
  moment.element = element;
  ++facts_->runs;
  facts_->longest_run = std::max(facts_->longest_run, took);
  facts_->last_step = std::max(facts_->last_step, step);
}

void FactsRecorder::RunStarted() { Note(JobMoment::Kind::kRunStarted); }

void FactsRecorder::RunFailed(Code code) {
  Note(JobMoment::Kind::kAttempt, code);
  facts_->run_failed.push_back(code);
  Note(JobMoment::Kind::kRunFailed, code);
}

void FactsRecorder::Evaluated(std::int64_t step) {
  Note(JobMoment::Kind::kEvaluated).step = step;
  facts_->last_step = std::max(facts_->last_step, step);
}

void FactsRecorder::CameBack(Code code, Duration idle) {
  Note(JobMoment::Kind::kCameBack, code).step = std::chrono::ceil<std::chrono::seconds>(idle).count();
}

void FactsRecorder::FoundDiary(std::size_t size, bool right) {
  Note(JobMoment::Kind::kDiaryFound, right ? Code::kOk : Code::kDataLoss).step = static_cast<std::int64_t>(size);
}

void FactsRecorder::SyncedDiary(std::size_t size) {
  Note(JobMoment::Kind::kDiarySynced).step = static_cast<std::int64_t>(size);
}

void FactsRecorder::Saved(std::int64_t step) {
  const std::vector<std::int64_t> whole = WholeCheckpoints(world_);
  const bool there = std::ranges::find(whole, step) != whole.end();
  Note(JobMoment::Kind::kSaved, there ? Code::kOk : Code::kDataLoss).step = step;
}

void FactsRecorder::Step(std::int64_t step) {
  Note(JobMoment::Kind::kSawStep).step = step;
  if (last_.has_value() && step < *last_) {
    (fresh_ ? facts_->step_back_recovered : facts_->step_back_silent).push_back(*last_ - step);
  } else if (last_.has_value() && fresh_) {
    ++facts_->step_kept_recovered;
  }
  last_ = step;
  fresh_ = false;
}

void FactsRecorder::Ended(const absl::Status& status) {
  Note(JobMoment::Kind::kEnded, CodeOf(status));
  facts_->outcome = status.ok() ? "clean" : std::string(CodeName(CodeOf(status)));
  facts_->text = status.ok() ? "" : std::string(MessageOf(status));
}

}  // namespace vigil::sim

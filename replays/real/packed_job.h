// The fields of a job's facts and history, as they go from one process to another (packed.h).
//
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_REAL_PACKED_JOB_H_
#define VIGIL_REPLAYS_REAL_PACKED_JOB_H_

#include <memory>
#include <utility>

#include "vigil/replays/crew/packed.h"
#include "vigil/sim/cluster/job_facts.h"
#include "vigil/sim/cluster/job_history.h"

namespace vigil::sim {

template <typename Archive>
void PackFields(Archive& archive, TaskFacts& facts) {
  archive(facts.outcome, facts.text, facts.sessions, facts.run_failed, facts.create_failed, facts.step_back_silent,
          facts.step_back_recovered, facts.step_kept_recovered, facts.longest_run, facts.machine_still,
          facts.opened_after, facts.last_step, facts.hook_end, facts.runs, facts.recoveries, facts.lives,
          facts.first_events, facts.nodes);
}
template <typename Archive>
void PackFields(Archive& archive, FaultCount& count) {
  archive(count.kind, count.planned, count.fired, count.effective);
}
template <typename Archive>
void PackFields(Archive& archive, InertFault& fault) {
  archive(fault.list, fault.index, fault.fired);
}
template <typename Archive>
void PackFields(Archive& archive, JobViolation& violation) {
  archive(violation.rule, violation.text);
}
template <typename Archive>
void PackFields(Archive& archive, JobFacts& facts) {
  archive(facts.tasks, facts.newest_checkpoint, facts.restores_without_loss, facts.final_loss, facts.faults,
          facts.inert, facts.violations, facts.armed, facts.virtual_time, facts.messages, facts.checkpoints,
          facts.incomplete, facts.half_deleted);
}
template <typename Archive>
void PackFields(Archive& archive, QueueOp& op) {
  archive(op.what, op.queue, op.taker, op.elements, op.most, op.least, op.capacity, op.shuffled_above, op.opens,
          op.size);
}
template <typename Archive>
void PackFields(Archive& archive, Answer& answer) {
  archive(answer.took, answer.limit, answer.session_for, answer.initialised_for, answer.text, answer.wrong);
}
// What may be absent.
template <typename Archive, typename T>
void PackShared(Archive& archive, std::shared_ptr<const T>& shared) {
  bool is_there = shared != nullptr;
  archive(is_there);
  if (!is_there) return;
  T value = shared != nullptr ? *shared : T();
  archive(value);
  shared = std::make_shared<const T>(std::move(value));
}
template <typename Archive>
void PackFields(Archive& archive, JobMoment& moment) {
  archive(moment.at.since_epoch, moment.task, moment.life, moment.kind, moment.code, moment.step, moment.ledger,
          moment.subject, moment.checkpoint, moment.attempt, moment.began_before, moment.element);
  PackShared(archive, moment.queue);
  PackShared(archive, moment.answer);
}

}  // namespace vigil::sim

#endif  // VIGIL_REPLAYS_REAL_PACKED_JOB_H_

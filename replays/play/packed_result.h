// The fields of what a worker sends (packed.h): records and their results. A timeline is not sent.
//
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_PLAY_PACKED_RESULT_H_
#define VIGIL_REPLAYS_PLAY_PACKED_RESULT_H_

#include "vigil/replays/crew/packed.h"
#include "vigil/replays/judge/result.h"
#include "vigil/replays/traces/input.h"

namespace vigil::sim {

template <typename Archive>
void PackFields(Archive& archive, TaskFacts& facts) {
  archive(facts.outcome, facts.text, facts.sessions, facts.run_failed, facts.create_failed, facts.step_back_silent,
          facts.step_back_recovered, facts.step_kept_recovered, facts.longest_run, facts.opened_after, facts.last_step,
          facts.hook_end, facts.runs, facts.recoveries, facts.lives, facts.first_events, facts.nodes);
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
          facts.half_deleted);
}

}  // namespace vigil::sim

namespace vigil::replays {

template <typename Archive>
void PackFields(Archive& archive, RawRecord& record) {
  archive(record.source, record.record, record.text, record.is_trace, record.error, record.only);
}
template <typename Archive>
void PackFields(Archive& archive, FinalState& state) {
  archive(state.checkpoints, state.latest, state.all, state.events_files);
}
template <typename Archive>
void PackFields(Archive& archive, EventDifference& difference) {
  archive(difference.event, difference.expected, difference.played);
}
template <typename Archive>
void PackFields(Archive& archive, Difference& difference) {
  archive(difference.first_event, difference.final_differs, difference.report);
}
template <typename Archive>
void PackFields(Archive& archive, PlainOutcome& outcome) {
  archive(outcome.verdict, outcome.reason, outcome.events, outcome.final, outcome.messages, outcome.hash,
          outcome.choices, outcome.unused_choices, outcome.violated, outcome.job, outcome.nodes, outcome.misses,
          outcome.explanation, outcome.extra, outcome.why);
}
template <typename Archive>
void PackFields(Archive& archive, Result& result) {
  archive(result.status, result.source, result.record, result.id, result.title, result.reason, result.note,
          result.by_seeds, result.difference, result.outcome);
}

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAY_PACKED_RESULT_H_

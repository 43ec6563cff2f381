// The fields of what a worker sends (packed.h): records and their results. A timeline is not sent.
//
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_PLAY_PACKED_RESULT_H_
#define VIGIL_REPLAYS_PLAY_PACKED_RESULT_H_

#include "vigil/replays/crew/packed.h"
#include "vigil/replays/judge/result.h"
#include "vigil/replays/real/packed_job.h"
#include "vigil/replays/traces/input.h"

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
          outcome.plays, outcome.frequencies, outcome.explanation, outcome.extra, outcome.why);
}
template <typename Archive>
void PackFields(Archive& archive, Result& result) {
  archive(result.status, result.source, result.record, result.id, result.title, result.reason, result.note,
          result.by_seeds, result.difference, result.outcome);
}

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAY_PACKED_RESULT_H_

// What can be wrong with a hook: the promises that the author of a hook makes, one finding for each.
//
// Ids are stable: they stand in reports, tests and the zoo.
#ifndef VIGIL_PROPERTIES_VERIFY_FINDINGS_H_
#define VIGIL_PROPERTIES_VERIFY_FINDINGS_H_

#include <span>
#include <string_view>

namespace vigil {

struct HookPromise {
  std::string_view id;        // "hook.runs_train_op"
  std::string_view sentence;  // what is promised
  std::string_view advice;    // what to do
};

namespace promise {
inline constexpr std::string_view kState = "hook.state_survives_session";
inline constexpr std::string_view kRepeat = "hook.before_run_not_idempotent";
inline constexpr std::string_view kRecovery = "hook.wrong_after_recovery";
inline constexpr std::string_view kStopLost = "hook.stop_lost_in_recovery";
inline constexpr std::string_view kSkippedSteps = "hook.misses_skipped_steps";
inline constexpr std::string_view kOldSession = "hook.keeps_old_session";
inline constexpr std::string_view kAfterEnd = "hook.acts_after_end";
inline constexpr std::string_view kOldContext = "hook.keeps_run_context";
inline constexpr std::string_view kTrainOp = "hook.runs_train_op";
inline constexpr std::string_view kClosesSession = "hook.closes_session";
inline constexpr std::string_view kStop = "hook.requests_stop";
inline constexpr std::string_view kFeeds = "hook.feeds_collide";
inline constexpr std::string_view kThread = "hook.thread_outlives_session";
inline constexpr std::string_view kOwnThread = "hook.starts_own_thread";
inline constexpr std::string_view kBlocks = "hook.blocks";
inline constexpr std::string_view kSleeps = "hook.sleeps_for_real";
inline constexpr std::string_view kThrows = "hook.throws";
inline constexpr std::string_view kFails = "hook.fails_by_itself";
inline constexpr std::string_view kEndNeedsSession = "hook.end_needs_session";
inline constexpr std::string_view kGraph = "hook.changes_graph_late";
inline constexpr std::string_view kClock = "hook.reads_wall_clock";
inline constexpr std::string_view kFiles = "hook.touches_files";
inline constexpr std::string_view kWrites = "hook.writes_files";
inline constexpr std::string_view kRandom = "hook.draws_random";
inline constexpr std::string_view kOthers = "hook.reaches_out";
inline constexpr std::string_view kNotRepeatable = "hook.not_repeatable";
}  // namespace promise

// All of them, in the order in which reports name them.
std::span<const HookPromise> HookPromises();
// REQUIRES: one of the above, or a crash ("crash.signal_segv"): what a hook promises by not crashing.
const HookPromise& FindPromise(std::string_view id);

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_FINDINGS_H_

// How the enumerations of scenario.h are spelt in a file. One table each: the parser, the printer and every error
// message ("known: ...") read the same one.
//
// Thread safety: constants and pure functions.
#ifndef VIGIL_REPLAYS_FORMAT_NAMES_H_
#define VIGIL_REPLAYS_FORMAT_NAMES_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

template <typename E>
struct Named {
  std::string_view name;
  E value;
};

inline constexpr Named<SessionKind> kSessionKinds[] = {
    {"monitored", SessionKind::kMonitored},
    {"singular", SessionKind::kSingular},
    {"training", SessionKind::kTraining},
    {"supervisor", SessionKind::kSupervisor},
};

inline constexpr Named<Action> kActions[] = {
    {"raise", Action::kRaise},        {"request_stop", Action::kRequestStop},
    {"report", Action::kReport},      {"coordinator_stop", Action::kCoordinatorStop},
    {"read_step", Action::kReadStep}, {"fetch", Action::kFetch},
    {"feed", Action::kFeed},          {"options", Action::kOptions},
    {"show", Action::kShow},          {"start_thread", Action::kStartThread},
};

inline constexpr Named<FaultPoint> kFaultPoints[] = {
    {"create", FaultPoint::kCreate},
    {"restore", FaultPoint::kRestore},
    {"init", FaultPoint::kInit},
    {"init_fn", FaultPoint::kInitFn},
    {"ready_for_local_init", FaultPoint::kReadyForLocalInit},
    {"local_init", FaultPoint::kLocalInit},
    {"ready", FaultPoint::kReady},
    {"queue_runners", FaultPoint::kQueueRunners},
    {"run", FaultPoint::kRun},
    {"read_step", FaultPoint::kReadStep},
    {"raw_run", FaultPoint::kRawRun},
    {"save", FaultPoint::kSave},
    {"summary", FaultPoint::kSummary},
    {"final_ops", FaultPoint::kFinalOps},
    {"close", FaultPoint::kClose},
    {"sleep", FaultPoint::kSleep},
    {"write", FaultPoint::kWrite},
    {"enqueue", FaultPoint::kEnqueue},
};

inline constexpr Named<Op> kOps[] = {
    {"run", Op::kRun},
    {"loop", Op::kLoop},
    {"should_stop", Op::kShouldStop},
    {"close", Op::kClose},
    {"raise", Op::kRaise},
    {"advance", Op::kAdvance},
    {"clock", Op::kClock},
    {"step", Op::kStep},
    {"raw_run", Op::kRawRun},
    {"run_with_hooks", Op::kRunWithHooks},
    {"request_stop", Op::kRequestStop},
    {"prepare", Op::kPrepare},
    {"guarded", Op::kGuarded},
    {"stop", Op::kStop},
    {"start_services", Op::kStartServices},
    {"service", Op::kService},
    {"summary_computed", Op::kSummaryComputed},
    {"start_thread", Op::kStartThread},
    {"start_loop", Op::kStartLoop},
};

inline constexpr Named<TraceLevel> kTraceLevels[] = {
    {"none", TraceLevel::kNoTrace},
    {"software", TraceLevel::kSoftwareTrace},
    {"hardware", TraceLevel::kHardwareTrace},
    {"full", TraceLevel::kFullTrace},
};

inline constexpr Named<Damage> kDamages[] = {
    {"empty_state", Damage::kEmptyState},     {"garbage_state", Damage::kGarbageState},
    {"missing_state", Damage::kMissingState}, {"missing_index", Damage::kMissingIndex},
    {"missing_data", Damage::kMissingData},
};

// "" if the table has no name for `value`.
template <typename E>
constexpr std::string_view NameOf(std::span<const Named<E>> table, E value) {
  for (const Named<E>& entry : table) {
    if (entry.value == value) return entry.name;
  }
  return "";
}
template <typename E, std::size_t N>
constexpr std::string_view NameOf(const Named<E> (&table)[N], E value) {
  return NameOf(std::span<const Named<E>>(table), value);
}

template <typename E>
constexpr std::optional<E> FromName(std::span<const Named<E>> table, std::string_view name) {
  for (const Named<E>& entry : table) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}
template <typename E, std::size_t N>
constexpr std::optional<E> FromName(const Named<E> (&table)[N], std::string_view name) {
  return FromName(std::span<const Named<E>>(table), name);
}

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_NAMES_H_

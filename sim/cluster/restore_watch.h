// Sees which checkpoint a session is about to restore: the step in the file name that a restore is fed.
//
// Thread safety: as the sessions that it wraps.
#ifndef VIGIL_SIM_CLUSTER_RESTORE_WATCH_H_
#define VIGIL_SIM_CLUSTER_RESTORE_WATCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "vigil/core/session/session.h"

namespace vigil::sim {

// The number that a checkpoint's name ends with; -1 = none.
std::int64_t StepInName(std::string_view name);

// `restoring` is called before each restore with the step of its checkpoint; of a name without one not at all.
std::shared_ptr<SessionFactory> WatchRestores(std::shared_ptr<SessionFactory> inner,
                                              std::function<void(std::int64_t step)> restoring);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_RESTORE_WATCH_H_

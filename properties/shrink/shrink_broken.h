// Shrinks what breaks a rule or an invariant; of a job it plays no more than shows it.
//
// Most of a job's time may come after what went wrong in it: candidates are broken off soon after. What is left breaks
// the rule when it is played to its end, too, or else everything is done once more with whole jobs.
// Thread safety: as shrink.h.
#ifndef VIGIL_PROPERTIES_SHRINK_SHRINK_BROKEN_H_
#define VIGIL_PROPERTIES_SHRINK_SHRINK_BROKEN_H_

#include <cstdint>
#include <string_view>

#include "vigil/properties/shrink/shrink.h"

namespace vigil::properties {

// `events`: of the failing run; 0 = not known. `breaks`: whether a scenario breaks that rule. REQUIRES: the failing one
// does, by its choices.
Shrunk ShrinkBroken(const replays::Scenario& failing, std::string_view rule, std::int64_t events,
                    const StillFails& breaks, const ShrinkOptions& options = {});

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_SHRINK_SHRINK_BROKEN_H_

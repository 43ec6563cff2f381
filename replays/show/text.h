// The text of a trace: one line for each event that recordings have, in their words. The only place where it is made.
#ifndef VIGIL_REPLAYS_SHOW_TEXT_H_
#define VIGIL_REPLAYS_SHOW_TEXT_H_

#include <optional>
#include <string>
#include <vector>

#include "vigil/core/base/event.h"
#include "vigil/sim/kernel/trace.h"

namespace vigil::replays {

// "session 1 run failed ABORTED"; nullopt for events that recordings do not have.
std::optional<std::string> TextOf(const Event& event);

// Parts of it: "3", "3(closed)", "none"; "session 1 ready -> yes" of a call in a session, without the number that it
// read.
std::string SessionText(const Event& event);
std::string SessionCallText(const Event& event);

// The lines of one task ("chief/main"); with `services` also those of the tasks that a supervisor runs beside it, which
// begin with "summary: ", "step_counter: ", "checkpoint: " and "loop: ".
std::vector<std::string> TextOfTask(const sim::Trace& trace, std::string_view task, bool services = false);
// "summary" and so on; "" for tasks that are no service's.
std::string_view ServiceOfTask(std::string_view task);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_SHOW_TEXT_H_

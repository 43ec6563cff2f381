#include "vigil/replays/show/event_text.h"

#include <optional>
#include <utility>

#include "vigil/replays/show/text.h"
#include "vigil/replays/show/trace_text.h"

namespace vigil::replays {

std::string EventText(const Event& event) {
  std::optional<std::string> recorded = TextOf(event);
  return recorded.has_value() ? *std::move(recorded) : TraceLine(event);
}

}  // namespace vigil::replays

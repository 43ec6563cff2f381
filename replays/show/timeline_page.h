// A timeline as one HTML page that needs nothing else: lanes on a canvas, virtual time (or the order of events) as the
// axis.
//
// The data is JSON in the page, escaped so that no text in it can end it; the page loads nothing from anywhere.
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_SHOW_TIMELINE_PAGE_H_
#define VIGIL_REPLAYS_SHOW_TIMELINE_PAGE_H_

#include <string>
#include <string_view>

#include "vigil/replays/show/timeline.h"

namespace vigil::replays {

std::string TimelinePage(const Timeline& timeline);

// Parts of it: what the page reads; and the page itself, with the place for that marked by "@@TIMELINE@@".
std::string TimelineJson(const Timeline& timeline);
std::string_view TimelineTemplate();

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_SHOW_TIMELINE_PAGE_H_

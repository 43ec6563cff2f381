// Reads one record: strictly, so that a misspelt field is an error and not a scenario that tests nothing.
//
// Errors are INVALID_ARGUMENT and say where and what, on one line:
//   cases.jsonl:17: /hooks/0/plan/2/do: unknown action 'explode'; known: raise, request_stop, ...
// docs/scenario_format.md is the reference of the format. Numbers have bounds that protect whoever plays the scenario.
//
// Thread safety: pure functions; a JsonDocument belongs to one thread.
#ifndef VIGIL_REPLAYS_FORMAT_PARSE_H_
#define VIGIL_REPLAYS_FORMAT_PARSE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

inline constexpr int kMaxBodyDepth = 8;           // loops in loops ...
inline constexpr std::int64_t kNewestFormat = 2;  // of the field "format"

// `source` and `record` (a line number) are for messages and for Recording.
absl::StatusOr<Recording> ParseRecording(std::string_view text, std::string_view source = "-", std::int64_t record = 1);
// The same with memory to reuse, for many records.
absl::StatusOr<Recording> ParseRecording(std::string_view text, std::string_view source, std::int64_t record,
                                         JsonDocument& scratch);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_PARSE_H_

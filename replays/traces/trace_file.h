// Reads the trace that a program wrote (core/io/trace_writer.h) into a recording that the runner plays.
//
// A tail that is cut off, as a crash leaves it, is no error: what is whole is played, and the recording's note says so.
// Errors are INVALID_ARGUMENT (no trace, another version) and DATA_LOSS (damaged), on one line that begins with the
// file's name.
//
// Thread safety: a pure function.
#ifndef VIGIL_REPLAYS_TRACES_TRACE_FILE_H_
#define VIGIL_REPLAYS_TRACES_TRACE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/env/files.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

// Larger files are not read: more than any trace has.
inline constexpr std::uint64_t kMostTraceBytes = std::uint64_t{256} << 20;

// `bytes`: the whole file, and behind it those of the parts beside it, in order (FindTraceParts).
absl::StatusOr<Recording> ParseTrace(std::string_view bytes, std::string_view source);

// The files that go on with the trace `path`, in order. Errors: those of listing its folder.
absl::StatusOr<std::vector<std::string>> FindTraceParts(Files& files, const std::string& path);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_TRACES_TRACE_FILE_H_

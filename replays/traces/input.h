// Finds and reads the records that a user names: files, folders, standard input.
//
//   x.json               one record, over as many lines as it likes
//   x.jsonl              a record per line; empty lines count as lines, but not as records
//   x.json.xz, x.jsonl.xz  the same, packed
//   x.trace              the trace of a production run (trace_file.h); also packed
//   folder all of these in it and below, by name; hidden ones are left out, and so is what was there before
//                        under another name (a link)
//   -                    standard input: lines like a .jsonl, or one record over many lines, whichever it turns out to
//                        be
//
// Memory is bounded: records are handed out one by one. What cannot be read is handed out as an error, in its place in
// the order, and reading goes on with the next path; what was read of a damaged file before the damage has been handed
// out (but of a packed one nothing: what unpacks to something may still be wrong, and only its end tells).
//
// Thread safety: ReadRecords may run on any thread; the callbacks are called on it.
#ifndef VIGIL_REPLAYS_TRACES_INPUT_H_
#define VIGIL_REPLAYS_TRACES_INPUT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/env/files.h"
#include "vigil/replays/traces/stream.h"

namespace vigil::replays {

struct RawRecord {
  std::string source;       // the file as reached from the path that the user gave, or "-"
  std::int64_t record = 1;  // line in a .jsonl, 1 in a .json; 0 in an error that is about the whole file
  std::string text;
  bool is_trace = false;  // `text` is a trace (trace_file.h), else JSON
  absl::Status error;     // not OK: there is no text; the message names the file (and line) and is complete
  std::string only = {};  // whoever passes it on may name the one id that is wanted; "" = any
};

// Whether a file in a folder is read: by its name. In a folder, hidden ones are not.
bool IsScenarioFile(const std::string& path);

// Called for each record and each error, in order. False = enough: ReadRecords returns.
using OnRecord = std::function<bool(RawRecord)>;

// `standard_input` is read for "-" only; it may be named once. `what`: errors call what is read so.
void ReadRecords(Files& files, const ChunkSource& standard_input, const std::vector<std::string>& paths,
                 const OnRecord& on_record, std::string_view what = "scenario");

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_TRACES_INPUT_H_

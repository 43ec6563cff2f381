// What became of one record: passed, failed with a reason, or not readable at all.
//
// Thread safety: data and pure functions.
#ifndef VIGIL_REPLAYS_JUDGE_RESULT_H_
#define VIGIL_REPLAYS_JUDGE_RESULT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "vigil/replays/format/scenario.h"
#include "vigil/replays/judge/compare.h"
#include "vigil/replays/stage/outcome.h"

namespace vigil::replays {

enum class Status {
  kPassed,
  kFailed,
  kUnreadable,
  kNotPlayed,  // whoever plays cannot play that (Verdict::kCannot)
};

struct Result {
  Status status = Status::kUnreadable;
  std::string source;       // the file, or "-"
  std::int64_t record = 0;  // line in a .jsonl, 1 in a .json; 0 = the whole file
  std::string id;           // of what is readable, as the following ones
  std::string title;
  std::string reason;     // one line, why it did not pass; of the unreadable the whole error, file and line included
  std::string note;       // of the recording (scenario.h)
  bool by_seeds = false;  // what real clusters did, held against a play for each of some seeds
  Difference difference;
  PlainOutcome outcome;
};

// Passed: it was played to its end and nothing differs from what the recording expects. A saved failure, which expects
// to violate a rule, passes once it violates none. A recording that expects nothing fails: there is nothing to compare.
Result Judge(const Recording& recording, PlainOutcome outcome);

std::string_view StatusName(Status status);  // "passed", "failed", "unreadable", "not played"
std::string_view VerdictName(
    Verdict verdict);  // "played", "not set up", "runaway", "deadlock", "crashed", "interrupted", "not played",
                       // "player failed"

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_JUDGE_RESULT_H_

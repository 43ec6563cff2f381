// Everything that judges, in one table: rules, invariants of clusters, comparisons with tolerances, what the verifier
// finds. Of each what it lets pass although its sentence, taken alone, forbids it, and why: docs/judges.md is made from
// it.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_VERIFY_JUDGES_H_
#define VIGIL_PROPERTIES_VERIFY_JUDGES_H_

#include <string>
#include <string_view>
#include <vector>

namespace vigil {

enum class JudgeKind { kRule, kInvariant, kComparison, kTolerance, kPromise };

struct TableJudge {
  JudgeKind kind;
  std::string_view id;
  std::string sentence;
  std::string excuses;
  std::string why;  // "" = it excuses nothing
};

// In the order of the document.
std::vector<TableJudge> AllJudges();

std::string JudgesDocument();

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_JUDGES_H_

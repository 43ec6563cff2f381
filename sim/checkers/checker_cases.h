// Small histories written by hand, for each checker one that keeps what it watches over and one that is forged: the
// checker must see the difference. What the checkers, and the table of all judges, are tested with.
//
// Thread safety: pure functions.
#ifndef VIGIL_SIM_CHECKERS_CHECKER_CASES_H_
#define VIGIL_SIM_CHECKERS_CHECKER_CASES_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "vigil/sim/checkers/checker.h"

namespace vigil::sim {

// All that a checker may look at.
struct JobEvidence {
  JobSpec spec;
  JobHistory history;
  JobFacts facts;
  std::optional<JobFacts> quiet = std::nullopt;

  JobJudgement Judge() const;
};

struct CheckerCase {
  std::string_view checker;
  std::string_view forged;  // what is wrong with it, in a few words
  JobEvidence keeps;
  JobEvidence breaks;
};

// For who forges them.
inline constexpr std::string_view kBoss = "chief:0";
inline constexpr std::string_view kHand = "worker:0";

struct Told {
  int second;
  std::string_view task;
  JobMoment::Kind kind;
  std::int64_t step = 0;
  Code code = Code::kOk;
  std::vector<float> ledger = {};
};
JobHistory Tell(std::initializer_list<Told> lines);
// With that newest checkpoint at the end, if there is one.
JobEvidence Evidence(std::initializer_list<Told> lines, std::optional<std::int64_t> newest = std::nullopt);

std::vector<CheckerCase> CheckerCases();
// Those of queues, which are among them.
std::vector<CheckerCase> QueueCases();
// ... and of servers that are told to stop.
std::vector<CheckerCase> StopCases();
// ... of where tasks end, and how long they take for a run or a session.
std::vector<CheckerCase> EndCases();
// ... of restores, and of what servers hold and who trains is told.
std::vector<CheckerCase> RestoreCases();
// ... of what a job leaves behind on servers.
std::vector<CheckerCase> RestCases();
// ... and of what conversations hear.
std::vector<CheckerCase> AnswerCases();
// ... and of what a task can feel.
std::vector<CheckerCase> ReachCases();
// ... and of which models chiefs go on with.
std::vector<CheckerCase> ModelCases();

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CHECKERS_CHECKER_CASES_H_

// The invariants of a job: what must hold in every run of it, whatever fails.
//
// One checker a file; each states its sentence and its source, and looks at the history of a run (job_history.h), which
// is over. They share no code with the core. A checker that had nothing to look at is not armed; a campaign in which
// one was never armed fails.
// Thread safety: pure functions.
#ifndef VIGIL_SIM_CHECKERS_CHECKER_H_
#define VIGIL_SIM_CHECKERS_CHECKER_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/behaviour.h"
#include "vigil/sim/cluster/job_facts.h"
#include "vigil/sim/cluster/job_history.h"
#include "vigil/sim/cluster/job_spec.h"

namespace vigil::sim {

class Writes;

struct JobRun {
  const JobSpec& spec;
  const JobHistory& history;
  const JobFacts& facts;
  const Behaviour& behaviour;
  const JobFacts* quiet = nullptr;  // of the same job and seed without faults, if it was played
  bool real = false;                // by processes, whose moments are in the order of their machine's clock
  Time start = {};                  // when its world began: findings tell the time since then
  const Writes* writes = nullptr;   // of the history, by when they began: CheckJob's, as checkers get it
};

// A fault has flipped a bit in that checkpoint: it was whole when it was written, and no checksum brings it back.
inline bool HasRotted(const JobRun& run, std::int64_t step) { return run.facts.rotten.contains(step); }

// From then on its task is about to leave the training: a hook has asked for a stop, the input has ended, or its
// session is being closed without an error.
bool Leaves(const JobMoment& moment);

// Whether a run of that job that came to this says something by its final loss. Then it is worth while to play it
// without faults.
bool ComparableLoss(const JobSpec& spec, const JobFacts& facts);

// Where a checker says what it found.
class Findings {
 public:
  explicit Findings(Time start = {}) : start_(start) {}
  void Arm() { ++armed_; }
  void Violate(const JobMoment& moment, std::string_view expected, std::string_view seen);
  void Violate(std::string_view task, std::string_view expected, std::string_view seen);

  std::int64_t armed() const { return armed_; }
  std::vector<JobViolation>& violations() { return violations_; }  // which name no rule

 private:
  const Time start_;
  std::int64_t armed_ = 0;
  std::vector<JobViolation> violations_;
};

struct Checker {
  std::string_view id;
  std::string_view sentence;
  std::string_view source;
  // Which behaviour it needs: null = it holds under TensorFlow's, too.
  bool Behaviour::*needs = nullptr;
  void (*check)(const JobRun& run, Findings& findings) = nullptr;
  std::string_view stays = "";           // why it stays though no known mistake is missed without it; "" = one is
  std::string_view excuses = "nothing";  // what it lets pass although its sentence, taken alone, forbids it
  std::string_view why = "";             // it excuses that
  bool by_order = false;                 // looks at what is simulated only: in which order things took effect
};

// In a fixed order.
std::span<const Checker> Checkers();

struct JobJudgement {
  std::vector<JobViolation> violations;  // at most a few of each checker
  std::map<std::string, std::int64_t, std::less<>> armed;
};
JobJudgement CheckJob(const JobRun& run);

// The checkers, each in its own file.
extern const Checker kUpdatesExactlyOnce;
extern const Checker kUpdatesAsApplied;
extern const Checker kStepGoesBackOnlyWithARecovery;
extern const Checker kReportedCheckpointSurvives;
extern const Checker kFinalCheckpointHasFinalStep;
extern const Checker kLastOneSaves;
extern const Checker kEveryTaskEnds;
extern const Checker kEndsAtItsLastStep;
extern const Checker kBoundedRecovery;
extern const Checker kNoTaskLeft;
extern const Checker kFailuresInReach;
extern const Checker kServerStops;
extern const Checker kTrainerStops;
extern const Checker kHoldsForSessions;
extern const Checker kTokensConserved;
extern const Checker kTokensAsOwed;
extern const Checker kQueuesInOrderOnce;
extern const Checker kHistoryLinearizable;
extern const Checker kLossAsWithoutFaults;
extern const Checker kCompleteWhenReported;
extern const Checker kCheckpointLogged;
extern const Checker kKeepLimit;
extern const Checker kIndexMeansWhole;
extern const Checker kNoRunAfterAStop;
extern const Checker kErrorsHaveACause;
extern const Checker kRestoresNewestReported;
extern const Checker kRestoreBringsWhatWasSaved;
extern const Checker kSavesWhatWasThere;
extern const Checker kDamageIsNotRestored;
extern const Checker kNothingFailsWithoutAFault;
extern const Checker kResourcesReturn;
extern const Checker kGetsOnWhenHealed;
extern const Checker kIdleSessionsStay;
extern const Checker kDiariesSurvive;
extern const Checker kAnswersAsAlone;
extern const Checker kInitFnRanWhole;
extern const Checker kDivergedIsNotSaved;

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CHECKERS_CHECKER_H_

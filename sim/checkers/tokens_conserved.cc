// What goes into a synchronous step and what comes out of it.
//
// R gradients make a step, which gives R tokens; a run of a replica pushes at most one gradient to each accumulator and
// takes one token. Steps are made by a task of the chief's session, and each such session begins with R new tokens in
// place of the old ones (the chief's hook). So a "term" of the chief lasts from the after_create_session of its session
// until the chief dies, recovers, fails or ends; restores and initialisations happen between terms only. Hence:
//
// * Gradients. Within a term the step grows only by steps made, so what two observations of one term differ by was made
//   between them; over all terms together at least sum(greatest - first seen). Each step took R gradients for good, and
//   each gradient was pushed by an attempt: a run that was started, or a new session within one. So R * sum <= attempts
//   started so far, at any time. Observations count only if their attempt began in the term: a step that was read
//   before a restore cannot be told after it. In the first term of a model that was initialised the first step counts
//   as seen: 0.
// * Tokens. The runs that began in a term and returned took R tokens from its beginning and R from each step made in
//   it, which are no more than the step is: runs <= R + R * step, for a step that is seen by an attempt that began
//   after they had returned.
//
// A process of the chief that was taken for dead and lives on may begin a session, too, while a server that has started
// again has not heard of its successor: it restores the model and brings tokens of its own. That ends the term.
//
// Both hold with equality in a job without faults (the second one in its first term). What strikes a replica (a failed
// attempt, a gradient dropped as stale, a token that was taken by an attempt that failed) only makes fewer steps and
// fewer runs of them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "vigil/sim/checkers/checker.h"

namespace vigil::sim {
namespace {

constexpr std::string_view kTheChief = "chief:0";

struct Attempt {
  int term = 0;               // in which it began; 0: in none
  std::int64_t returned = 0;  // runs of that term that had returned by then
  bool in_run = false;
};

class TokenCount {
 public:
  TokenCount(const JobSpec& spec, Findings& findings) : findings_(findings) {
    const auto workers = spec.tasks.find("worker");
    const std::int64_t replicas = 1 + (workers == spec.tasks.end() ? 0 : workers->second);
    aggregated_ = spec.workload.sync > 0 ? spec.workload.sync : replicas;
  }

  void See(const JobMoment& moment) {
    if (moment.task == kTheChief) SeeChief(moment);
    if (BeginsAnew(moment.kind) && moment.task == ZombieOf(kTheChief)) open_ = false;
    Attempt& attempt = attempts_[moment.task];
    switch (moment.kind) {
      case JobMoment::Kind::kReplaced:
        attempt = attempts_[moment.subject];
        break;
      case JobMoment::Kind::kStarted:
        attempt = Attempt();
        break;
      case JobMoment::Kind::kRunStarted:
        attempt.in_run = true;
        Begin(attempt);
        break;
      case JobMoment::Kind::kSession:
        if (attempt.in_run) Begin(attempt);
        break;
      case JobMoment::Kind::kRunReturned:
        attempt.in_run = false;
        if (open_ && attempt.term == term_) ++returned_;
        break;
      case JobMoment::Kind::kRunFailed:
        attempt.in_run = false;
        break;
      case JobMoment::Kind::kSawStep:
        if (open_ && attempt.term == term_) Observe(moment, attempt);
        break;
      default:
        break;
    }
  }

 private:
  void SeeChief(const JobMoment& moment) {
    switch (moment.kind) {
      case JobMoment::Kind::kStarted:
      case JobMoment::Kind::kRecovery:
      case JobMoment::Kind::kRunFailed:
      case JobMoment::Kind::kEnded:
        open_ = false;
        break;
      case JobMoment::Kind::kRestored:
        restored_ = true;
        break;
      case JobMoment::Kind::kInitialised:
        initialised_ = initialised_ || moment.code == Code::kOk;
        break;
      case JobMoment::Kind::kSession:
        made_before_ += made();
        first_.reset();
        greatest_ = 0;
        returned_ = 0;
        open_ = true;
        ++term_;
        break;
      default:
        break;
    }
  }

  static bool BeginsAnew(JobMoment::Kind kind) {
    return kind == JobMoment::Kind::kSession || kind == JobMoment::Kind::kRestored ||
           kind == JobMoment::Kind::kInitialised;
  }

  void Begin(Attempt& attempt) {
    ++begun_;
    attempt.term = open_ ? term_ : 0;
    attempt.returned = returned_;
  }

  std::int64_t made() const { return first_.has_value() ? greatest_ - *first_ : 0; }

  void Observe(const JobMoment& moment, const Attempt& attempt) {
    findings_.Arm();
    // The first step of all is the model's own beginning, if it has one: then it was made from 0.
    const bool from_zero = term_ == 1 && initialised_ && !restored_;
    if (!first_.has_value()) first_ = from_zero ? 0 : moment.step;
    first_ = std::min(*first_, moment.step);
    greatest_ = std::max(greatest_, moment.step);
    const std::int64_t steps = made_before_ + made();
    if (aggregated_ * steps > begun_) {
      findings_.Violate(moment,
                        fmt::format("at most {} steps of {} gradients each, from {} attempts to push one",
                                    begun_ / aggregated_, aggregated_, begun_),
                        fmt::format("{} steps", steps));
    }
    if (attempt.returned > aggregated_ * (1 + moment.step)) {
      findings_.Violate(
          moment,
          fmt::format("at most {} runs with a token each, from {} steps of {} tokens and {} to begin with",
                      aggregated_ * (1 + moment.step), moment.step, aggregated_, aggregated_),
          fmt::format("{} runs", attempt.returned));
    }
  }

  Findings& findings_;
  std::int64_t aggregated_ = 1;
  std::map<std::string, Attempt, std::less<>> attempts_;  // of each task the last
  std::int64_t begun_ = 0;                                // attempts, by all tasks
  std::int64_t made_before_ = 0;                          // steps, in earlier terms
  // The chief's term.
  bool open_ = false;
  int term_ = 0;
  std::optional<std::int64_t> first_;
  std::int64_t greatest_ = 0;
  std::int64_t returned_ = 0;  // runs that began in it
  bool initialised_ = false;
  bool restored_ = false;
};

void CheckTokens(const JobRun& run, Findings& findings) {
  if (run.spec.workload.kind != WorkloadKind::kSyncRegression) return;
  TokenCount count(run.spec, findings);
  for (const JobMoment& moment : run.history) count.See(moment);
}

}  // namespace

const Checker kTokensConserved = {
    .id = "tokens.conserved",
    .sentence =
        "In synchronous training no step is made of fewer gradients than it needs, and no run goes on without a token "
        "of its own.",
    .source = "sync_replicas_optimizer.py: replicas_to_aggregate gradients a step, as many tokens put back",
    .needs = &Behaviour::sync_tokens_renewed,
    .check = CheckTokens,
    .excuses =
        "fewer steps and fewer runs than gradients and tokens allow; what follows in a session of the chief once its "
        "zombie has begun one",
    .why =
        "a failed attempt, a stale gradient or a token taken by an attempt that failed only makes fewer; a server that "
        "has started again knows of no zombie until its successor comes",
};

}  // namespace vigil::sim

// The tokens of synchronous training, as the server tells it that keeps them: neither too many nor too few.
//
// A step that was made gives as many tokens as it took gradients, all of them its number. (The optimizers of jobs know
// of no more replicas than that.) A session of the chief begins with as many, in place of what was there, which pay
// for no step. The task that makes the steps makes the next one only when the tokens of the last are being put in. So
// a step without its tokens is the last one of a session that was given up, by the chief or by a zombie of it, or of a
// server or a chief that died: no more of them than that has happened, and one under way.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

constexpr std::string_view kMaker = "chief:0";

class OwedTokens {
 public:
  OwedTokens(const JobSpec& spec, Findings& findings) : findings_(findings) {
    const auto workers = spec.tasks.find("worker");
    const std::int64_t replicas = 1 + (workers == spec.tasks.end() ? 0 : workers->second);
    gradients_ = spec.workload.sync > 0 ? spec.workload.sync : replicas;
  }

  void See(const JobMoment& moment) {
    switch (moment.kind) {
      case JobMoment::Kind::kStarted:
        if (moment.life > 1 && (moment.task == kMaker || IsServer(moment.task))) ++interrupted_;
        break;
      case JobMoment::Kind::kRecovery:
      case JobMoment::Kind::kRunFailed:
        if (WithoutZombie(moment.task) == kMaker) ++interrupted_;
        break;
      case JobMoment::Kind::kStepSet:
        steps_.push_back(moment.step);
        break;
      case JobMoment::Kind::kStepMade:
        Make(moment);
        break;
      case JobMoment::Kind::kQueueCalled:
        if (moment.queue->what == QueueOp::What::kPut || moment.queue->what == QueueOp::What::kRenew) Put(moment);
        break;
      default:
        break;
    }
  }

 private:
  void Make(const JobMoment& moment) {
    findings_.Arm();
    if (unpaid_ > interrupted_) {
      findings_.Violate(moment, "the tokens of each step before the next one",
                        fmt::format("{} steps without tokens, {} interruptions", unpaid_, interrupted_));
    }
    ++unpaid_;
    steps_.push_back(moment.step);
  }

  void Put(const JobMoment& moment) {
    findings_.Arm();
    const std::vector<std::int64_t>& tokens = moment.queue->elements;
    if (std::ssize(tokens) != gradients_) {
      findings_.Violate(moment, fmt::format("{} tokens", gradients_), fmt::format("{}", tokens.size()));
    }
    if (moment.queue->what == QueueOp::What::kRenew) return;
    if (unpaid_ == 0) findings_.Violate(moment, "tokens for a step", "no step was made that had none");
    unpaid_ = std::max<std::int64_t>(0, unpaid_ - 1);
    const auto right = [&](std::int64_t step) {
      return std::ranges::all_of(tokens, [step](std::int64_t token) { return token == step; });
    };
    if (std::ranges::none_of(steps_, right)) {
      findings_.Violate(moment, fmt::format("tokens of a step just made ({})", fmt::join(steps_, ", ")),
                        fmt::format("{}", fmt::join(tokens, ", ")));
    }
    // The step may be on its way back: only the newest is still to be paid.
    if (steps_.size() > 1) steps_.erase(steps_.begin(), steps_.end() - 1);
  }

  Findings& findings_;
  std::int64_t gradients_ = 1;
  std::int64_t interrupted_ = 0;     // sessions given up, lives of servers and the chief
  std::int64_t unpaid_ = 0;          // steps that were made
  std::vector<std::int64_t> steps_;  // that the global step has been since tokens were put in
};

void CheckOwed(const JobRun& run, Findings& findings) {
  if (run.spec.workload.kind != WorkloadKind::kSyncRegression) return;
  OwedTokens tokens(run.spec, findings);
  for (const JobMoment& moment : run.history) tokens.See(moment);
}

}  // namespace

const Checker kTokensAsOwed = {
    .id = "tokens.as_owed",
    .sentence =
        "As the servers tell it: a synchronous step that was made hands out its tokens, all of them and no more, "
        "before "
        "the next one is made.",
    .source = "sync_replicas_optimizer.py: replicas_to_aggregate gradients a step, as many tokens put back",
    .needs = &Behaviour::sync_tokens_renewed,
    .check = CheckOwed,
    .excuses = "as many steps without tokens as sessions of the chief were given up and servers died",
    .why = "a step that is cut off has been made, but its tokens are not put in; the next session begins with new ones",
};

}  // namespace vigil::sim

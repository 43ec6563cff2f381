#include "vigil/properties/explore/guided.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/properties/explore/explore_state.h"
#include "vigil/properties/explore/play_judgement.h"
#include "vigil/properties/shrink/failure_report.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/crew/packed.h"
#include "vigil/sim/kernel/chooser.h"

namespace vigil::properties {
namespace {

using replays::Outcome;
using replays::Scenario;
using replays::Verdict;
using sim::JobMoment;

constexpr std::uint64_t kRound = 64;
constexpr int kPlaysAhead = 8;
constexpr std::size_t kMostKept = 1024;  // chains that are lengthened: the newest
constexpr int kMostTries = 16;           // to find a fault that makes a new pair
constexpr std::uint64_t kToldInChains = 3;

std::uint64_t HashOf(std::string_view text) { return XXH64(text.data(), text.size(), 0); }

std::string_view RoleOf(std::string_view task) { return task.substr(0, task.find(':')); }

// What the fault is, but for where in the course it falls: numbers (of steps, of parts) are left out.
std::string SignatureOf(const CourseFault& fault) {
  const sim::CoursePoint& point = fault.point;
  std::string text = fmt::format("{} {} {}>{} {} ", CourseFaultName(fault.kind), CoursePointName(point.at.kind),
                                 RoleOf(point.task), RoleOf(point.peer), point.request);
  for (const char c : point.what) {
    if (c < '0' || c > '9') text += c;
  }
  return text;
}

std::string KindAndRole(const CourseFault& fault) {
  return fmt::format("{} of {}", CourseFaultName(fault.kind), RoleOf(fault.point.task));
}

std::uint64_t PairOf(const CourseFault& before, const CourseFault& fault) {
  return HashOf(KindAndRole(before) + " before " + SignatureOf(fault));
}

// What says what a task is doing, and what it does next because of a fault.
constexpr JobMoment::Kind kStates[] = {
    JobMoment::Kind::kStarted,     JobMoment::Kind::kServing,    JobMoment::Kind::kOpened,
    JobMoment::Kind::kSession,     JobMoment::Kind::kRunStarted, JobMoment::Kind::kRunReturned,
    JobMoment::Kind::kRunFailed,   JobMoment::Kind::kRecovery,   JobMoment::Kind::kRestored,
    JobMoment::Kind::kInitialised, JobMoment::Kind::kSaved,      JobMoment::Kind::kStopAsked,
    JobMoment::Kind::kLeaves,      JobMoment::Kind::kEnded};
constexpr JobMoment::Kind kReactions[] = {JobMoment::Kind::kRunFailed, JobMoment::Kind::kRecovery,
                                          JobMoment::Kind::kEnded,     JobMoment::Kind::kStarted,
                                          JobMoment::Kind::kRestored,  JobMoment::Kind::kInitialised};

bool IsOneOf(std::span<const JobMoment::Kind> kinds, JobMoment::Kind kind) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

struct GuidedTask {
  std::uint64_t number = 0;  // of the play in its round
  FaultChain chain;
};
struct GuidedReply {
  std::uint64_t number = 0;
  bool played = false;
  std::set<std::uint64_t> pairs;
  sim::CourseLog after;  // points behind the last fault
  ExploreCounts counts;
  std::string rule;  // the first that it violates; "" = none
  std::string reason;
};
template <typename Archive>
void PackFields(Archive& archive, GuidedReply& reply) {
  archive(reply.number, reply.played, reply.pairs, reply.after, reply.counts, reply.rule, reply.reason);
}

// Plays, in a worker.
class GuidedPlayer {
 public:
  GuidedPlayer(const CourseSpace& space, const replays::CrewView& view)
      : space_(space), stop_(*view.stop), part_(view.part) {}

  GuidedReply Play(const GuidedTask& task) {
    part_(1);
    GuidedReply reply;
    reply.number = task.number;
    const Scenario scenario = space_.With(task.chain);
    Outcome outcome = runner_.Run(scenario, {.interrupt = &stop_, .log_course = true});
    const bool effective = outcome.job.has_value() && outcome.job->inert.empty();
    if (outcome.verdict == Verdict::kPlayed) reply.pairs = PairsOf(task.chain, outcome);
    reply.after = CourseSpace::After(task.chain, std::move(outcome.course));
    const PlayJudgement play = JudgePlay(std::move(outcome), scenario, nullptr, scenario.id);
    if (play.verdict == Verdict::kInterrupted) return reply;
    reply.played = true;
    ExploreCounts& counts = reply.counts;
    counts.played = 1;
    counts.all_fired = effective ? 1 : 0;
    counts.ends[play.end] = 1;
    counts.traces.insert(play.trace_hash);
    for (const std::string& rule : play.rules) ++counts.violated[rule];
    if (play.kept()) return reply;
    counts.failed = 1;
    counts.violations = play.rules.empty() ? 0 : 1;
    reply.rule = play.rules.empty() ? "" : play.rules.front();
    if (play.rules.empty()) reply.reason = play.What();
    return reply;
  }

 private:
  const CourseSpace& space_;
  const std::atomic<bool>& stop_;
  const std::function<void(std::uint64_t)> part_;
  replays::Runner runner_;
};

// Chains that are lengthened.
struct KeptChain {
  FaultChain chain;
  sim::CourseLog after;
};

class GuidedRun {
 public:
  GuidedRun(const GuidedOptions& options, Files& files, const GuidedCallbacks& callbacks, const std::atomic<bool>& stop)
      : options_(options),
        callbacks_(callbacks),
        stop_(stop),
        space_(options.scenario),
        reporter_(files,
                  {.folder = options.failures,
                   .plant = options.plant,
                   .limits = options.limits,
                   .on_error = callbacks.on_error,
                   .now = callbacks.now,
                   .on_tick = [this] { callbacks_.on_tick(summary_); }},
                  stop) {}

  absl::StatusOr<GuidedSummary> Run() {
    VIGIL_ASSIGN_OR_RETURN(const std::optional<replays::Crash> crash,
                           space_.Prepare(options_.jobs, options_.limits, stop_));
    if (crash.has_value()) {
      TellCrashWithoutFaults(*crash);
      return std::move(summary_);
    }
    summary_.lengths.resize(static_cast<std::size_t>(options_.faults));
    kept_.push_back({{}, space_.course()});
    while (summary_.counts.played < options_.plays && !stop_ && !summary_.given_up) {
      if (!Round(std::min(kRound, options_.plays - summary_.counts.played))) break;
    }
    summary_.stopped = !summary_.given_up && summary_.counts.played < options_.plays;
    if (summary_.growth.empty() || summary_.growth.back().first != summary_.counts.played)
      summary_.growth.emplace_back(summary_.counts.played, pairs_.size());
    return std::move(summary_);
  }

 private:
  std::uint64_t Draw(std::string_view what, std::uint64_t count, std::uint64_t bound) const {
    return sim::Bounded(sim::HashDraw(options_.seed, what, count), bound);
  }

  // Half of them from the newest quarter: what is new is worth a second look.
  const KeptChain& Parent(std::uint64_t play) const {
    const std::uint64_t all = kept_.size();
    const std::uint64_t newest = options_.blind || Draw("newest", play, 2) == 0 ? all : (all + 3) / 4;
    return kept_[all - 1 - Draw("parent", play, newest)];
  }

  FaultChain Longer(const KeptChain& parent, std::uint64_t play) const {
    const std::vector<CourseFault> next = FaultsOf(parent.after);
    FaultChain chain = parent.chain;
    const CourseFault* chosen = nullptr;
    for (int i = 0; i < (options_.blind ? 1 : kMostTries); ++i) {
      chosen = &next[Draw("fault", play * kMostTries + static_cast<std::uint64_t>(i), next.size())];
      if (chain.empty() ? !pairs_.contains(HashOf(SignatureOf(*chosen)))
                        : !pairs_.contains(PairOf(chain.back(), *chosen)))
        break;
    }
    chain.push_back(*chosen);
    return chain;
  }

  // False: it was interrupted, and counts for nothing.
  bool Round(std::uint64_t plays) {
    std::vector<FaultChain> chains;
    for (std::uint64_t i = 0; i < plays; ++i) {
      const std::uint64_t play = summary_.counts.played + i;
      chains.push_back(Longer(Parent(play), play));
    }
    std::vector<GuidedReply> replies(plays);
    std::uint64_t next = 0;
    replays::CrewCallbacks crew;
    crew.next = [&]() -> std::optional<std::string> {
      if (next == plays) return std::nullopt;
      return replays::Packed(next++);
    };
    crew.new_worker = [&](const replays::CrewView& view) -> replays::CrewWorker {
      return [&, player = std::make_shared<GuidedPlayer>(space_, view)](const std::string& request) {
        const auto number = replays::Unpacked<std::uint64_t>(request);
        return replays::Packed(player->Play({number, chains[number]}));
      };
    };
    crew.on_reply = [&](const std::string& reply) {
      auto got = replays::Unpacked<GuidedReply>(reply);
      const std::uint64_t number = got.number;
      replies[number] = std::move(got);
      return true;
    };
    crew.on_crash = [&](const std::string& request, std::uint64_t,
                        const replays::Crash& crash) -> std::optional<std::string> {
      AddCrash(replies[replays::Unpacked<std::uint64_t>(request)], crash);
      return std::nullopt;
    };
    crew.on_tick = [this] { callbacks_.on_tick(summary_); };
    const replays::CrewSummary worked =
        replays::RunCrew({.jobs = options_.jobs, .ahead = kPlaysAhead, .limits = options_.limits}, crew, stop_);
    summary_.given_up = worked.given_up;
    if (!std::ranges::all_of(replies, &GuidedReply::played)) return false;
    for (std::uint64_t i = 0; i < plays; ++i) Add(std::move(chains[i]), std::move(replies[i]));
    return true;
  }

  void Add(FaultChain chain, GuidedReply reply) {
    AddCounts(summary_.counts, reply.counts);
    ++summary_.lengths[chain.size() - 1];
    const std::size_t before = pairs_.size();
    pairs_.insert(reply.pairs.begin(), reply.pairs.end());
    const bool is_new = pairs_.size() > before;
    summary_.pairs = pairs_.size();
    summary_.kept += is_new ? 1 : 0;
    if (std::has_single_bit(summary_.counts.played))
      summary_.growth.emplace_back(summary_.counts.played, summary_.pairs);
    if (reply.counts.failed > 0) {
      if (summary_.first_failure == 0) summary_.first_failure = summary_.counts.played;
      Tell(chain, reply);
    }
    const bool can_grow = !reply.after.empty() && chain.size() < static_cast<std::size_t>(options_.faults);
    if (!can_grow || !(is_new || options_.blind)) return;
    if (kept_.size() == kMostKept) kept_.erase(kept_.begin() + 1);  // the job without faults stays
    kept_.push_back({std::move(chain), std::move(reply.after)});
  }

  // Nothing can be put into a job that crashes by itself.
  void TellCrashWithoutFaults(const replays::Crash& crash) {
    summary_.counts = CountsOfCrash(crash);
    summary_.first_failure = 1;
    GuidedReply reply;
    AddCrash(reply, crash);
    Tell({}, reply);
  }

  void Tell(const FaultChain& chain, const GuidedReply& reply) {
    if (told_[reply.rule]++ >= kToldInChains) return;
    const FailedRun failed{.scenario = space_.With(chain),
                           .drawn = false,
                           .rule = reply.rule,
                           .reason = reply.reason,
                           .explanation = explanations_[reply.rule],
                           .source = options_.source};
    FailureReport report = reporter_.Report(failed);
    callbacks_.on_failure({failed.scenario.id, failed.rule, std::move(report.text), std::move(report.file)});
  }

  void AddCrash(GuidedReply& reply, const replays::Crash& crash) {
    reply.played = true;
    reply.rule = crash.rule();
    reply.reason = crash.Line();
    reply.counts = CountsOfCrash(crash);
    explanations_[reply.rule] = crash.Stack();
  }

  const GuidedOptions& options_;
  const GuidedCallbacks& callbacks_;
  const std::atomic<bool>& stop_;
  CourseSpace space_;
  FailureReporter reporter_;
  GuidedSummary summary_;
  std::vector<KeptChain> kept_;
  std::set<std::uint64_t> pairs_;
  std::map<std::string, std::uint64_t> told_;
  std::map<std::string, std::string> explanations_;  // of crashes
};

}  // namespace

std::set<std::uint64_t> PairsOf(const FaultChain& chain, const Outcome& outcome) {
  std::set<std::uint64_t> pairs;
  if (chain.empty()) return pairs;
  pairs.insert(HashOf(SignatureOf(chain.back())));
  if (chain.size() > 1) pairs.insert(PairOf(chain[chain.size() - 2], chain.back()));
  const std::string fault = KindAndRole(chain.back());
  const Time at = outcome.start + chain.back().point.time;
  std::map<std::string, std::string> states;
  std::set<std::string> reacted;
  for (const JobMoment& moment : outcome.history) {
    if (moment.task.empty()) continue;
    if (moment.at <= at && IsOneOf(kStates, moment.kind)) {
      states[moment.task] = fmt::format("{} {} in life {}", static_cast<int>(moment.kind), CodeName(moment.code),
                                        std::min(moment.life, 3));
    } else if (moment.at > at && IsOneOf(kReactions, moment.kind) && reacted.insert(moment.task).second) {
      pairs.insert(HashOf(fmt::format("{} then {}: {} {}", fault, RoleOf(moment.task), static_cast<int>(moment.kind),
                                      CodeName(moment.code))));
    }
  }
  if (states.empty()) return pairs;
  std::string all = fault;
  for (const auto& [task, state] : states) all += fmt::format(", {}: {}", RoleOf(task), state);
  pairs.insert(HashOf(all));
  return pairs;
}

absl::StatusOr<GuidedSummary> RunGuided(const GuidedOptions& options, Files& files, const GuidedCallbacks& callbacks,
                                        const std::atomic<bool>& stop) {
  if (!options.scenario.job.has_value())
    return UsageError("Faults at points of its course are put into a job: name the scenario of a cluster.");
  if (options.faults < 1) return UsageError(fmt::format("A chain has one fault or more, not {}.", options.faults));
  return GuidedRun(options, files, callbacks, stop).Run();
}

}  // namespace vigil::properties

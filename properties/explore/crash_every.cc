#include "vigil/properties/explore/crash_every.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/properties/explore/course_space.h"
#include "vigil/properties/explore/explore_state.h"
#include "vigil/properties/explore/play_judgement.h"
#include "vigil/properties/explore/schedule_player.h"
#include "vigil/properties/shrink/failure_report.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/crew/packed.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/print.h"
#include "vigil/replays/play/runner.h"

namespace vigil::properties {
namespace {

using replays::Outcome;
using replays::Scenario;
using replays::Verdict;

constexpr std::uint64_t kFaultsAPiece = 16;
constexpr int kCoursePiecesAhead = 8;
constexpr std::uint64_t kToldOfEachRule = 3;
constexpr Duration kKeepCourseEvery = std::chrono::seconds(10);

// (First) faults of the shard, one after the other, but for plays that crash.
struct CoursePiece {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::set<std::uint64_t> without;  // parts
};
template <typename Archive>
void PackFields(Archive& archive, CoursePiece& piece) {
  archive(piece.first, piece.count, piece.without);
}

struct FoundInCourse {
  std::uint64_t first = 0;
  std::uint64_t second = 0;  // of those after the first, from 1; 0 = none
  std::string rule;          // the first that it violates; "" = none
  std::string reason;
};
template <typename Archive>
void PackFields(Archive& archive, FoundInCourse& found) {
  archive(found.first, found.second, found.rule, found.reason);
}

struct CourseResult {
  std::uint64_t first = 0;   // of the piece
  ExploreCounts counts;      // of (first) faults that are done
  ExploreCounts unfinished;  // of pairs: of the one that was interrupted
  std::vector<FoundInCourse> found;
};
template <typename Archive>
void PackFields(Archive& archive, CourseResult& result) {
  archive(result.first, result.counts, result.unfinished, result.found);
}

// Plays, in a worker.
class CoursePlayer {
 public:
  CoursePlayer(const CrashEveryOptions& options, const CourseSpace& space, const replays::CrewView& view)
      : options_(options), space_(space), stop_(*view.stop), part_(view.part) {}

  CourseResult Play(const CoursePiece& piece) {
    CourseResult result;
    result.first = piece.first;
    for (std::uint64_t i = piece.first; i < piece.first + piece.count && !stop_; ++i) {
      const std::uint64_t first = options_.shard - 1 + i * options_.shards;
      const bool done = options_.pairs ? Pairs(first, piece.without, result) : Single(first, piece.without, result);
      ExploreCounts counts = std::exchange(result.unfinished, {});
      if (!done) {
        result.unfinished = std::move(counts);
        break;
      }
      ++counts.begun;
      AddCounts(result.counts, counts);
    }
    return result;
  }

 private:
  bool Single(std::uint64_t first, const std::set<std::uint64_t>& without, CourseResult& result) {
    if (without.contains(first + 1)) return true;
    part_(first + 1);
    return Add(space_.With({space_.firsts()[first]}), {.first = first, .second = 0, .rule = "", .reason = ""}, result);
  }

  bool Pairs(std::uint64_t first, const std::set<std::uint64_t>& without, CourseResult& result) {
    const std::vector<CourseFault> seconds = space_.Next({space_.firsts()[first]}, runner_, stop_);
    for (std::uint64_t i = 0; i < seconds.size(); ++i) {
      if (without.contains(i + 1)) continue;
      part_(i + 1);
      FoundInCourse found{.first = first, .second = i + 1, .rule = "", .reason = ""};
      if (!Add(space_.With({space_.firsts()[first], seconds[i]}), std::move(found), result)) return false;
    }
    return !stop_;
  }

  // False: it was interrupted, and counts for nothing.
  bool Add(const Scenario& scenario, FoundInCourse found, CourseResult& result) {
    Outcome outcome = runner_.Run(scenario, {.interrupt = &stop_});
    const bool effective = outcome.job.has_value() && outcome.job->inert.empty();
    const PlayJudgement play = JudgePlay(std::move(outcome), scenario, nullptr, scenario.id);
    if (play.verdict == Verdict::kInterrupted) return false;
    ExploreCounts& counts = result.unfinished;
    ++counts.played;
    counts.all_fired += effective ? 1 : 0;
    ++counts.ends[play.end];
    counts.traces.insert(play.trace_hash);
    for (const std::string& rule : play.rules) ++counts.violated[rule];
    if (play.kept()) return true;
    ++counts.failed;
    counts.violations += play.rules.empty() ? 0 : 1;
    found.rule = play.rules.empty() ? "" : play.rules.front();
    if (play.rules.empty()) found.reason = play.What();
    if (told_[found.rule]++ < kToldOfEachRule) result.found.push_back(std::move(found));
    return true;
  }

  const CrashEveryOptions& options_;
  const CourseSpace& space_;
  const std::atomic<bool>& stop_;
  const std::function<void(std::uint64_t)> part_;
  replays::Runner runner_;
  std::map<std::string, std::uint64_t> told_;
};

class CrashEveryRun {
 public:
  CrashEveryRun(const CrashEveryOptions& options, Files& files, const CrashEveryCallbacks& callbacks,
                const std::atomic<bool>& stop)
      : options_(options),
        files_(files),
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

  absl::StatusOr<CrashEverySummary> Run() {
    VIGIL_ASSIGN_OR_RETURN(const std::optional<replays::Crash> crashed,
                           space_.Prepare(options_.jobs, options_.limits, stop_));
    if (crashed.has_value()) {
      TellCrashWithoutFaults(*crashed);
      return std::move(summary_);
    }
    summary_.stopped = stop_ && space_.course().empty();
    if (summary_.stopped) return std::move(summary_);
    for (const sim::CoursePoint& point : space_.course()) ++summary_.points[static_cast<std::size_t>(point.at.kind)];
    for (const CourseFault& fault : space_.firsts()) ++summary_.faults[static_cast<std::size_t>(fault.kind)];
    const std::uint64_t before = options_.shard - 1;
    summary_.planned =
        space_.firsts().size() > before ? (space_.firsts().size() - before - 1) / options_.shards + 1 : 0;
    VIGIL_RETURN_IF_ERROR(Resume());
    callbacks_.on_plan(summary_);
    if (!options_.state.empty()) kept_at_ = callbacks_.now();
    std::uint64_t next = summary_.resumed;
    const std::uint64_t size = options_.pairs ? 1 : kFaultsAPiece;
    replays::CrewCallbacks crew;
    crew.next = [&]() -> std::optional<std::string> {
      if (next >= summary_.planned) return std::nullopt;
      const CoursePiece piece{next, std::min(size, summary_.planned - next), {}};
      next += piece.count;
      return replays::Packed(piece);
    };
    crew.new_worker = [this](const replays::CrewView& view) -> replays::CrewWorker {
      return [player = std::make_shared<CoursePlayer>(options_, space_, view)](const std::string& request) {
        return replays::Packed(player->Play(replays::Unpacked<CoursePiece>(request)));
      };
    };
    crew.on_reply = [this](const std::string& reply) {
      const auto result = replays::Unpacked<CourseResult>(reply);
      // There is a gap where the rest of a piece was not played any more: nothing behind it counts.
      if (result.first != summary_.counts.begun) return false;
      Add(result);
      return true;
    };
    crew.on_crash = [this](const std::string& request, std::uint64_t part, const replays::Crash& crash) {
      return AddCrash(replays::Unpacked<CoursePiece>(request), part, crash);
    };
    crew.on_tick = [this] {
      if (!options_.state.empty() && callbacks_.now() - kept_at_ >= kKeepCourseEvery) Keep();
      callbacks_.on_tick(summary_);
    };
    const replays::CrewSummary worked =
        replays::RunCrew({.jobs = options_.jobs, .ahead = kCoursePiecesAhead, .limits = options_.limits}, crew, stop_);
    summary_.given_up = worked.given_up;
    summary_.stopped = !worked.given_up && (stop_ || summary_.counts.begun < summary_.planned);
    Keep();
    AddCrashed(summary_.planned);
    AddCounts(summary_.counts, unfinished_);
    return std::move(summary_);
  }

 private:
  std::string Head() const {
    const std::string text = replays::PrintRecord(space_.scenario());
    return fmt::format("vigil explore state 2: --crash-every{} --cluster {} {:016x}, {} faults, --shard {}/{}, {}",
                       options_.pairs ? " --pairs" : "", replays::Escaped(options_.scenario.id),
                       XXH64(text.data(), text.size(), 0), space_.firsts().size(), options_.shard, options_.shards,
                       PlayedBy(options_.version, options_.plant, ""));
  }

  absl::Status Resume() {
    if (options_.state.empty()) return absl::OkStatus();
    VIGIL_ASSIGN_OR_RETURN(const bool there, Exists(files_, options_.state));
    if (!there) return absl::OkStatus();
    VIGIL_ASSIGN_OR_RETURN(const std::string text, ReadAll(files_, options_.state));
    absl::StatusOr<ExploreCounts> counts = ParseExploreState(text, Head(), 0);
    if (!counts.ok() || counts->begun > summary_.planned) {
      return UsageError(fmt::format("The state file {} cannot be used: {}. Remove it, or name another one.",
                                    options_.state, counts.ok() ? "it counts too much" : MessageOf(counts.status())));
    }
    summary_.counts = *std::move(counts);
    summary_.resumed = summary_.counts.begun;
    return absl::OkStatus();
  }

  void Keep() {
    if (options_.state.empty()) return;
    kept_at_ = callbacks_.now();
    const absl::Status status = WriteAtomically(files_, options_.state, PrintExploreState(Head(), summary_.counts));
    if (!status.ok())
      callbacks_.on_error(fmt::format("cannot keep the state in {}: {}", options_.state, MessageOf(status)));
  }

  Scenario ScenarioOf(const FoundInCourse& found) {
    if (found.second == 0) return space_.With({space_.firsts()[found.first]});
    const std::vector<CourseFault> seconds = space_.Next({space_.firsts()[found.first]}, runner_, stop_);
    return found.second > seconds.size() ? space_.With({space_.firsts()[found.first]})
                                         : space_.With({space_.firsts()[found.first], seconds[found.second - 1]});
  }

  void Add(const CourseResult& result) {
    AddCounts(summary_.counts, result.counts);
    AddCrashed(summary_.counts.begun);
    unfinished_ = result.unfinished;
    for (const FoundInCourse& found : result.found) Tell(found, "");
  }

  void Tell(const FoundInCourse& found, const std::string& explanation) {
    if (told_[found.rule]++ >= kToldOfEachRule) return;
    Report({.scenario = ScenarioOf(found),
            .drawn = false,
            .rule = found.rule,
            .reason = found.reason,
            .explanation = explanation,
            .source = options_.source});
  }

  // No fault can be put into a job that crashes by itself.
  void TellCrashWithoutFaults(const replays::Crash& crash) {
    summary_.counts = CountsOfCrash(crash);
    Report({.scenario = space_.scenario(),
            .drawn = false,
            .rule = crash.rule(),
            .reason = crash.Line(),
            .explanation = crash.Stack(),
            .source = options_.source});
  }

  void Report(const FailedRun& failed) {
    FailureReport report = reporter_.Report(failed);
    callbacks_.on_failure({failed.scenario.id, failed.rule, std::move(report.text), std::move(report.file)});
  }

  // Of the faults before this one of the shard.
  void AddCrashed(std::uint64_t before) {
    while (!crashed_.empty() && crashed_.begin()->first < before) {
      AddCounts(summary_.counts, crashed_.begin()->second);
      crashed_.erase(crashed_.begin());
    }
  }

  // The rest of the piece is played without what crashed.
  std::optional<std::string> AddCrash(CoursePiece piece, std::uint64_t part, const replays::Crash& crash) {
    FoundInCourse found{.first = part - 1, .second = 0, .rule = crash.rule(), .reason = crash.Line()};
    if (options_.pairs) {
      found.first = options_.shard - 1 + piece.first * options_.shards;
      found.second = part;
    }
    AddCounts(crashed_[options_.pairs || part == 0 ? piece.first : found.first / options_.shards],
              CountsOfCrash(crash));
    if (part > 0 || options_.pairs) Tell(found, crash.Stack());
    if (part == 0 && options_.pairs) {  // the first one alone crashes: no second one can follow
      if (piece.first == summary_.counts.begun) AddCrashed(++summary_.counts.begun);
      return std::nullopt;
    }
    piece.without.insert(part);
    return replays::Packed(piece);
  }

  const CrashEveryOptions& options_;
  Files& files_;
  const CrashEveryCallbacks& callbacks_;
  const std::atomic<bool>& stop_;
  replays::Runner runner_;
  CourseSpace space_;
  FailureReporter reporter_;
  // It counts what is done, in order: what is kept is gone on from behind that.
  CrashEverySummary summary_;
  // What is told, but not done, and so not kept: crashes by the number of the (first) fault in the shard, and of pairs
  // the plays of a first one that was interrupted.
  std::map<std::uint64_t, ExploreCounts> crashed_;
  ExploreCounts unfinished_;
  std::map<std::string, std::uint64_t> told_;
  Time kept_at_;
};

}  // namespace

absl::StatusOr<CrashEverySummary> RunCrashEvery(const CrashEveryOptions& options, Files& files,
                                                const CrashEveryCallbacks& callbacks, const std::atomic<bool>& stop) {
  if (!options.scenario.job.has_value())
    return UsageError("Faults at every message are put into a job: name the scenario of a cluster.");
  if (options.shard < 1 || options.shard > options.shards)
    return UsageError(fmt::format("There is no shard {} of {}.", options.shard, options.shards));
  return CrashEveryRun(options, files, callbacks, stop).Run();
}

}  // namespace vigil::properties

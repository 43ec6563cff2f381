#include "vigil/properties/explore/explore.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/properties/explore/explore_state.h"
#include "vigil/properties/judge/explain.h"
#include "vigil/properties/judge/model_comparison.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/properties/shrink/failure_file.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/crew/packed.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"
#include "vigil/replays/judge/result.h"
#include "vigil/replays/play/runner.h"

namespace vigil::properties {
namespace {

using replays::Outcome;
using replays::Scenario;
using replays::Verdict;

constexpr std::uint64_t kScenariosAPiece = 512;
constexpr int kPiecesAhead = 8;
constexpr Duration kKeepEvery = std::chrono::seconds(10);

std::uint64_t HashOfLines(const std::vector<std::string>& lines, std::string& scratch) {
  scratch.clear();
  for (const std::string& line : lines) {
    scratch += line;
    scratch += '\n';
  }
  return XXH64(scratch.data(), scratch.size(), 0);
}

// A failure with what it takes to save it.
struct FoundFailure {
  ExploreFailure failure;
  Scenario scenario;
  replays::Expectation expect;
};

struct PieceResult {
  std::uint64_t first = 0;  // of its scenarios, counted in the shard
  ExploreCounts counts;
  std::vector<FoundFailure> failures;
};

// Scenarios one after the other, but for those that crash.
struct Piece {
  std::uint64_t number = 0;
  std::set<std::uint64_t> without;  // numbers of scenarios
};

template <typename Archive>
void PackFields(Archive& archive, Piece& piece) {
  archive(piece.number, piece.without);
}
// Scenario and expectation go as the text that is saved of them.
template <typename Archive>
void PackFields(Archive& archive, FoundFailure& found) {
  std::string text = replays::PrintRecord(found.scenario, &found.expect);
  archive(found.failure, text);
  absl::StatusOr<replays::Recording> recording = replays::ParseRecording(text);
  VIGIL_CHECK(recording.ok());
  found.scenario = std::move(recording->scenario);
  if (recording->expect.has_value()) found.expect = *std::move(recording->expect);
}
template <typename Archive>
void PackFields(Archive& archive, PieceResult& result) {
  archive(result.first, result.counts, result.failures);
}

// Plays scenarios, in a worker.
class Explorer {
 public:
  Explorer(const ScenarioSpace& space, const ExploreCallbacks& callbacks, const replays::PlayerOptions& player)
      : space_(space), callbacks_(callbacks), runner_(player) {}

  void Play(std::uint64_t number, PieceResult& result) {
    const ScenarioSpace::Choice choice = space_.At(number);
    space_.Fill(number, choice, scenario_);
    const Outcome outcome = callbacks_.play ? callbacks_.play(runner_, scenario_) : runner_.Run(scenario_);
    if (IsWithoutPlay(outcome.verdict)) return AddNotPlayed(outcome, result);
    const Judgement judgement = CheckRules(outcome, scenario_);
    const ModelComparison says = CompareWithModel(scenario_, outcome);
    ExploreCounts& counts = result.counts;
    ++counts.played;
    counts.all_fired += AllFired(choice.faults, outcome.trace) ? 1 : 0;
    ++counts.ends[EndOf(outcome)];
    counts.traces.insert(HashOfLines(outcome.events, scratch_));
    counts.armed.resize(judgement.armed.size());
    for (std::size_t i = 0; i < judgement.armed.size(); ++i) counts.armed[i] += judgement.armed[i];
    for (const Violation& violation : judgement.violations) ++counts.violated[std::string(violation.rule)];
    const bool disagrees = !says.disagreement.empty() || !says.refused.empty();
    counts.disagreements += disagrees ? 1 : 0;
    counts.violations += judgement.violations.empty() ? 0 : 1;
    if (!disagrees && judgement.violations.empty()) return;
    ++counts.failed;
    if (result.failures.size() < kSavedFailures) result.failures.push_back(Describe(outcome, judgement, says));
  }

 private:
  // By a player.
  void AddNotPlayed(const Outcome& outcome, PieceResult& result) const {
    ++result.counts.played;
    if (outcome.verdict == Verdict::kCannot) {
      ++result.counts.ends[fmt::format("{}: {}", kNotPlayed, outcome.reason)];
      return;
    }
    ++result.counts.failed;
    ++result.counts.violations;
    ++result.counts.ends[std::string(replays::VerdictName(outcome.verdict))];
    ++result.counts.violated[outcome.violated->front()];
    if (result.failures.size() >= kSavedFailures) return;
    FoundFailure found{.failure = {.id = scenario_.id, .rule = outcome.violated->front()}, .scenario = scenario_};
    found.failure.text =
        fmt::format("FAILED {}: {}\n  {}\n{}", scenario_.id, found.failure.rule, outcome.reason, outcome.explanation);
    found.scenario.title = "violates " + found.failure.rule;
    found.expect.violates = found.failure.rule;
    result.failures.push_back(std::move(found));
  }

  // What the model says is what the saved file expects; if it agrees, the file names the rule.
  FoundFailure Describe(const Outcome& outcome, const Judgement& judgement, const ModelComparison& says) const {
    FoundFailure found{.failure = {.id = scenario_.id}, .scenario = scenario_, .expect = says.expect};
    ExploreFailure& failure = found.failure;
    const std::string what = says.refused.empty() ? says.disagreement : "the model does not model " + says.refused;
    if (!judgement.violations.empty()) failure.rule = judgement.violations.front().rule;
    failure.text = fmt::format("FAILED {}: {}\n", failure.id, what.empty() ? failure.rule : what) + says.report;
    for (const Violation& violation : judgement.violations) failure.text += Explain(violation, outcome.trace);
    if (!outcome.reason.empty()) failure.text += fmt::format("  {}\n", outcome.reason);
    found.scenario.title = what.empty() ? "violates " + failure.rule : what;
    if (what.empty()) found.expect.violates = failure.rule;
    return found;
  }

  const ScenarioSpace& space_;
  const ExploreCallbacks& callbacks_;
  replays::Runner runner_;
  Scenario scenario_;
  std::string scratch_;
};

class Exploration {
 public:
  Exploration(const ExploreOptions& options, Files& files, const ExploreCallbacks& callbacks, ScenarioSpace space)
      : options_(options),
        files_(files),
        callbacks_(callbacks),
        space_(std::move(space)),
        folder_(files, options.failures) {}

  absl::StatusOr<ExploreSummary> Run(const std::atomic<bool>& stop) {
    summary_.formula = space_.Formula();
    summary_.total = space_.size();
    const std::uint64_t before = options_.shard - 1;
    summary_.planned = summary_.total > before ? (summary_.total - before - 1) / options_.shards + 1 : 0;
    summary_.counts.armed.resize(AllRules().size());
    VIGIL_RETURN_IF_ERROR(Resume());
    if (!options_.state.empty()) kept_at_ = callbacks_.now();
    // Pieces are numbered from where this run begins.
    const std::uint64_t left = summary_.planned - summary_.resumed;
    const std::uint64_t pieces = (left + kScenariosAPiece - 1) / kScenariosAPiece;
    std::uint64_t next = 0;
    replays::CrewCallbacks crew;
    crew.next = [&]() -> std::optional<std::string> {
      if (next == pieces) return std::nullopt;
      return replays::Packed(Piece{next++, {}});
    };
    crew.new_worker = [this](const replays::CrewView& view) { return NewWorker(view); };
    crew.on_reply = [this](const std::string& reply) {
      auto result = replays::Unpacked<PieceResult>(reply);
      // There is a gap where the rest of a piece was not played any more after a crash: nothing behind it counts.
      if (result.first != summary_.counts.played) return false;
      Add(result);
      return true;
    };
    crew.on_crash = [this](const std::string& request, std::uint64_t part, const replays::Crash& crash) {
      return AddCrash(replays::Unpacked<Piece>(request), part, crash);
    };
    crew.on_tick = [this] {
      if (!options_.state.empty() && callbacks_.now() - kept_at_ >= kKeepEvery) Keep();
      callbacks_.on_tick(summary_);
    };
    const replays::CrewSummary worked =
        replays::RunCrew({.jobs = options_.jobs, .ahead = kPiecesAhead, .limits = options_.limits}, crew, stop);
    summary_.given_up = worked.given_up;
    summary_.stopped = !worked.given_up && summary_.counts.played < summary_.planned;
    Keep();
    AddCounts(summary_.counts, std::exchange(crashed_, {}));
    return std::move(summary_);
  }

 private:
  absl::Status Resume() {
    if (options_.state.empty()) return absl::OkStatus();
    VIGIL_ASSIGN_OR_RETURN(const bool there, Exists(files_, options_.state));
    if (!there) return absl::OkStatus();
    VIGIL_ASSIGN_OR_RETURN(const std::string text, ReadAll(files_, options_.state));
    absl::StatusOr<ExploreCounts> counts = ParseExploreState(text, options_);
    if (!counts.ok() || counts->played > summary_.planned) {
      return UsageError(fmt::format("The state file {} cannot be used: {}. Remove it, or name another one.",
                                    options_.state, counts.ok() ? "it counts too much" : MessageOf(counts.status())));
    }
    summary_.counts = *std::move(counts);
    summary_.resumed = summary_.counts.played;
    return absl::OkStatus();
  }

  void Keep() {
    if (options_.state.empty()) return;
    kept_at_ = callbacks_.now();
    const absl::Status status = WriteAtomically(files_, options_.state, PrintExploreState(options_, summary_.counts));
    if (!status.ok())
      callbacks_.on_error(fmt::format("cannot keep the state in {}: {}", options_.state, MessageOf(status)));
  }

  replays::CrewWorker NewWorker(const replays::CrewView& view) {
    return [this, part = view.part,
            explorer = std::make_shared<Explorer>(space_, callbacks_, options_.player)](const std::string& request) {
      const auto piece = replays::Unpacked<Piece>(request);
      PieceResult result{.first = summary_.resumed + piece.number * kScenariosAPiece, .counts = {}, .failures = {}};
      const std::uint64_t end = std::min(summary_.planned, result.first + kScenariosAPiece);
      for (std::uint64_t i = result.first; i < end; ++i) {
        const std::uint64_t number = options_.shard - 1 + i * options_.shards;
        if (piece.without.contains(number)) continue;
        part(number + 1);
        explorer->Play(number, result);
      }
      return replays::Packed(result);
    };
  }

  // The rest of the piece is played without what crashed.
  std::optional<std::string> AddCrash(Piece piece, std::uint64_t part, const replays::Crash& crash) {
    const std::uint64_t number = part - 1;
    FoundFailure found;
    space_.Fill(number, space_.At(number), found.scenario);
    found.failure = {.id = found.scenario.id, .rule = crash.rule(), .text = "", .file = ""};
    found.failure.text =
        fmt::format("FAILED {}: {}\n  {}\n{}", found.failure.id, crash.rule(), crash.Line(), crash.Stack());
    found.scenario.title = "violates " + crash.rule();
    found.expect.violates = crash.rule();
    Tell(found);
    AddCounts(crashed_, CountsOfCrash(crash));
    piece.without.insert(number);
    return replays::Packed(piece);
  }

  void Add(PieceResult& result) {
    for (FoundFailure& found : result.failures) Tell(found);
    AddCounts(summary_.counts, result.counts);
    AddCounts(summary_.counts, std::exchange(crashed_, {}));
  }

  void Tell(FoundFailure& found) {
    if (failures_ >= kSavedFailures) return;
    ++failures_;
    Save(found);
    callbacks_.on_failure(found.failure);
  }

  void Save(FoundFailure& found) {
    ExploreFailure& failure = found.failure;
    const std::string name = fmt::format("{}-{}", failure.rule.empty() ? "model" : failure.rule, failure.id);
    const absl::StatusOr<std::string> path = folder_.Save(name, found.scenario, &found.expect);
    if (!path.ok()) return callbacks_.on_error(std::string(MessageOf(path.status())));
    failure.file = *path;
    failure.text += ReplayLine(*path, {.plant = options_.plant,
                                       .player = options_.player.command,
                                       .play_limit = PlayLimitOf(failure.rule, options_.limits)});
  }

  const ExploreOptions& options_;
  Files& files_;
  const ExploreCallbacks& callbacks_;
  const ScenarioSpace space_;
  FailureFolder folder_;
  // resumed and planned are constant while others work. It counts whole pieces: what is kept is gone on from behind the
  // scenarios that were played, which must be the first.
  ExploreSummary summary_;
  ExploreCounts crashed_;  // of the piece that is handed out next
  std::uint64_t failures_ = 0;
  Time kept_at_;
};

bool IsCallAt(const FaultSite& site, const Event& event) {
  if (site.hook >= 0) {
    return event.kind == EventKind::kHookCall && event.index == site.hook &&
           event.call == static_cast<std::uint8_t>(site.method);
  }
  if (site.kind == CallKind::kCreate)
    return event.kind == EventKind::kSessionCreated || event.kind == EventKind::kSessionCreateFailed;
  return event.kind == EventKind::kSessionCall && event.call == static_cast<std::uint8_t>(site.kind);
}

}  // namespace

std::string EndOf(const replays::PlainOutcome& outcome) {
  constexpr std::string_view kDriver = "driver ";
  if (outcome.verdict != replays::Verdict::kPlayed || outcome.events.empty())
    return std::string(replays::VerdictName(outcome.verdict));
  const std::string_view last = outcome.events.back();
  return std::string(last.starts_with(kDriver) ? last.substr(kDriver.size()) : last);
}

bool AllFired(const std::vector<PlacedFault>& faults, const sim::Trace& trace) {
  return std::all_of(faults.begin(), faults.end(), [&trace](const PlacedFault& fault) {
    const auto calls = std::count_if(trace.begin(), trace.end(), [&fault](const sim::TraceRecord& record) {
      return IsCallAt(fault.site, record.event);
    });
    return calls >= fault.site.call;
  });
}

std::uint64_t NotPlayed(const ExploreCounts& counts) {
  std::uint64_t sum = 0;
  for (const auto& [end, times] : counts.ends) sum += end.starts_with(kNotPlayed) ? times : 0;
  return sum;
}

absl::StatusOr<ExploreSummary> RunExplore(const ExploreOptions& options, Files& files,
                                          const ExploreCallbacks& callbacks, const std::atomic<bool>& stop) {
  VIGIL_ASSIGN_OR_RETURN(ScenarioSpace space, ScenarioSpace::Create(options.scope));
  if (options.shard < 1 || options.shard > options.shards) return UsageError("A shard is I/N with I between 1 and N.");
  return Exploration(options, files, callbacks, std::move(space)).Run(stop);
}

}  // namespace vigil::properties

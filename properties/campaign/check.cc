#include "vigil/properties/campaign/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/properties/campaign/corpus.h"
#include "vigil/properties/campaign/recording_player.h"
#include "vigil/properties/campaign/shard_keeper.h"
#include "vigil/properties/campaign/shard_state.h"
#include "vigil/properties/campaign/suites.h"
#include "vigil/properties/generators/jobs.h"
#include "vigil/properties/generators/real_jobs.h"
#include "vigil/properties/generators/scenarios.h"
#include "vigil/properties/judge/coverage.h"
#include "vigil/properties/judge/model_comparison.h"
#include "vigil/properties/judge/node_rules.h"
#include "vigil/properties/judge/play_twice.h"
#include "vigil/properties/shrink/failure_report.h"
#include "vigil/replays/crew/packed.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"
#include "vigil/replays/play/report.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/traces/input.h"

namespace vigil::properties {
namespace {

using replays::Outcome;
using replays::RawRecord;
using replays::Recording;
using replays::Result;
using replays::Runner;
using replays::Scenario;
using replays::Verdict;

constexpr std::string_view kSaved = suites::kSaved.name;
constexpr std::string_view kRecorded = suites::kRecorded.name;
constexpr std::string_view kRegressions = suites::kRegressions.name;
constexpr std::string_view kRandom = suites::kRandom.name;
constexpr std::string_view kExplore = suites::kExplore.name;
constexpr std::string_view kCluster = suites::kCluster.name;
// With a corpus: so many are played before what they reached counts.
constexpr std::uint64_t kSessionsOfRound = 128;
constexpr std::uint64_t kJobsOfRound = 16;
constexpr Duration kKeepCorpusEvery = std::chrono::seconds(10);
constexpr int kJobsAhead = 2;  // a job may take a second: with a time limit few wait for their turn

// Its scenarios: one for each seed, numbered from 1 as records of a file are.
struct Drawn {
  std::uint64_t first;
  std::uint64_t last;  // with CheckOptions::time it goes on
  std::function<Scenario(std::uint64_t seed)> draw;

  std::uint64_t SeedOf(std::int64_t record) const { return first + static_cast<std::uint64_t>(record) - 1; }
  Scenario ScenarioOf(std::int64_t record) const { return draw(SeedOf(record)); }
};

void FindIncompleteJobs(CheckSummary& summary) {
  for (std::string& what : summary.cluster.Incomplete()) {
    if (summary.cluster.jobs >= kEnoughJobs) summary.incomplete.push_back(std::move(what));
  }
}

void FindIncompleteRules(CheckSummary& summary, bool random) {
  const Tally& tally = summary.tally;
  for (std::size_t i = 0; i < tally.armed.size(); ++i) {
    const std::unique_ptr<Rule> rule = AllRules()[i]();
    // What was recorded is TensorFlow's: it says nothing of our own behaviour, nor of what it never had.
    const bool recorded = rule->info().holds != Holds::kDefault && !rule->info().observed.empty();
    if (tally.armed[i] == 0 && (random || recorded))
      summary.incomplete.push_back(fmt::format("rule {} was never armed", rule->info().id));
  }
  summary.enough = random ? summary.suites[std::string(kRandom)].played() >= kEnoughRandom
                          : summary.suites[std::string(kRecorded)].played() >= kEnoughRecorded;
  if (!random) return;
  for (const std::string& seam : Seams()) {
    if (!tally.fired.contains(seam))
      summary.incomplete.push_back(fmt::format("nothing ever failed at the seam {}", seam));
  }
}

std::vector<std::string> IdsOf(const Judgement& judgement) {
  std::vector<std::string> ids;
  for (const Violation& violation : judgement.violations) ids.emplace_back(violation.rule);
  return ids;
}

std::vector<std::string> IdsOf(const sim::JobFacts& facts) {
  std::vector<std::string> ids;
  for (const sim::JobViolation& violation : facts.violations) ids.push_back(violation.rule);
  return ids;
}

// What a scenario adds to what is counted.
struct Tallies {
  std::optional<Tally> sessions;
  std::optional<ClusterTally> cluster;
  std::optional<ReachedByPlay> reached;  // if it is asked for
};

template <typename Archive>
void PackFields(Archive& archive, Tallies& tallies) {
  archive(tallies.sessions, tallies.cluster, tallies.reached);
}

class Campaign {
 public:
  Campaign(const CheckOptions& options, Files& files, const CheckCallbacks& callbacks, const std::atomic<bool>& stop,
           ShardKeeper* keeper, Corpora* corpora)
      : options_(options),
        files_(files),
        callbacks_(callbacks),
        stop_(stop),
        keeper_(keeper),
        corpora_(corpora),
        reporter_(files,
                  {.folder = options.failures,
                   .plant = options.plant,
                   .player = options.player,
                   .limits = options.limits,
                   .on_error = callbacks.on_error,
                   .now = keeper == nullptr ? callbacks.now : nullptr,
                   .on_tick = [this] { Tick(); },
                   .shrinks_all = keeper != nullptr},
                  stop) {}

  CheckSummary Run() {
    if (keeper_ != nullptr) GoOn();
    if (options_.saved) PlaySaved();
    if (!options_.recordings.empty()) {
      Suite(kRecorded, [this](const replays::OnRecord& on_record) { ReadRecordings(options_.recordings, on_record); });
    }
    if (!options_.regressions.empty() && !summary_.stopped) {
      Suite(kRegressions,
            [this](const replays::OnRecord& on_record) { ReadRecordings(options_.regressions, on_record); });
    }
    if (options_.random && !summary_.stopped) PlayDrawn(kRandom);
    if (options_.explore.has_value() && !summary_.stopped) ExploreScopeOf(*options_.explore);
    if (options_.cluster && !summary_.stopped) PlayDrawn(kCluster);
    if (options_.real_cluster && !summary_.stopped) PlayDrawn(suites::kRealCluster.name);
    if (keeper_ != nullptr) Keep();
    // The regressions alone arm nothing: no rule is held against them.
    const bool rules = (!options_.recordings.empty() || options_.random) && options_.player.command.empty();
    if (rules && !summary_.stopped) FindIncompleteRules(summary_, options_.random);
    if (options_.cluster && !summary_.stopped) FindIncompleteJobs(summary_);
    return std::move(summary_);
  }

 private:
  using Reader = std::function<void(const replays::OnRecord&)>;

  // From where an earlier run got to: all that it counted counts.
  void GoOn() {
    for (const auto& [name, suite] : keeper_->state().suites) {
      if (!suite.count.seeds.has_value()) continue;
      SuiteCount& count = summary_.suites[name];
      AddSuiteCount(count, suite.count);
      for (const auto& [seed, id] : suite.first_failed) {
        if (!suite.told.contains(seed) && count.untold.size() < kMostUntold) count.untold.push_back(id);
      }
      count.untold_count = suite.count.failed - suite.told.size();
      summary_.tally.Add(suite.tally);
      summary_.cluster.Add(suite.cluster);
      for (const auto& [seed, told] : suite.told) {
        ++failures_[told.failure.rule];
        ++full_failures_;
      }
    }
  }

  void Keep() {
    if (const absl::Status status = keeper_->Keep(); !status.ok()) callbacks_.on_error(std::string(MessageOf(status)));
  }

  // What was cut short by the end of the program is played again by whoever goes on.
  void KeepResult(std::string_view name, const Result& result, const SuiteCount& one, const Tallies& tallies) {
    is_cut_short_ = is_cut_short_ || (stop_ && one.failed > 0);
    if (is_cut_short_) return;
    keeper_->Add(name, DrawnBy(name).SeedOf(result.record), result.id, one, tallies.sessions, tallies.cluster,
                 tallies.reached);
    if (told_.has_value()) keeper_->Tell(name, DrawnBy(name).SeedOf(result.record), *std::move(told_));
    told_.reset();
  }

  // A folder that holds no scenario is no error: everything was mended.
  void PlaySaved() {
    const auto names = files_.List(options_.failures);
    if (!names.ok() && CodeOf(names.status()) != Code::kNotFound) {
      ++summary_.suites[std::string(kSaved)].unreadable;
      return callbacks_.on_error(fmt::format("cannot read {}: {}", replays::Quoted(options_.failures),
                                             replays::Escaped(MessageOf(names.status()))));
    }
    if (!names.ok()) return;
    const auto is_read = [this](const std::string& name) {
      if (name.starts_with('.')) return false;
      const absl::StatusOr<FileInfo> info = files_.Stat(JoinPath(options_.failures, name));
      return replays::IsScenarioFile(name) || (info.ok() && info->is_directory);
    };
    if (std::ranges::none_of(*names, is_read)) {
      summary_.suites[std::string(kSaved)] = {};
      return;
    }
    Suite(kSaved, [this](const replays::OnRecord& on_record) { ReadAll({options_.failures}, on_record); });
  }

  bool IsTimed() const { return options_.time > Duration(0); }

  void PlayDrawn(std::string_view name) {
    if (Corpus* const corpus = CorpusOf(name); corpus != nullptr) return PlayRounds(name, *corpus);
    const bool is_done = keeper_ != nullptr && keeper_->state().suites.find(std::string(name))->second.complete();
    Suite(name, [this, name, is_done](const replays::OnRecord& on_record) {
      if (!is_done) ReadSeeds(DrawnBy(name), IsTimed(), on_record);
    });
  }

  Corpus* CorpusOf(std::string_view suite) const {
    if (corpora_ == nullptr) return nullptr;
    const auto found = corpora_->find(suite);
    return found == corpora_->end() ? nullptr : &found->second;
  }

  // What is drawn depends on what was reached in the rounds before.
  void PlayRounds(std::string_view name, Corpus& corpus) {
    const Drawn whole = DrawnBy(name);
    const std::uint64_t size = name == kCluster ? kJobsOfRound : kSessionsOfRound;
    const Time end = IsTimed() ? callbacks_.now() + options_.time : Time();
    CorpusCount& count = summary_.corpora[std::string(name)];
    count.opened = corpus.size();
    Time saved_at = callbacks_.now();
    bool is_last = false;
    for (std::uint64_t first = whole.first;
         !is_last && !summary_.stopped && !summary_.suites[std::string(name)].given_up; first += size) {
      const bool goes_on = IsTimed() && callbacks_.now() < end;
      if (first > whole.last && !goes_on) break;
      const std::uint64_t left = whole.last - first;  // one less than there are, if it is not timed
      is_last = !goes_on && first <= whole.last && left < size;
      round_ = Drawn{first, is_last ? whole.last : first + (size - 1),
                     [&corpus, whole](std::uint64_t seed) { return corpus.Draw(whole.first, seed, whole.draw); }};
      Suite(name, [this](const replays::OnRecord& on_record) { ReadSeeds(*round_, false, on_record); });
      AddReached(corpus, count);
      if (callbacks_.on_corpus && callbacks_.now() - saved_at >= kKeepCorpusEvery) {
        saved_at = callbacks_.now();
        callbacks_.on_corpus(name);
      }
    }
    round_.reset();
    if (count.curve.empty() || count.curve.back().first != plays_with_corpus_)
      count.curve.emplace_back(plays_with_corpus_, corpus.pairs());
    plays_with_corpus_ = 0;
    count.kept = corpus.Least().size();
    count.pairs = corpus.pairs();
    if (callbacks_.on_corpus) callbacks_.on_corpus(name);
  }

  void NoteFirstFailure(std::string_view name, const SuiteCount& count) {
    std::uint64_t& first = summary_.corpora[std::string(name)].first_failure;
    if (first == 0) first = count.played();
  }

  // Each scenario is drawn once more before the first of the round counts.
  void AddReached(Corpus& corpus, CorpusCount& count) {
    std::vector<std::string> records;
    for (const auto& [seed, pairs] : reached_) {
      records.push_back(corpus.HasAll(pairs) ? "" : replays::PrintRecord(round_->draw(seed)));
    }
    for (std::size_t i = 0; i < reached_.size(); ++i) {
      corpus.Add(records[i], reached_[i].second);
      if (std::has_single_bit(++plays_with_corpus_)) count.curve.emplace_back(plays_with_corpus_, corpus.pairs());
    }
    reached_.clear();
  }

  Drawn DrawnBy(std::string_view suite) const {
    if (round_.has_value()) return *round_;
    if (suite == suites::kRealCluster.name) {
      return {options_.first_job, options_.last_job,
              [kills = options_.kills](std::uint64_t seed) { return RealJob(seed, kills); }};
    }
    const Drawn drawn = suite == kCluster ? Drawn{options_.first_job, options_.last_job, RandomJob}
                                          : Drawn{options_.first_seed, options_.last_seed, RandomScenario};
    if (keeper_ == nullptr) return drawn;
    return {keeper_->FirstSeed(suite), drawn.last, drawn.draw};
  }

  bool IsOurs(std::uint64_t number) const { return number % options_.shards == options_.shard - 1; }

  void ReadAll(const std::vector<std::string>& paths, const replays::OnRecord& on_record) {
    const replays::ChunkSource no_input = [] { return std::string(); };
    replays::ReadRecords(files_, no_input, paths, on_record);
  }
  void ReadRecordings(const std::vector<std::string>& paths, const replays::OnRecord& on_record) {
    std::uint64_t number = 0;
    ReadAll(paths, [&](RawRecord record) { return !IsOurs(number++) || on_record(std::move(record)); });
  }

  // Each scenario goes through its text: what is saved of a failure is what was played.
  void ReadSeeds(const Drawn& drawn, bool timed, const replays::OnRecord& on_record) {
    const auto& [first, last, draw] = drawn;
    const Time end = timed ? callbacks_.now() + options_.time : Time();
    for (std::uint64_t seed = first; seed <= last || (timed && callbacks_.now() < end); ++seed) {
      if (!IsOurs(seed - first)) continue;
      RawRecord record;
      record.source = "seeds";
      record.record = static_cast<std::int64_t>(seed - first) + 1;
      record.text = replays::PrintRecord(draw(seed));
      if (!on_record(std::move(record)) || seed == std::numeric_limits<std::uint64_t>::max()) return;
    }
  }

  void ExploreScopeOf(const ExploreScope& scope) {
    SuiteCount& count = summary_.suites[std::string(kExplore)];
    const auto update = [&count](const ExploreSummary& explored) {
      count.failed = explored.counts.failed;
      count.passed = explored.counts.played - count.failed - NotPlayed(explored.counts);
      count.not_played.clear();
      for (const auto& [end, times] : explored.counts.ends) {
        if (end.starts_with(kNotPlayed)) count.not_played[end.substr(kNotPlayed.size() + 2)] = times;
      }
    };
    ExploreCallbacks callbacks;
    callbacks.on_failure = [this](const ExploreFailure& failure) {
      callbacks_.on_failure({std::string(kExplore), failure.id, failure.rule, failure.text, failure.file});
    };
    callbacks.on_error = callbacks_.on_error;
    callbacks.on_tick = [&](const ExploreSummary& explored) {
      update(explored);
      if (callbacks_.on_tick) callbacks_.on_tick(kExplore, count);
    };
    const ExploreOptions options{.scope = scope,
                                 .shard = options_.shard,
                                 .shards = options_.shards,
                                 .jobs = options_.jobs,
                                 .limits = options_.limits,
                                 .failures = options_.failures,
                                 .plant = options_.plant,
                                 .state = "",
                                 .player = options_.player};
    const absl::StatusOr<ExploreSummary> explored = RunExplore(options, files_, callbacks, stop_);
    if (!explored.ok()) {
      ++count.unreadable;
      return callbacks_.on_error(std::string(MessageOf(explored.status())));
    }
    update(*explored);
    count.given_up = explored->given_up;
    summary_.stopped = summary_.stopped || explored->stopped;
    summary_.tally.AddRules(explored->counts.armed, explored->counts.violated);
  }

  void Suite(std::string_view name, const Reader& reader) {
    SuiteCount& count = summary_.suites[std::string(name)];
    replays::PlayCallbacks callbacks;
    callbacks.read = reader;
    callbacks.new_player = [this, name](const std::atomic<bool>* interrupt) {
      return NewPlayer(name, options_.player, keeper_ != nullptr || corpora_ != nullptr, interrupt);
    };
    callbacks.on_result = [&](const Result& result) {
      const Tallies tallies = AddTallies(result.outcome.extra);
      SuiteCount one;
      Count(name, one, result);
      AddSuiteCount(count, one);
      if (round_.has_value() && one.failed > 0) NoteFirstFailure(name, count);
      if (keeper_ != nullptr) KeepResult(name, result, one, tallies);
      if (round_.has_value() && tallies.reached.has_value())
        reached_.emplace_back(round_->SeedOf(result.record), tallies.reached->pairs);
    };
    playing_ = {name, &count};
    callbacks.on_tick = [this] {
      if (keeper_ != nullptr && keeper_->IsDue(callbacks_.now())) Keep();
      Tick();
    };
    replays::PlayOptions how{.jobs = options_.jobs, .limits = options_.limits};
    if (name == kCluster && options_.time > Duration(0)) how.ahead = kJobsAhead;
    if (name == suites::kRealCluster.name) how.ahead = 1;
    const replays::PlaySummary played = replays::PlayAll(how, callbacks, stop_);
    summary_.stopped = summary_.stopped || played.stopped;
    count.given_up = played.given_up;
  }

  // In a worker. What is to be counted goes along with each outcome.
  static replays::Player NewPlayer(std::string_view suite, const replays::PlayerOptions& player, bool reaches,
                                   const std::atomic<bool>* interrupt) {
    const replays::Player as_replayed = NewRecordingPlayer({.player = player, .interrupt = interrupt});
    if (suite == kSaved) return as_replayed;
    return [runner = std::make_shared<Runner>(player), drawn = IsDrawn(suite), rules = suite != kRegressions, reaches,
            real = !player.task_program.empty(), interrupt, as_replayed](const Recording& recording) {
      const bool real_cluster = !drawn && recording.expect.has_value() && recording.expect->job != nullptr;
      if (real_cluster) return as_replayed(recording);
      const Play play = [&runner](const Scenario& scenario, const replays::RunnerOptions& how) {
        return runner->Run(scenario, how);
      };
      const bool twice = drawn && !real && runner->PlaysChoices(interrupt);
      Outcome outcome = twice ? PlayTwice(play, recording.scenario, interrupt)
                              : runner->Run(recording.scenario, {.random_schedule = drawn, .interrupt = interrupt});
      const bool played = outcome.verdict != Verdict::kInterrupted && !IsWithoutPlay(outcome.verdict);
      if (played) JudgeOutcome(recording.scenario, rules, reaches, real, outcome);
      return replays::PlainOutcome(std::move(outcome));
    };
  }

  // `real`: played once more it may go another way.
  static void JudgeOutcome(const Scenario& scenario, bool rules, bool reaches, bool real, Outcome& outcome) {
    Tallies tallies;
    Coverage coverage(outcome);
    if (outcome.job.has_value()) {
      JudgeJob(scenario, outcome, reaches ? coverage.OfJob() : nullptr);
      if (reaches) coverage.AddFaults();
      tallies.cluster.emplace().Add(*outcome.job);
      tallies.cluster->hash = outcome.hash;
      outcome.violated = IdsOf(*outcome.job);
      if (real) {
        for (const sim::JobViolation& violation : outcome.job->violations)
          outcome.explanation += fmt::format("  {}: {}\n", violation.rule, violation.text);
      }
    } else if (outcome.verdict != Verdict::kNotSetUp && rules) {
      const Judgement judgement = CheckRules(outcome, scenario, reaches ? coverage.OfSession() : nullptr);
      tallies.sessions.emplace().Add(outcome, judgement);
      outcome.violated = IdsOf(judgement);
      HoldPlayedByModel(scenario, outcome, *tallies.sessions);
    }
    if (reaches) tallies.reached = ReachedByPlay{TraceHash(outcome), coverage.pairs()};
    outcome.extra = replays::Packed(tallies);
  }

  Tallies AddTallies(const std::string& packed) {
    if (packed.empty()) return {};
    auto tallies = replays::Unpacked<Tallies>(packed);
    if (tallies.sessions.has_value()) summary_.tally.Add(*tallies.sessions);
    if (tallies.cluster.has_value()) summary_.cluster.Add(*tallies.cluster);
    return tallies;
  }

  void Tick() const {
    if (callbacks_.on_tick && playing_.second != nullptr) callbacks_.on_tick(playing_.first, *playing_.second);
  }

  static void HoldPlayedByModel(const Scenario& scenario, Outcome& outcome, Tally& tally) {
    ModelComparison says = CompareWithModel(scenario, outcome);
    tally.Add(says);
    const bool told = !outcome.reason.empty() || !outcome.violated->empty();  // a broken rule says more
    if (says.disagreement.empty() || told) return;
    outcome.reason = std::move(says.disagreement);
    outcome.explanation = std::move(says.report);
  }

  void Count(std::string_view suite, SuiteCount& count, const Result& result) {
    if (result.status == replays::Status::kUnreadable) {
      ++count.unreadable;
      callbacks_.on_error(result.reason);
      return;
    }
    NoteSeed(suite, count, result);
    if (result.status == replays::Status::kNotPlayed) {
      ++count.not_played[result.reason];
      return;
    }
    if (suite == kSaved) return CountSaved(count, result);
    const replays::PlainOutcome& outcome = result.outcome;
    const bool broke_a_rule = outcome.violated.has_value() && !outcome.violated->empty();
    const bool recorded = !IsDrawn(suite);
    const bool as_recorded = recorded && result.status == replays::Status::kPassed;
    const bool passed = (as_recorded || (!recorded && outcome.verdict == Verdict::kPlayed)) && outcome.reason.empty();
    if (passed && !broke_a_rule) {
      ++count.passed;
      return;
    }
    ++count.failed;
    const std::string rule = broke_a_rule ? outcome.violated->front() : "";
    if (++failures_[rule] > kFullFailures || ++full_failures_ > kMostFullFailures) return LeaveUntold(count, result.id);
    CheckFailure failure{std::string(suite), result.id, rule, "", ""};
    if (!broke_a_rule && recorded && !as_recorded) {
      failure.text = replays::FailureText(result, {.plant = options_.plant, .player = options_.player.command});
    } else {
      Describe(result, failure);
    }
    callbacks_.on_failure(failure);
    if (keeper_ != nullptr) told_ = std::move(failure);
  }

  static void LeaveUntold(SuiteCount& count, const std::string& id) {
    ++count.untold_count;
    if (count.untold.size() < kMostUntold) count.untold.push_back(id);
  }

  // It stands in its file already.
  void CountSaved(SuiteCount& count, const Result& result) {
    if (result.status == replays::Status::kPassed) {
      ++count.passed;
      return;
    }
    ++count.failed;
    const std::vector<std::string> none;
    const std::vector<std::string>& violated = result.outcome.violated.value_or(none);
    if (count.failed > kMostFullFailures) return LeaveUntold(count, result.id);
    const std::string rule = violated.empty() ? "" : violated.front();
    const replays::ReplayHow how{
        .plant = options_.plant, .player = options_.player.command, .play_limit = PlayLimitOf(rule, options_.limits)};
    callbacks_.on_failure({std::string(kSaved), result.id, rule, replays::FailureText(result, how), result.source});
  }

  // Results come in the order of the seeds.
  void NoteSeed(std::string_view suite, SuiteCount& count, const Result& result) {
    if (!IsDrawn(suite)) return;
    const Drawn drawn = DrawnBy(suite);
    count.seeds = {drawn.first, drawn.SeedOf(result.record)};
  }

  void Describe(const Result& result, CheckFailure& failure) {
    const bool drawn = IsDrawn(failure.suite);
    std::optional<Scenario> scenario = drawn ? DrawnBy(failure.suite).ScenarioOf(result.record) : FindRecording(result);
    if (!scenario.has_value()) {
      failure.text = fmt::format("FAILED {}\n  {}:{} could not be read again\n", replays::Escaped(result.id),
                                 replays::Escaped(result.source), result.record);
      return;
    }
    FailureReport report = reporter_.Report({.scenario = *std::move(scenario),
                                             .drawn = drawn,
                                             .rule = failure.rule,
                                             .reason = result.outcome.reason,
                                             .explanation = result.outcome.explanation,
                                             .source = drawn ? "" : result.source});
    failure.text = std::move(report.text);
    failure.file = std::move(report.file);
    failure.why = std::move(report.why);
    failure.story = std::move(report.story);
    failure.record = std::move(report.record);
    failure.line = std::move(report.line);
    failure.play_limit = PlayLimitOf(failure.rule, options_.limits);
  }

  std::optional<Scenario> FindRecording(const Result& result) {
    std::optional<Scenario> found;
    ReadAll({result.source}, [&](const RawRecord& record) {
      if (record.record != result.record || !record.error.ok()) return true;
      replays::JsonDocument scratch;
      absl::StatusOr<Recording> parsed = replays::ParseRecording(record.text, record.source, record.record, scratch);
      if (parsed.ok()) found = std::move(parsed->scenario);
      return false;
    });
    return found;
  }

  const CheckOptions& options_;
  Files& files_;
  const CheckCallbacks& callbacks_;
  const std::atomic<bool>& stop_;
  ShardKeeper* const keeper_;  // may be null
  Corpora* const corpora_;     // may be null
  FailureReporter reporter_;
  CheckSummary summary_;
  std::pair<std::string_view, const SuiteCount*> playing_;  // the suite under way
  std::map<std::string, std::uint64_t> failures_;           // by rule
  std::size_t full_failures_ = 0;
  std::optional<CheckFailure> told_;  // of the result that is being counted
  bool is_cut_short_ = false;
  std::optional<Drawn> round_;                                              // with a corpus: what is being played
  std::vector<std::pair<std::uint64_t, std::set<std::uint64_t>>> reached_;  // in it, by seed
  std::uint64_t plays_with_corpus_ = 0;
};

std::uint64_t Sum(const std::map<std::string, SuiteCount>& suites, std::uint64_t SuiteCount::*field) {
  std::uint64_t sum = 0;
  for (const auto& [name, count] : suites) sum += count.*field;
  return sum;
}

}  // namespace

std::uint64_t CheckSummary::passed() const { return Sum(suites, &SuiteCount::passed); }
std::uint64_t CheckSummary::failed() const {
  return Sum(suites, &SuiteCount::failed) + (enough ? incomplete.size() : 0);
}
std::uint64_t CheckSummary::unreadable() const { return Sum(suites, &SuiteCount::unreadable); }
bool CheckSummary::given_up() const {
  return std::ranges::any_of(suites, [](const auto& suite) { return suite.second.given_up; });
}

CheckSummary RunCheck(const CheckOptions& options, Files& files, const CheckCallbacks& callbacks,
                      const std::atomic<bool>& stop, ShardKeeper* keeper, Corpora* corpora) {
  return Campaign(options, files, callbacks, stop, keeper, corpora).Run();
}

void FindIncomplete(CheckSummary& summary, bool random, bool cluster) {
  if (random) FindIncompleteRules(summary, true);
  if (cluster) FindIncompleteJobs(summary);
}

}  // namespace vigil::properties

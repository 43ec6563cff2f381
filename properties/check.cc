#include "vigil/properties/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/properties/explain.h"
#include "vigil/properties/generators/scenarios.h"
#include "vigil/replays/escape.h"
#include "vigil/replays/input.h"
#include "vigil/replays/job_player.h"
#include "vigil/replays/json.h"
#include "vigil/replays/parse.h"
#include "vigil/replays/print.h"
#include "vigil/replays/report.h"
#include "vigil/replays/runner.h"

namespace vigil::properties {
namespace {

using replays::Expectation;
using replays::Outcome;
using replays::RawRecord;
using replays::Recording;
using replays::Result;
using replays::Runner;
using replays::Scenario;
using replays::Verdict;

constexpr std::string_view kRecorded = "recorded";
constexpr std::string_view kRegressions = "regressions";
constexpr std::string_view kRandom = "random";
constexpr std::size_t kMostFullFailures = 25;  // of all rules together

std::vector<std::string> IdsOf(const Judgement& judgement) {
  std::vector<std::string> ids;
  for (const Violation& violation : judgement.violations) ids.emplace_back(violation.rule);
  return ids;
}

// Plays a random scenario by chance, then by the choices that were made.
Outcome PlayTwice(Runner& runner, Scenario scenario) {
  Outcome outcome = runner.Run(scenario, {.random_schedule = true});
  scenario.choices = outcome.choices;
  const std::uint64_t again = runner.Run(scenario).hash;
  if (again != outcome.hash && outcome.reason.empty()) {
    outcome.reason =
        fmt::format("playing the same choices again gave another run: hash {:016x}, then {:016x}", outcome.hash, again);
  }
  return outcome;
}

std::string ExplainIn(const Outcome& outcome, const Violation& violation) {
  return Explain(violation, AllRules()[violation.number]()->info(), outcome.trace);
}

std::string FileNameOf(std::string_view what) {
  std::string name(what);
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
  };
  std::replace_if(
      name.begin(), name.end(), [&plain](char c) { return !plain(c); }, '_');
  return name;
}

class Campaign {
 public:
  Campaign(const CheckOptions& options, Files& files, const CheckCallbacks& callbacks, const std::atomic<bool>& stop)
      : options_(options), files_(files), callbacks_(callbacks), stop_(stop) {}

  CheckSummary Run() {
    if (!options_.recordings.empty()) {
      Suite(kRecorded, [this](const replays::OnRecord& on_record) { ReadRecordings(options_.recordings, on_record); });
    }
    if (!options_.regressions.empty() && !summary_.stopped) {
      Suite(kRegressions,
            [this](const replays::OnRecord& on_record) { ReadRecordings(options_.regressions, on_record); });
    }
    if (options_.random && !summary_.stopped) {
      Suite(kRandom, [this](const replays::OnRecord& on_record) { ReadRandom(on_record); });
    }
    // The regressions alone arm nothing: no rule is held against them.
    const bool rules = !options_.recordings.empty() || options_.random;
    if (rules && !summary_.stopped) FindIncomplete();
    return std::move(summary_);
  }

 private:
  using Reader = std::function<void(const replays::OnRecord&)>;

  void ReadRecordings(const std::vector<std::string>& paths, const replays::OnRecord& on_record) {
    const replays::ChunkSource no_input = [] { return std::string(); };
    replays::ReadRecords(files_, no_input, paths, on_record);
  }

  // Each scenario goes through its text: what is saved of a failure is what was played.
  void ReadRandom(const replays::OnRecord& on_record) {
    for (std::uint64_t seed = options_.first_seed; seed <= options_.last_seed; ++seed) {
      RawRecord record;
      record.source = "seeds";
      record.record = static_cast<std::int64_t>(seed - options_.first_seed) + 1;
      record.text = replays::PrintRecord(RandomScenario(seed));
      if (!on_record(std::move(record)) || seed == options_.last_seed) return;
    }
  }

  void Suite(std::string_view name, const Reader& reader) {
    SuiteCount& count = summary_.suites[std::string(name)];
    std::vector<Tally> tallies(static_cast<std::size_t>(options_.jobs));
    std::atomic<std::size_t> workers = 0;
    replays::PlayCallbacks callbacks;
    callbacks.read = reader;
    callbacks.new_player = [&, random = name == kRandom, rules = name != kRegressions]() -> replays::Player {
      return [runner = std::make_shared<Runner>(), tally = &tallies[workers++], random,
              rules](const Recording& recording) {
        Outcome outcome = random ? PlayTwice(*runner, recording.scenario) : runner->Run(recording.scenario);
        if (outcome.verdict == Verdict::kUnsupported || !rules) return replays::PlainOutcome(outcome);
        const Judgement judgement = CheckRules(outcome, recording.scenario);
        tally->Add(outcome, judgement);
        outcome.violated = IdsOf(judgement);
        return replays::PlainOutcome(std::move(outcome));
      };
    };
    callbacks.on_result = [&](const Result& result) { Count(name, count, result); };
    callbacks.on_tick = [&] {
      if (callbacks_.on_tick) callbacks_.on_tick(name, count);
    };
    const replays::PlaySummary played = replays::PlayAll({.jobs = options_.jobs}, callbacks, stop_);
    summary_.stopped = summary_.stopped || played.stopped;
    for (const Tally& tally : tallies) summary_.tally.Add(tally);
  }

  void Count(std::string_view suite, SuiteCount& count, const Result& result) {
    if (result.status == replays::Status::kUnreadable) {
      ++count.unreadable;
      callbacks_.on_error(result.reason);
      return;
    }
    const replays::PlainOutcome& outcome = result.outcome;
    const bool broke_a_rule = outcome.violated.has_value() && !outcome.violated->empty();
    const bool recorded = suite != kRandom;
    if (recorded && outcome.verdict == Verdict::kUnsupported) {
      ++count.unbuilt[outcome.reason];
      return;
    }
    const bool passed = recorded ? result.status == replays::Status::kPassed
                                 : outcome.verdict == Verdict::kPlayed && outcome.reason.empty();
    if (passed && !broke_a_rule) {
      ++count.passed;
      return;
    }
    ++count.failed;
    const std::string rule = broke_a_rule ? outcome.violated->front() : "";
    if (++failures_[rule] > kFullFailures || ++full_failures_ > kMostFullFailures) return;
    CheckFailure failure{std::string(suite), result.id, rule, "", ""};
    if (!broke_a_rule && recorded) {
      failure.text = replays::FailureText(result);
    } else {
      Describe(result, failure);
    }
    callbacks_.on_failure(failure);
  }

  // Plays it again, for the events that prove it, and saves it.
  void Describe(const Result& result, CheckFailure& failure) {
    const bool random = failure.suite == kRandom;
    std::optional<Scenario> scenario = random ? ScenarioOfRecord(result.record) : FindRecording(result);
    failure.text =
        fmt::format("FAILED {}: {}\n", replays::Escaped(result.id), failure.rule.empty() ? "no rule" : failure.rule);
    if (!scenario.has_value()) {
      failure.text += fmt::format("  {}:{} could not be read again\n", replays::Escaped(result.source), result.record);
      return;
    }
    const Outcome outcome = runner_.Run(*scenario, {.random_schedule = random});
    const Judgement judgement = CheckRules(outcome, *scenario);
    std::string others;
    bool again = false;
    for (const Violation& violation : judgement.violations) {
      if (violation.rule == failure.rule) {
        again = true;
        failure.text += ExplainIn(outcome, violation);
      } else {
        others += (others.empty() ? "" : ", ") + std::string(violation.rule);
      }
    }
    if (!others.empty()) failure.text += fmt::format("  also broken: {}\n", others);
    if (!again && !failure.rule.empty()) failure.text += "  played once more, it kept the rule\n";
    if (!result.outcome.reason.empty()) failure.text += fmt::format("  {}\n", replays::Escaped(result.outcome.reason));
    scenario->choices = outcome.choices;
    Save(*scenario, failure);
  }

  void Save(const Scenario& scenario, CheckFailure& failure) {
    Scenario saved = scenario;
    saved.title = failure.rule.empty() ? "failed without breaking a rule" : "violates " + failure.rule;
    Expectation expect;
    expect.violates = failure.rule;
    const std::string name = fmt::format("{}-{}.json", failure.rule.empty() ? "failed" : failure.rule, scenario.id);
    const std::string path = JoinPath(options_.failures, FileNameOf(name));
    const std::string line = replays::PrintRecord(saved, failure.rule.empty() ? nullptr : &expect) + "\n";
    absl::Status status = files_.MakeDirectory(options_.failures);
    if (status.ok()) status = WriteAtomically(files_, path, line);
    if (!status.ok()) {
      callbacks_.on_error(
          fmt::format("cannot save {}: {}", replays::Quoted(path), replays::Escaped(MessageOf(status))));
      return;
    }
    failure.file = path;
    failure.text += fmt::format("  ./vigil replay {}\n", replays::ShellWord(path));
  }

  Scenario ScenarioOfRecord(std::int64_t record) const {
    return RandomScenario(options_.first_seed + static_cast<std::uint64_t>(record) - 1);
  }

  std::optional<Scenario> FindRecording(const Result& result) {
    std::optional<Scenario> found;
    ReadRecordings({result.source}, [&](const RawRecord& record) {
      if (record.record != result.record || !record.error.ok()) return true;
      replays::JsonDocument scratch;
      absl::StatusOr<Recording> parsed = replays::ParseRecording(record.text, record.source, record.record, scratch);
      if (parsed.ok()) found = std::move(parsed->scenario);
      return false;
    });
    return found;
  }

  void FindIncomplete() {
    const Tally& tally = summary_.tally;
    for (std::size_t i = 0; i < tally.armed.size(); ++i) {
      if (tally.armed[i] == 0)
        summary_.incomplete.push_back(fmt::format("rule {} was never armed", AllRules()[i]()->info().id));
    }
    summary_.enough = summary_.suites[std::string(options_.random ? kRandom : kRecorded)].played() >= kEnoughScenarios;
    if (!options_.random) return;
    for (const std::string& seam : Seams()) {
      if (!tally.fired.contains(seam))
        summary_.incomplete.push_back(fmt::format("nothing ever failed at the seam {}", seam));
    }
  }

  const CheckOptions& options_;
  Files& files_;
  const CheckCallbacks& callbacks_;
  const std::atomic<bool>& stop_;
  Runner runner_;
  CheckSummary summary_;
  std::map<std::string, std::uint64_t> failures_;  // by rule
  std::size_t full_failures_ = 0;
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

CheckSummary RunCheck(const CheckOptions& options, Files& files, const CheckCallbacks& callbacks,
                      const std::atomic<bool>& stop) {
  return Campaign(options, files, callbacks, stop).Run();
}

replays::Player NewJudgingPlayer(int seeds) {
  return [runner = std::make_shared<Runner>(), seeds](const Recording& recording) -> replays::PlainOutcome {
    if (recording.expect.has_value() && recording.expect->job != nullptr)
      return replays::PlayJobLikeRecorded(*runner, recording.scenario, *recording.expect->job, seeds);
    Outcome outcome = runner->Run(recording.scenario);
    const bool names_a_rule = recording.expect.has_value() && !recording.expect->violates.empty();
    if (!names_a_rule) return outcome;
    const Judgement judgement = CheckRules(outcome, recording.scenario);
    outcome.violated = IdsOf(judgement);
    for (const Violation& violation : judgement.violations) outcome.explanation += ExplainIn(outcome, violation);
    return outcome;
  };
}

}  // namespace vigil::properties

#include "vigil/cli/check_report.h"

#include <cstdint>
#include <map>

#include "fmt/format.h"
#include "vigil/properties/campaign/suites.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/json_writer.h"

namespace vigil::cli {
namespace {

using properties::CheckOptions;
using properties::CheckSummary;
using properties::SuiteCount;
namespace suites = properties::suites;

struct RuleCount {
  std::uint64_t armed = 0;
  std::uint64_t violated = 0;
};

std::map<std::string, RuleCount> RulesByName(const properties::Tally& tally) {
  std::map<std::string, RuleCount> rules;
  for (std::size_t i = 0; i < tally.armed.size(); ++i) {
    rules[std::string(properties::AllRules()[i]()->info().id)] = {tally.armed[i], tally.violated[i]};
  }
  return rules;
}

std::map<std::string, std::uint64_t> Seams(const properties::Tally& tally) {
  std::map<std::string, std::uint64_t> seams = tally.fired;
  for (const std::string& seam : properties::Seams()) seams.try_emplace(seam, 0);
  return seams;
}

// "1..40", "1..40, of which shard 2/4", "1..7 of 1..40".
std::string SeedsText(const std::string& name, const SuiteCount& count, const CheckOptions& options, bool stopped) {
  std::string text = fmt::format("{}..{}", count.seeds->first, count.seeds->second);
  const std::uint64_t last = name == suites::kCluster.name ? options.last_job : options.last_seed;
  if (stopped && count.seeds->second < last) text += fmt::format(" of {}..{}", count.seeds->first, last);
  if (options.shards > 1) text += fmt::format(", of which shard {}/{}", options.shard, options.shards);
  return text;
}

// Why a suite played nothing: else that would look like a pass.
std::string Nothing(const std::string& name, const CheckOptions& options, bool stopped) {
  if (stopped) return "";
  if (name == suites::kSaved.name) return fmt::format("  nothing is saved in {}\n", replays::Quoted(options.failures));
  if (options.shards > 1) return fmt::format("  shard {}/{} holds none of it\n", options.shard, options.shards);
  return "  there was nothing to play\n";
}

std::string SuiteText(const std::string& name, const SuiteCount& count, const CheckOptions& options, bool stopped) {
  std::string text = fmt::format("suite {}: {} passed, {} failed\n", name, count.passed, count.failed);
  if (count.seeds.has_value()) text += fmt::format("  seeds {}\n", SeedsText(name, count, options, stopped));
  for (const auto& [reason, times] : count.not_played) text += fmt::format("  {:>8}  not played: {}\n", times, reason);
  if (count.given_up) text += fmt::format("  {}", replays::kGivenUp);
  if (count.untold_count > 0) {
    std::string ids;
    for (const std::string& id : count.untold) ids += (ids.empty() ? "" : ", ") + replays::Escaped(id);
    text += fmt::format("  {} of them are not told: {}{}\n", count.untold_count, ids,
                        count.untold_count > count.untold.size() ? ", ..." : "");
  }
  if (count.played() == 0 && count.unreadable == 0 && count.not_played.empty() && !count.given_up)
    text += Nothing(name, options, stopped);
  return text;
}

std::string ModelText(const properties::Tally& tally) {
  if (tally.modelled == 0 && tally.refused.empty()) return "";
  std::uint64_t all = tally.modelled;
  for (const auto& [what, times] : tally.refused) all += times;
  std::string text = fmt::format("the reference model said what {} of {} scenarios do, {:.1f} %\n", tally.modelled, all,
                                 100 * static_cast<double>(tally.modelled) / static_cast<double>(all));
  for (const auto& [what, times] : tally.refused)
    text += fmt::format("  {:>8}  not modelled: {}\n", times, replays::Escaped(what));
  return text;
}

// Of suites that have none there is nothing to say.
std::string ArmedText(const CheckSummary& summary) {
  const auto played = [&summary](const properties::SuiteInfo& suite) {
    return summary.suites.contains(std::string(suite.name));
  };
  std::string text;
  if (played(suites::kRecorded) || played(suites::kRandom) || played(suites::kExplore)) {
    text += fmt::format("{:<56}{:>10}{:>10}\n", "rule", "armed", "violated");
    for (const auto& [id, count] : RulesByName(summary.tally))
      text += fmt::format("{:<56}{:>10}{:>10}\n", id, count.armed, count.violated);
    text += "\n";
  }
  if (played(suites::kRecorded) || played(suites::kRandom)) {
    text += fmt::format("{:<56}{:>10}\n", "seam", "failures");
    for (const auto& [seam, times] : Seams(summary.tally)) text += fmt::format("{:<56}{:>10}\n", seam, times);
    text += "\n";
  }
  return text;
}

std::string CorpusText(const std::string& name, const properties::CorpusCount& corpus) {
  std::string text = fmt::format("corpus of {}: {} scenarios before, {} now; {} pairs of a rule's state and events\n",
                                 name, corpus.opened, corpus.kept, corpus.pairs);
  text += CurveText("plays", corpus.curve);
  if (corpus.first_failure > 0) text += fmt::format("  the first failure was play {}\n", corpus.first_failure);
  return text;
}

// What fails the check is named; what cannot be told yet is mostly everything, and an example does.
std::string IncompleteText(const CheckSummary& summary) {
  constexpr std::size_t kExamples = 2;
  std::string text;
  for (std::size_t i = 0; i < summary.incomplete.size(); ++i) {
    const std::size_t left = summary.incomplete.size() - i;
    if (!summary.enough && i == kExamples && left > 1) {
      return text + fmt::format("too few scenarios to tell: {} more, which --json names\n", left);
    }
    text += fmt::format("{}: {}\n", summary.enough ? "FAILED" : "too few scenarios to tell", summary.incomplete[i]);
  }
  return text;
}

}  // namespace

std::string CurveText(std::string_view of, const properties::ReachedCurve& curve) {
  std::string text = fmt::format("  {:>12}{:>12}\n", of, "pairs");
  for (const auto& [count, pairs] : curve) text += fmt::format("  {:>12}{:>12}\n", count, pairs);
  return text;
}

void WriteCurve(replays::JsonWriter& w, const properties::ReachedCurve& curve) {
  w.Open('[');
  for (const auto& [count, pairs] : curve) w.Open('[').Natural(count).Natural(pairs).Close(']');
  w.Close(']');
}

std::string CheckText(const CheckOptions& options, const CheckSummary& summary) {
  std::string text = ArmedText(summary);
  if (summary.cluster.jobs > 0) text += summary.cluster.Text() + "\n";
  if (options.saved && !summary.suites.contains(std::string(suites::kSaved.name)))
    text += fmt::format("suite saved: there is no folder {}\n", replays::Quoted(options.failures));
  for (const auto& [name, count] : summary.suites) text += SuiteText(name, count, options, summary.stopped);
  for (const auto& [name, corpus] : summary.corpora) text += CorpusText(name, corpus);
  text += ModelText(summary.tally);
  text += IncompleteText(summary);
  if (summary.stopped) text += "interrupted: this is what was found so far\n";
  return text + fmt::format("{} passed, {} failed\n", summary.passed(), summary.failed());
}

std::string CheckJson(const properties::CheckOptions& options, const CheckSummary& summary,
                      const std::vector<properties::CheckFailure>& failures) {
  replays::JsonWriter w;
  w.Open('{').Key("passed").Natural(summary.passed()).Key("failed").Natural(summary.failed());
  w.Key("unreadable").Natural(summary.unreadable()).Key("interrupted").Bool(summary.stopped);
  w.Key("seeds").String(fmt::format("{}..{}", options.first_seed, options.last_seed));
  w.Newline().Key("suites").Open('{');
  for (const auto& [name, count] : summary.suites) {
    w.Key(name).Open('{').Key("passed").Natural(count.passed).Key("failed").Natural(count.failed);
    if (count.seeds.has_value()) w.Key("seeds").String(fmt::format("{}..{}", count.seeds->first, count.seeds->second));
    if (options.shards > 1) w.Key("shard").String(fmt::format("{}/{}", options.shard, options.shards));
    if (count.given_up) w.Key("given_up").Bool(true);
    if (!count.not_played.empty()) {
      w.Key("not_played").Open('{');
      for (const auto& [reason, times] : count.not_played) w.Key(reason).Natural(times);
      w.Close('}');
    }
    w.Close('}');
  }
  w.Close('}');
  if (!summary.corpora.empty()) {
    w.Newline().Key("corpora").Open('{');
    for (const auto& [name, corpus] : summary.corpora) {
      w.Key(name).Open('{').Key("before").Natural(corpus.opened).Key("kept").Natural(corpus.kept);
      w.Key("first_failure").Natural(corpus.first_failure);
      WriteCurve(w.Key("pairs").Natural(corpus.pairs).Key("curve"), corpus.curve);
      w.Close('}');
    }
    w.Close('}');
  }
  w.Newline().Key("rules").Open('[');
  for (const auto& [id, count] : RulesByName(summary.tally)) {
    w.Newline().Open('{').Key("id").String(id).Key("armed").Natural(count.armed);
    w.Key("violated").Natural(count.violated).Close('}');
  }
  w.Close(']').Newline().Key("seams").Open('{');
  for (const auto& [seam, times] : Seams(summary.tally)) w.Key(seam).Natural(times);
  w.Close('}').Newline().Key("model").Open('{').Key("modelled").Natural(summary.tally.modelled);
  w.Key("refused").Open('{');
  for (const auto& [what, times] : summary.tally.refused) w.Key(what).Natural(times);
  w.Close('}').Close('}').Newline().Key("incomplete").Open('[');
  for (const std::string& what : summary.incomplete) w.String(what);
  w.Close(']').Newline().Key("failures").Open('[');
  for (const properties::CheckFailure& failure : failures) {
    w.Newline().Open('{').Key("suite").String(failure.suite).Key("id").String(failure.id);
    w.Key("rule").String(failure.rule).Key("file").String(failure.file);
    if (!failure.why.empty()) w.Key("why").Raw(failure.why);
    w.Close('}');
  }
  w.Close(']').Close('}');
  return w.Take() + "\n";
}

}  // namespace vigil::cli

#include "vigil/properties/verify/judges.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "vigil/properties/judge/node_rules.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/properties/verify/findings.h"
#include "vigil/replays/judge/tolerances.h"
#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/cluster/process_tasks.h"

namespace vigil {
namespace {

constexpr std::string_view kJudgesHead = R"(# Judges

What can say that something is wrong, and what each of them lets pass: a judge that excuses too much finds nothing. Under
*excuses* stands what passes although the sentence, taken alone, forbids it. A test forges evidence against every judge on this
page, and each must refuse it (`JudgesTest.ForgedEvidenceIsRefused`).

This page is generated: `./vigil rules --judges > docs/judges.md`
)";

// Beside rules and invariants.
struct Compared {
  std::string_view id;
  std::string_view sentence;
  std::string_view excuses;
  std::string_view why;
};
constexpr Compared kCompared[] = {
    {"compare.events", "The lines of a play are those that were recorded.", "nothing", ""},
    {"compare.final", "The directory holds what was recorded: checkpoints, state file, number of events files.",
     "a field that the recording does not have; contents of files; texts of errors",
     "old recordings and units have fewer fields; bytes and words are this project's own"},
    {"verdict.played", "A play ends by itself: neither deadlock, nor runaway, nor a set-up that fails.",
     "a runaway that the reference model foretells", "its scenario asks for more than its limit"},
    {"expect.something", "A recording says what is expected.", "nothing", ""},
    {"expect.violates", "What was saved for breaking a rule breaks none any more.", "nothing", ""},
    {"play.same_choices_same_run", "Playing the same choices again gives the same hash.",
     "payloads, contents of files and results of floating-point arithmetic", "they are not hashed"},
    {"model.says_the_same", "The reference model foretells the lines and the final state.",
     "what the model refuses by name (vigil check counts it); the number of events files; how far a runaway gets",
     "threads that race with the caller have no one order"},
    {"cluster.as_often",
     "Where each play of the recorded clusters was kept, many plays take each way as often: Fisher's exact test of "
     "what falls into kinds, that of Kolmogorov and Smirnov of steps and seconds, all of one scenario held to 1 % by "
     "Holm's "
     "method (replays/judge/frequencies.h). Such plays are not held to ranges.",
     "ways that are too rare to be told apart (of 12 recorded and 200 others: one that none of the recorded took and "
     "less than half of the others do); runs that take half a second and a tenth longer or shorter, 5 steps that are "
     "lost or not, 45 of where it ends; how long the first session takes to open",
     "twelve plays say no more; machines differ in speed, and the recorded last step is up to a second old"},
    {"cluster.shows_all_ways", "Where recordings show two ways, twenty plays or more show both.", "fewer plays",
     "of those nobody expects it"},
};

std::string ScopeOf(const properties::RuleInfo& rule) {
  std::string scope;
  const auto add = [&scope](std::string_view more) { scope += (scope.empty() ? "" : "; ") + std::string(more); };
  if (rule.holds == properties::Holds::kTensorFlow) add("any behaviour but TensorFlow's");
  if (rule.holds == properties::Holds::kDefault) add("any behaviour but the default");
  return scope;
}

TableJudge OfRule(const properties::RuleInfo& rule) {
  TableJudge judge{.kind = JudgeKind::kRule, .id = rule.id, .sentence = std::string(rule.sentence)};
  judge.excuses = ScopeOf(rule);
  judge.why = judge.excuses.empty()    ? ""
              : !rule.conflict.empty() ? std::string(rule.conflict)
                                       : "it is the promise of that behaviour alone";
  if (!rule.excuses.empty()) {
    judge.excuses += (judge.excuses.empty() ? "" : "; ") + std::string(rule.excuses);
    judge.why += (judge.why.empty() ? "" : "; ") + std::string(rule.why);
  }
  if (judge.excuses.empty()) judge.excuses = "nothing";
  return judge;
}

TableJudge OfInvariant(const sim::Checker& checker) {
  TableJudge judge{.kind = JudgeKind::kInvariant,
                   .id = checker.id,
                   .sentence = std::string(checker.sentence),
                   .excuses = std::string(checker.excuses),
                   .why = std::string(checker.why)};
  if (checker.needs != nullptr) {
    judge.excuses = (judge.excuses == "nothing" ? "" : judge.excuses + "; ") + "behaviours without its switch";
    judge.why += (judge.why.empty() ? "" : "; ") + std::string("TensorFlow promises no such thing");
  }
  return judge;
}

// Which leave lets a hook do what a promise forbids.
struct Leave {
  std::string_view id;
  std::string_view excuses;
};
constexpr Leave kLeaves[] = {
    {promise::kFails, "a hook with leave to fail"},
    {promise::kBlocks, "a hook with leave to wait"},
    {promise::kTrainOp, "a hook with leave to train"},
    {promise::kStop, "a hook with leave to ask for a stop"},
    {promise::kFeeds, "a hook with leave to feed"},
    {promise::kWrites, "the folders it has leave for"},
    {promise::kEndNeedsSession, "a hook with leave to need it"},
    {promise::kThread, "tasks named as services"},
    {promise::kClock, "a hook with leave for the outside"},
    {promise::kFiles, "a hook with leave for the outside"},
    {promise::kRandom, "a hook with leave for the outside"},
    {promise::kOthers, "a hook with leave for the outside"},
    {promise::kOwnThread, "a hook with leave for the outside"},
    {promise::kSleeps, "a hook with leave for the outside"},
};

TableJudge OfPromise(const HookPromise& promised) {
  const auto* const leave = std::ranges::find(kLeaves, promised.id, &Leave::id);
  const bool may = leave != std::end(kLeaves);
  return {.kind = JudgeKind::kPromise,
          .id = promised.id,
          .sentence = std::string(promised.sentence),
          .excuses = may ? std::string(leave->excuses) : "nothing",
          .why = may ? "its author says that this is its purpose" : ""};
}

std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : c == '\n' ? std::string(" ") : std::string(1, c);
  return cell;
}

struct Chapter {
  JudgeKind kind;
  std::string_view text;
};
constexpr Chapter kChapters[] = {
    {JudgeKind::kRule,
     "Rules\n\nOf the sessions of one process (docs/rules.md). A run that was cut off is judged by what it did: what "
     "had not happened yet is "
     "excused."},
    {JudgeKind::kInvariant, "Invariants\n\nOf clusters (docs/rules.md)."},
    {JudgeKind::kComparison, "Comparisons\n\nWith recordings, with the reference model, and of a play with itself."},
    {JudgeKind::kTolerance,
     "Tolerances\n\nHow a simulated cluster is compared with the recorded ones (`replays/judge/tolerances.h`): of each "
     "field "
     "by how much a play may "
     "lie outside of what was recorded."},
    {JudgeKind::kPromise, "Promises of hooks\n\nWhat `vigil verify` finds (docs/testing_your_code.md)."},
};

}  // namespace

std::vector<TableJudge> AllJudges() {
  std::vector<TableJudge> all;
  for (const properties::RuleFactory make : properties::AllRules()) all.push_back(OfRule(make()->info()));
  for (const sim::Checker& checker : sim::Checkers()) all.push_back(OfInvariant(checker));
  all.push_back({.kind = JudgeKind::kInvariant,
                 .id = properties::kNodeRules,
                 .sentence = std::string(properties::kNodeRulesSentence),
                 .excuses = "tasks of supervisors and evaluators; what a life that was killed had not done yet",
                 .why = "they have no monitored session; it was cut off"});
  for (const Compared& compared : kCompared) {
    all.push_back({.kind = JudgeKind::kComparison,
                   .id = compared.id,
                   .sentence = std::string(compared.sentence),
                   .excuses = std::string(compared.excuses),
                   .why = std::string(compared.why)});
  }
  for (const replays::Tolerance& tolerance : replays::Tolerances()) {
    all.push_back({.kind = JudgeKind::kTolerance,
                   .id = tolerance.field,
                   .sentence = fmt::format("as recorded, {}", replays::ToleranceText(tolerance)),
                   .excuses = std::string(tolerance.excuses),
                   .why = std::string(tolerance.why)});
  }
  for (const HookPromise& promised : HookPromises()) all.push_back(OfPromise(promised));
  return all;
}

std::string JudgesDocument() {
  std::string text(kJudgesHead);
  const std::vector<TableJudge> all = AllJudges();
  for (const Chapter& chapter : kChapters) {
    text += fmt::format("\n## {}\n\n| judge | holds | excuses | why |\n|---|---|---|---|\n", chapter.text);
    for (const TableJudge& judge : all) {
      if (judge.kind != chapter.kind) continue;
      text += fmt::format("| `{}` | {} | {} | {} |\n", judge.id, Cell(judge.sentence), Cell(judge.excuses),
                          Cell(judge.why));
    }
  }
  text +=
      "\nTasks that may outlive their program, by their whole names (`job.no_task_left`):\n\n| task | why "
      "|\n|---|---|\n";
  for (const sim::ProcessTask& task : sim::ProcessTasks())
    text += fmt::format("| `{}` | {} |\n", task.name, Cell(task.why));
  return text;
}

}  // namespace vigil

// One play of a scenario with everything that it is judged by: what `vigil explore FILE` adds up.
//
// Thread safety: data and pure functions.
#ifndef VIGIL_PROPERTIES_EXPLORE_PLAY_JUDGEMENT_H_
#define VIGIL_PROPERTIES_EXPLORE_PLAY_JUDGEMENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/runner.h"
#include "vigil/sim/kernel/chooser.h"

namespace vigil::properties {

struct PlayJudgement {
  std::string name;  // for reports
  replays::Verdict verdict = replays::Verdict::kPlayed;
  std::uint64_t trace_hash = 0;      // which task did what, in which order
  std::uint64_t events_hash = 0;     // the lines of the caller's task
  std::string end;                   // how it ended
  std::vector<std::uint64_t> armed;  // of each rule of AllRules(); none of a cluster
  // What is wrong with it:
  std::vector<std::string> rules;  // that it violates
  std::string disagreement;        // of the reference model; one line
  std::string endless;             // it did not end: one line. Of a runaway that the model predicts, nothing
  std::string unexpected;          // its events are not those expected: one line
  std::string report;              // of what is unexpected: lines, each with its newline
  std::string refused;             // why the model says nothing
  sim::ChoiceMap choices;          // of one that did not keep everything

  bool kept() const { return rules.empty() && disagreement.empty() && endless.empty() && unexpected.empty(); }
  // Of one that breaks no rule: what else is wrong, and in a word.
  const std::string& What() const;
  std::string_view Kind() const;
};

// `expect` may be null. An interrupted play has a name and a verdict.
PlayJudgement JudgePlay(replays::Outcome outcome, const replays::Scenario& scenario, const replays::Expectation* expect,
                        std::string name);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_EXPLORE_PLAY_JUDGEMENT_H_

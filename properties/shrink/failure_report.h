// A failure as a report: what was promised, what happened, the least that shows it, and the line that replays it.
//
// Thread safety: a FailureReporter belongs to one thread.
#ifndef VIGIL_PROPERTIES_SHRINK_FAILURE_REPORT_H_
#define VIGIL_PROPERTIES_SHRINK_FAILURE_REPORT_H_

#include <atomic>
#include <functional>
#include <set>
#include <string>

#include "vigil/core/base/time.h"
#include "vigil/core/env/files.h"
#include "vigil/properties/judge/model_comparison.h"
#include "vigil/properties/judge/same_failure.h"
#include "vigil/properties/shrink/failure_file.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/runner.h"

namespace vigil::properties {

struct FailedRun {
  replays::Scenario scenario;  // as it was played
  bool drawn = false;          // its choices were made by chance, from its seed
  std::string rule;            // the first that it violates; "" = none
  std::string reason;          // what else is wrong: one line, and indented lines; "" = nothing
  std::string explanation;
  std::string source = {};  // the file that it comes from, which is not overwritten; "" = it was drawn
  // What was expected of it, if that is what it failed: saved with it. Borrowed; may be null.
  const replays::Expectation* expect = nullptr;
};

struct FailureReport {
  std::string text;    // lines, each with its newline; the last is the line that replays it
  std::string file;    // where it was saved; "" = nowhere
  std::string why;     // what led to the violation: JSON (ChainJson of show/causes.h); "" = nothing is known
  std::string story;   // the scenario as it is saved, in one line
  std::string record;  // ... as the file has it, without its newline
  std::string line;    // the last of `text`, if it could be saved
};

struct FailureReporterOptions {
  std::string folder = "failures";
  std::string plant = {};                            // the planted bug that is on; the line that replays names it
  replays::PlayerOptions player = {};                // who has played, and plays again; the same
  replays::PlayLimits limits = {};                   // of each play that was found to fail
  std::function<void(const std::string&)> on_error;  // REQUIRED; what cannot be written; one line
  std::function<Time()> now;                         // none: shrinking is bounded by the number of plays only
  std::function<void()> on_tick;                     // may be empty; before each play
  // Not only the first of each rule, and by fewer plays than would be spent on it alone: the same whatever failed
  // before.
  bool shrinks_all = false;
};

class FailureReporter {
 public:
  // Borrows `files` and `stop`, which ends plays and shrinking early.
  FailureReporter(Files& files, FailureReporterOptions options, const std::atomic<bool>& stop)
      : options_(std::move(options)), folder_(files, options_.folder), stop_(stop), runner_(options_.player) {}

  // Plays it again, for the events that prove it; shrinks the first of each rule; saves it.
  FailureReport Report(const FailedRun& failed);

 private:
  replays::Outcome Play(const replays::Scenario& scenario, replays::RunnerOptions how);
  FailureReport ReportCrash(const FailedRun& failed);
  FailureReport ReportReal(const FailedRun& failed);
  bool MayShrink(const std::string& rule) { return shrunk_.insert(rule).second || options_.shrinks_all; }
  bool FailsStill(const FailureKind& kind, const replays::Scenario& candidate);
  std::string Shrunken(const FailedRun& failed, replays::Scenario& scenario);
  void Save(const FailedRun& failed, const replays::Scenario& scenario, const ModelComparison& says,
            FailureReport& report);

  const FailureReporterOptions options_;
  FailureFolder folder_;
  const std::atomic<bool>& stop_;
  replays::Runner runner_;
  std::set<std::string> shrunk_;  // rules
};

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_SHRINK_FAILURE_REPORT_H_

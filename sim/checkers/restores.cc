// Which checkpoint a chief goes on from.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

// Of the chief alone: a worker that believed it gone may have saved what the chief never hears of.
void CheckRestores(const JobRun& run, Findings& findings) {
  // Then the directory says which is the newest, if it can.
  const bool lists_late = PlansForDisks(run, DiskFault::Effect::kStale);
  if (run.facts.state_file_rotten && (lists_late || !run.behaviour.restore_fallback)) return;
  const JobMoment* newest = nullptr;
  std::set<std::int64_t> reported;
  std::optional<std::int64_t> since_zombie;  // the newest that was reported when one began
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kReplaced && moment.subject == "chief:0" && !since_zombie.has_value())
      since_zombie = newest == nullptr ? -1 : newest->step;
    if (moment.task != "chief:0") continue;
    const bool saved = moment.kind == JobMoment::Kind::kSaved && moment.code == Code::kOk;
    if (saved) reported.insert(moment.step);
    if (saved && !HasRotted(run, moment.step)) newest = &moment;
    if (moment.kind != JobMoment::Kind::kRestored || moment.step < 0 || newest == nullptr) continue;
    findings.Arm();
    // One that is newer was complete, too, when what made it was cut off before it could report it.
    if (moment.step >= newest->step || run.facts.rotten_state_file_names.contains(moment.step)) continue;
    // What it was doing when it was taken for dead it ends, and names its own checkpoint the newest.
    if (since_zombie.has_value() && moment.step > *since_zombie && !reported.contains(moment.step)) continue;
    findings.Violate(moment, fmt::format("a restore of step {}, the newest checkpoint that was reported", newest->step),
                     fmt::format("of step {}", moment.step));
  }
}

}  // namespace

const Checker kRestoresNewestReported = {
    .id = "restore.newest_reported",
    .sentence = "A chief that begins anew restores the newest checkpoint whose save was reported, or a later one.",
    .source = "SessionManager.prepare_session r1.4: restores the latest checkpoint of the directory",
    .needs = &Behaviour::durable_saves,
    .check = CheckRestores,
    .stays =
        "Where the newest is lost, checkpoint.reported_survives finds it. It finds a chief that does not take what is "
        "there.",
    .excuses =
        "checkpoints which a fault has damaged, and what a state file names in which a bit has flipped (or, without "
        "restore_fallback or where listings come late, the whole job); checkpoints of other tasks than the chief, and "
        "what a chief that was taken for dead has saved since",
    .why =
        "a restore falls back where the newest is damaged, and only there; a flipped bit can make another name that is "
        "there; a worker that believes the chief gone saves into the same folder, and so does one that was taken for "
        "dead",
};

}  // namespace vigil::sim

// What a watched hook did in one play: its decisions, and what it had no right to.
//
// Thread safety: none; belongs to one world.
#ifndef VIGIL_PROPERTIES_VERIFY_EVIDENCE_H_
#define VIGIL_PROPERTIES_VERIFY_EVIDENCE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/env/env.h"
#include "vigil/properties/verify/options.h"
#include "vigil/properties/verify/outside/outside.h"

namespace vigil {

// What a hook decided, and when: after which global step, in which session of the caller (0, 1).
struct HookDecision {
  int life = 0;
  std::int64_t step = 0;
  std::string what;  // "asks for a stop", "feeds feed_me:0 with 3", "fails with INTERNAL"
  friend bool operator==(const HookDecision&, const HookDecision&) = default;
};

struct HookOffence {
  std::string_view promise;
  std::string actual;
};

struct Evidence {
  const VerifyOptions* options = nullptr;
  bool in_calm = false;  // no fault is planned

  std::vector<HookDecision> decisions;
  std::vector<HookOffence> offences;
  int life = 0;
  std::int64_t last_step = 0;
  std::string inside;             // the method that is being called; "" = none
  bool ended = false;             // End was called, and no Begin since
  std::int64_t session = 0;       // the newest; 0 = none, or it is gone
  bool stopped_last_run = false;  // the newest run, by the hook
  OutsideCalls outside;
  std::vector<std::shared_ptr<bool>> tasks_done;
  std::vector<std::string> task_names;

  void Offend(std::string_view promise, std::string actual) {
    const auto same = [promise](const HookOffence& offence) { return offence.promise == promise; };
    if (std::ranges::any_of(offences, same)) return;
    offences.push_back({promise, std::move(actual)});
  }
  void Decide(std::string what) {
    HookDecision decision{life, last_step, std::move(what)};
    if (std::ranges::find(decisions, decision) == decisions.end()) decisions.push_back(std::move(decision));
  }
  // Offends by what was asked of the machine.
  void NoteOutside();
  // "in after_run after step 3"
  std::string Where() const;
};

using EvidencePtr = std::shared_ptr<Evidence>;

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_EVIDENCE_H_

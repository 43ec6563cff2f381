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

#include "vigil/core/base/code.h"
#include "vigil/core/coord/coordinator.h"
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

struct HookTask {
  std::string name;
  std::shared_ptr<bool> done;
  std::shared_ptr<Coordinator> coord;  // that should end it; null: it was started before there was one
};

struct Evidence {
  const VerifyOptions* options = nullptr;

  std::vector<HookDecision> decisions;
  std::vector<HookOffence> offences;
  int life = 0;
  std::int64_t last_step = 0;
  std::string inside;                  // the method that is being called; "" = none
  bool ended = false;                  // End was called, and no Begin since
  std::int64_t session = 0;            // the newest; 0 = none, or it is gone
  bool stopped_last_run = false;       // the newest run, by the hook
  std::shared_ptr<Coordinator> coord;  // of the newest session
  std::vector<Code> own_failures;      // of calls that the hook made on a session in this method
  OutsideCalls outside;
  std::vector<HookTask> tasks;  // that it has started

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
  // The same of one thing: by which function it was asked.
  void AsksOutside(OutsideKind kind, std::string_view function);
  // Offends by a file that changes where it may not.
  void Changes(const std::string& path);
  // "in after_run after step 3"
  std::string Where() const;
};

// Of what NoteOutside says.
bool IsOutside(std::string_view promise);
// "clock", "files", "random", "sleep", "thread", "others"; nullopt if it is called otherwise.
std::optional<OutsideKind> OutsideKindOf(std::string_view name);

using EvidencePtr = std::shared_ptr<Evidence>;

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_EVIDENCE_H_

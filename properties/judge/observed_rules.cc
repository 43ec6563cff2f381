#include "vigil/properties/judge/observed_rules.h"

#include "vigil/properties/rules/rule.h"

namespace vigil::properties {

RunFacts FactsOf(const replays::ObservedJob& job) {
  const replays::ObservedSupervisor by = job.supervisor.value_or(replays::ObservedSupervisor{});
  return {
      .unseen = kRunParts | kHookDetails | kSaverDetails | kQueueDetails,
      .recovers = job.recovers,
      .supervisor = job.supervisor.has_value(),
      .by_hand = by.by_hand,
      .worker = job.worker,
      .may_join = job.remote,
      .hooks = job.hooks.size(),
      .init_fn = job.init_fn,
      .initialises = by.initialises,
      .asks_ready = by.asks_ready,
      .queue = job.queue,
      .may_restore = job.may_restore,
      .saves_something = job.saves_something,
      .disk_fails = true,
  };
}

Judgement JudgeObserved(const replays::ObservedJob& job) { return Judge(job.trace, FactsOf(job), job.ended); }

}  // namespace vigil::properties

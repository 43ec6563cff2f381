// The seams of an env that need no tasks, and all of them together: what FakeEnv and its like are made of.
//
// Thread safety: see fake_tasks.h.
#ifndef VIGIL_FAKES_FAKE_SEAMS_H_
#define VIGIL_FAKES_FAKE_SEAMS_H_

#include "vigil/core/env/env.h"
#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/manual_signals.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/fakes/sequence_random.h"

namespace vigil::fakes {

// LogSeam is a Log, Sink an EventSink.
template <typename LogSeam, typename Sink>
struct FakeSeams {
  ManualClock clock;
  MemoryFiles files{clock};
  SequenceRandom random;
  LogSeam log;
  Sink events;
  Process process;
  ManualSignals signals;

  // Both are borrowed.
  Env With(Tasks& tasks, Network& network) {
    return {.clock = &clock,
            .tasks = &tasks,
            .files = &files,
            .random = &random,
            .log = &log,
            .process = &process,
            .events = &events,
            .network = &network,
            .signals = &signals};
  }
};

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_FAKE_SEAMS_H_

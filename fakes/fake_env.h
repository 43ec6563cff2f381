// An env for unit tests, every seam in the test's hand.
//
//   FakeEnv fake;
//   auto session = MonitoredSession::Create(fake.env(), ...);
//   fake.clock.Advance(std::chrono::seconds(10));
//   EXPECT_THAT(fake.events.events(), ...);
//
// Thread safety: see fake_tasks.h.
#ifndef VIGIL_FAKES_FAKE_ENV_H_
#define VIGIL_FAKES_FAKE_ENV_H_

#include "vigil/core/env/env.h"
#include "vigil/core/env/in_process_network.h"
#include "vigil/core/env/real/threads.h"
#include "vigil/fakes/capturing.h"
#include "vigil/fakes/fake_tasks.h"
#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/manual_signals.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/fakes/sequence_random.h"

namespace vigil::fakes {

struct FakeEnv {
  ManualClock clock;
  MemoryFiles files{clock};
  SequenceRandom random;
  CapturingLog log;
  CapturingSink events;
  Process process;
  ManualSignals signals;
  Threads threads;                  // carry the tasks
  FakeTasks tasks{threads, clock};  // goes before the others, since tasks that are still there use them
  InProcessNetwork network{tasks};

  Env env() {
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

#endif  // VIGIL_FAKES_FAKE_ENV_H_

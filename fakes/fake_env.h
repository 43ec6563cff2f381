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
#include "vigil/fakes/fake_seams.h"
#include "vigil/fakes/fake_tasks.h"

namespace vigil::fakes {

struct FakeEnv : FakeSeams<CapturingLog, CapturingSink> {
  Threads threads;                  // carry the tasks
  FakeTasks tasks{threads, clock};  // goes before the others, since tasks that are still there use them
  InProcessNetwork network{tasks};

  Env env() { return With(tasks, network); }
};

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_FAKE_ENV_H_

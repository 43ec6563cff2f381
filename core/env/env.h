// Everything through which the core reaches the outside world.
//
// A real program passes real seams (core/env/real), a test passes fakes, the simulator passes a node of its world.
// A plain struct of borrowed pointers: they must outlive whatever was given the Env. The core copies it freely.
#ifndef VIGIL_CORE_ENV_ENV_H_
#define VIGIL_CORE_ENV_ENV_H_

#include "vigil/core/base/event.h"
#include "vigil/core/env/clock.h"
#include "vigil/core/env/files.h"
#include "vigil/core/env/log.h"
#include "vigil/core/env/network.h"
#include "vigil/core/env/process.h"
#include "vigil/core/env/random.h"
#include "vigil/core/env/stop_signals.h"
#include "vigil/core/env/tasks.h"
#include "vigil/core/env/thread_pool.h"

namespace vigil {

struct Env {
  Clock* clock = nullptr;
  Tasks* tasks = nullptr;
  Files* files = nullptr;
  Random* random = nullptr;
  Log* log = nullptr;
  Process* process = nullptr;
  EventSink* events = nullptr;     // may be null
  Network* network = nullptr;      // may be null: then there is no cluster
  StopSignals* signals = nullptr;  // may be null: then nobody can ask to be told of them
  ThreadPool* intra_op = nullptr;  // may be null: then an op has the thread of its caller only

  void Emit(const Event& event) const {
    if (events != nullptr) events->Emit(event);
  }
};

// `timeout` from now as a deadline; for ever (Duration::max()) is kNever.
Time DeadlineAfter(const Env& env, Duration timeout);

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_ENV_H_

#include "vigil/core/env/real/real_env.h"

#include "vigil/core/env/in_process_network.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/core/env/real/seeded_random.h"
#include "vigil/core/env/real/stderr_log.h"
#include "vigil/core/env/real/system_clock.h"
#include "vigil/core/env/real/threads.h"

namespace vigil {

struct RealEnv::Seams {
  explicit Seams(const RealEnvOptions& options)
      : random(options.seed ? *options.seed : EntropySeed()),
        log(clock, options.log_to_stderr, options.log_threshold),
        events(options.events) {}

  SystemClock clock;
  Threads tasks;
  PosixFiles files;
  SeededRandom random;
  StderrLog log;
  Process process;
  EventSink* events;
  InProcessNetwork network{tasks};
};

RealEnv::RealEnv(const RealEnvOptions& options) : seams_(std::make_unique<Seams>(options)) {}
RealEnv::~RealEnv() = default;

Env RealEnv::env() {
  return {.clock = &seams_->clock,
          .tasks = &seams_->tasks,
          .files = &seams_->files,
          .random = &seams_->random,
          .log = &seams_->log,
          .process = &seams_->process,
          .events = seams_->events,
          .network = &seams_->network};
}

std::uint64_t RealEnv::seed() const { return seams_->random.seed(); }

}  // namespace vigil

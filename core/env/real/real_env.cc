#include "vigil/core/env/real/real_env.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <memory>
#include <string>
#include <vector>

#include "vigil/core/env/in_process_network.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/core/env/real/posix_stop_signals.h"
#include "vigil/core/env/real/seeded_random.h"
#include "vigil/core/env/real/stderr_log.h"
#include "vigil/core/env/real/system_clock.h"
#include "vigil/core/env/real/threads.h"
#include "vigil/core/env/real/worker_threads.h"

namespace vigil {
namespace {

constexpr std::chrono::seconds kPatience{1};  // with tasks that are about to end

void KeepFreedMemory() {
#if defined(__GLIBC__)
  constexpr int kMost = 32 << 20;  // the most that M_MMAP_THRESHOLD takes
  mallopt(M_MMAP_THRESHOLD, kMost);
  mallopt(M_TRIM_THRESHOLD, kMost);
#endif
}

}  // namespace

struct RealEnv::Seams {
  explicit Seams(const RealEnvOptions& options)
      : random(options.seed ? *options.seed : EntropySeed()),
        log(clock, options.log_to_stderr, options.log_threshold),
        events(options.events) {
    if (options.keep_freed_memory) KeepFreedMemory();
    if (options.intra_op_threads > 1) intra_op = std::make_unique<WorkerThreads>(options.intra_op_threads);
  }

  SystemClock clock;
  Threads tasks;
  PosixFiles files;
  SeededRandom random;
  StderrLog log;
  Process process;
  PosixStopSignals signals;
  EventSink* events;
  InProcessNetwork network{tasks};
  std::unique_ptr<WorkerThreads> intra_op;  // null: none were asked for
};

RealEnv::RealEnv(const RealEnvOptions& options) : seams_(std::make_shared<Seams>(options)) {
  seams_->tasks.KeepAlive(seams_);
}

RealEnv::~RealEnv() {
  seams_->process.End();
  const std::vector<std::string> left = seams_->tasks.WaitForAll(kPatience);
  if (left.empty()) return;
  seams_->log.Write(
      Severity::kError,
      fmt::format("Tasks are still running at the end of their RealEnv: {}. What they use of it stays until "
                  "they have ended. Stop and join what starts tasks before.",
                  fmt::join(left, ", ")));
}

Env RealEnv::env() {
  return {.clock = &seams_->clock,
          .tasks = &seams_->tasks,
          .files = &seams_->files,
          .random = &seams_->random,
          .log = &seams_->log,
          .process = &seams_->process,
          .events = seams_->events,
          .network = &seams_->network,
          .signals = &seams_->signals,
          .intra_op = seams_->intra_op.get()};
}

std::uint64_t RealEnv::seed() const { return seams_->random.seed(); }

}  // namespace vigil

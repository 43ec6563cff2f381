// The env of a real program: the only code that touches the operating system.
//
//   RealEnv real;
//   const Env env = real.env();
//
// It must outlive whatever was given the Env. Tasks that are still running when it goes are waited for for a second;
// then what they use of it stays until the last of them has ended, and an error in the log names them.
// Thread safety: as each seam says.
#ifndef VIGIL_CORE_ENV_REAL_REAL_ENV_H_
#define VIGIL_CORE_ENV_REAL_REAL_ENV_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "vigil/core/env/env.h"

namespace vigil {

struct RealEnvOptions {
  std::optional<std::uint64_t> seed;  // of the random streams, not of Random::Unique; none: the system's entropy
  bool log_to_stderr = true;
  Severity log_threshold = Severity::kInfo;  // lines below it are not written
  EventSink* events = nullptr;               // borrowed; may be null
  // TensorFlow's intra_op_parallelism_threads: how many threads work on one op at most. What is computed is the same to
  // the bit. 1 (or less): the caller's only.
  int intra_op_threads = 1;
  // The C library keeps what a step has freed (32 MiB of it at most) for the next one, in the whole process: to be
  // given each page anew takes a third of the time of a small convolutional net. glibc's only.
  bool keep_freed_memory = true;
};

class RealEnv {
 public:
  explicit RealEnv(const RealEnvOptions& options = {});
  ~RealEnv();
  RealEnv(const RealEnv&) = delete;
  RealEnv& operator=(const RealEnv&) = delete;

  Env env();
  // What to pass as options.seed to get the same draws again.
  std::uint64_t seed() const;

 private:
  struct Seams;
  const std::shared_ptr<Seams> seams_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_REAL_REAL_ENV_H_

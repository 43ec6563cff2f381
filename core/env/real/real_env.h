// The env of a real program: the only code that touches the operating system.
//
//   RealEnv real;
//   const Env env = real.env();
//
// It must outlive its tasks, detached ones too, and whatever was given the Env.
// Thread safety: as each seam says.
#ifndef VIGIL_CORE_ENV_REAL_REAL_ENV_H_
#define VIGIL_CORE_ENV_REAL_REAL_ENV_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "vigil/core/env/env.h"

namespace vigil {

struct RealEnvOptions {
  std::optional<std::uint64_t> seed;  // of the random streams; none: the system's entropy
  bool log_to_stderr = true;
  Severity log_threshold = Severity::kInfo;  // lines below it are not written
  EventSink* events = nullptr;               // borrowed; may be null
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
  std::unique_ptr<Seams> seams_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_REAL_REAL_ENV_H_

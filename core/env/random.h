// The random seam: named streams, so that one more draw in one place shifts no other place.
// Not for secrets. Thread safety: safe from any task. Errors: none.
#ifndef VIGIL_CORE_ENV_RANDOM_H_
#define VIGIL_CORE_ENV_RANDOM_H_

#include <cstdint>
#include <string_view>

namespace vigil {

class Random {
 public:
  virtual ~Random() = default;
  // 64 uniform bits from the stream of that name.
  virtual std::uint64_t Draw(std::string_view stream) = 0;
  // 64 bits for what no other process may have (names of temporary files, numbers of requests): of a real process, and
  // of each that was forked from it, its own even where all have the same seed. A world in which everything repeats
  // draws them from the stream.
  virtual std::uint64_t Unique(std::string_view stream) { return Draw(stream); }
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_RANDOM_H_

// What a random op keeps between its runs: where in its stream it stands.
//
// Each run sets aside as much of the stream as it may need, however much it then draws: TensorFlow does so
// (GuardedPhiloxRandom), and its numbers depend on it. The generator belongs to the node and to the session: another
// session begins anew. (The tasks of a cluster keep one for each name of a node.)
#ifndef VIGIL_CORE_OPS_RANDOM_RANDOM_GENERATOR_H_
#define VIGIL_CORE_OPS_RANDOM_RANDOM_GENERATOR_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/graph/resource.h"
#include "vigil/core/ops/random/philox.h"

namespace vigil {

// Thread safety: safe from any task.
class RandomGenerator : public Resource {
 public:
  static constexpr std::string_view kKind = "random generator";

  // Of the node that runs, from its attributes seed and seed2. Both 0: seeds are drawn from the environment, once.
  static absl::StatusOr<RandomGenerator*> Of(KernelContext& c);

  explicit RandomGenerator(const Philox& generator) : generator_(generator) {}

  // A generator that is good for so many samples of 128 bits, which no other run gets.
  Philox Reserve(std::uint64_t samples) {
    const SpinGuard lock(lock_);
    const Philox mine = generator_;
    generator_.Skip(samples);
    return mine;
  }

 private:
  SpinLock lock_;
  Philox generator_;  // guarded by lock_
};

// USAGE for attributes seed and seed2 that are no integers.
absl::Status CheckSeeds(const Node& node);
// The generator that these seeds stand for: as above where both are 0.
Philox Seeded(const Env& env, std::int64_t seed, std::int64_t seed2);

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_RANDOM_RANDOM_GENERATOR_H_

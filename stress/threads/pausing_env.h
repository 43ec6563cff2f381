// The env of a real program whose tasks pause at random whenever they go through a seam: other orders than those that
// the machine is used to.
//
// Where it pauses and for how long is drawn from a seed, how that meets what other threads do is not. It pauses for at
// most 100 us.
// Thread safety: as each seam says. Ownership: its tasks keep what they need of it.
#ifndef VIGIL_STRESS_THREADS_PAUSING_ENV_H_
#define VIGIL_STRESS_THREADS_PAUSING_ENV_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/env/env.h"

namespace vigil::stress {

// Numbers for the tests themselves. Safe from any task.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t Next();
  // One of 0, ..., n - 1.
  int Below(int n) { return static_cast<int>(Next() % static_cast<std::uint64_t>(n)); }

 private:
  const std::uint64_t seed_;
  std::atomic<std::uint64_t> drawn_{0};
};

// The seed of a run of the tests: --gtest_random_seed=N, counted from 1.
std::uint64_t SeedOfTests();

class PausingEnv {
 public:
  explicit PausingEnv(std::uint64_t seed = SeedOfTests());
  // Fails the test, naming them, where tasks still run that nobody waits for, long after they should have ended.
  ~PausingEnv();
  PausingEnv(const PausingEnv&) = delete;
  PausingEnv& operator=(const PausingEnv&) = delete;

  Env env() const;
  Draws& draws();
  std::uint64_t pauses() const;  // so far

  // Calls `body` with 0, ..., n - 1, each in a task of its own, and waits for all of them.
  void InParallel(int n, const std::function<void(int)>& body) const;

 private:
  struct Seams;
  const std::shared_ptr<Seams> seams_;
};

}  // namespace vigil::stress

#endif  // VIGIL_STRESS_THREADS_PAUSING_ENV_H_

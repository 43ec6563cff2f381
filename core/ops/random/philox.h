// Random numbers as TensorFlow draws them: Philox 4x32 with ten rounds, counted in samples of 128 bits.
//
// A generator is a value: a copy draws the same numbers. Skipping costs nothing, so that a stretch of the stream can be
// set aside and drawn later.
// Thread safety: as a value.
// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011); what TensorFlow's generator gives for
// its seeds (random/testdata).
#ifndef VIGIL_CORE_OPS_RANDOM_PHILOX_H_
#define VIGIL_CORE_OPS_RANDOM_PHILOX_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace vigil {

class Philox {
 public:
  using Sample = std::array<std::uint32_t, 4>;

  // `seed` is the key, `seed2` the upper half of the counter.
  explicit Philox(std::uint64_t seed, std::uint64_t seed2 = 0);

  Sample Next();
  // Forgets so many samples. As TensorFlow's, it carries into the upper half at most once.
  void Skip(std::uint64_t samples);

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_{};
};

// The same numbers one by one, first the first of a sample.
class PhiloxNumbers {
 public:
  explicit PhiloxNumbers(const Philox& generator) : generator_(generator) {}

  std::uint32_t Next() {
    if (used_ == sample_.size()) {
      sample_ = generator_.Next();
      used_ = 0;
    }
    return sample_[used_++];
  }
  void Skip(std::uint64_t numbers) {
    for (; numbers > 0 && used_ < sample_.size(); --numbers) ++used_;
    generator_.Skip(numbers / sample_.size());
    for (std::uint64_t rest = numbers % sample_.size(); rest > 0; --rest) Next();
  }

 private:
  Philox generator_;
  Philox::Sample sample_{};
  std::size_t used_ = 4;
};

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_RANDOM_PHILOX_H_

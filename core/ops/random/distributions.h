// From the bits of a generator to numbers, as TensorFlow does it: which bits make which number, in which order, and in
// which precision it is computed.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_OPS_RANDOM_DISTRIBUTIONS_H_
#define VIGIL_CORE_OPS_RANDOM_DISTRIBUTIONS_H_

#include <cstdint>
#include <span>

#include "vigil/core/ops/random/philox.h"

namespace vigil {

// So many samples are set aside for each number that is wanted.
inline constexpr std::uint64_t kSamplesPerNumber = 256;

// In [0, 1).
void FillUniform(Philox generator, std::span<float> out);
void FillUniform(Philox generator, std::span<double> out);
// In [low, high), which is not quite uniform where high - low is no power of two. REQUIRES: low < high.
void FillUniformInt(Philox generator, std::int32_t low, std::int32_t high, std::span<std::int32_t> out);
void FillUniformInt(Philox generator, std::int64_t low, std::int64_t high, std::span<std::int64_t> out);
// Of mean 0 and deviation 1.
void FillNormal(Philox generator, std::span<float> out);
void FillNormal(Philox generator, std::span<double> out);
// The same, but those of 2 and more are drawn again.
void FillTruncatedNormal(const Philox& generator, std::span<float> out);
void FillTruncatedNormal(const Philox& generator, std::span<double> out);

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_RANDOM_DISTRIBUTIONS_H_

#include "vigil/core/ops/random/distributions.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <type_traits>

namespace vigil {
namespace {

// How many words of 32 bits a number takes.
template <typename T>
constexpr std::size_t kWords = sizeof(T) / sizeof(std::uint32_t);

// The bits become the mantissa of a number in [1, 2).
float UniformOf(const std::uint32_t* words, float /*type*/) {
  return std::bit_cast<float>((std::uint32_t{127} << 23) | (words[0] & 0x7fffff)) - 1.0F;
}
double UniformOf(const std::uint32_t* words, double /*type*/) {
  const std::uint64_t mantissa = std::uint64_t{words[0] & 0xfffff} << 32 | words[1];
  return std::bit_cast<double>((std::uint64_t{1023} << 52) | mantissa) - 1.0;
}

// Two numbers out of 2 * kWords<T> words (Box and Muller). The angle is computed in double and rounded; nothing that is
// too small goes into the logarithm.
template <typename T>
std::array<T, 2> NormalsOf(const std::uint32_t* words) {
  constexpr T kLeast = static_cast<T>(1.0e-7);
  T radius = UniformOf(words, T());
  if (radius < kLeast) radius = kLeast;
  const T angle = static_cast<T>(2 * std::numbers::pi * static_cast<double>(UniformOf(words + kWords<T>, T())));
  const T length = std::sqrt(static_cast<T>(-2) * std::log(radius));
  return {std::sin(angle) * length, std::cos(angle) * length};
}

// Each sample gives as many numbers as fit into its four words; those that nobody wants of the last one are dropped.
template <typename T, typename Make>
void Fill(Philox& generator, std::span<T> out, Make make) {
  constexpr std::size_t kGroup = 4 / kWords<T>;
  for (std::size_t i = 0; i < out.size(); i += kGroup) {
    const Philox::Sample sample = generator.Next();
    const std::array<T, kGroup> numbers = make(sample);
    for (std::size_t k = 0; k < kGroup && i + k < out.size(); ++k) out[i + k] = numbers[k];
  }
}

template <typename T>
void Uniform(Philox& generator, std::span<T> out) {
  Fill<T>(generator, out, [](const Philox::Sample& sample) {
    std::array<T, 4 / kWords<T>> numbers;
    for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = UniformOf(&sample[k * kWords<T>], T());
    return numbers;
  });
}

template <typename T>
void UniformInt(Philox& generator, T low, T high, std::span<T> out) {
  using Unsigned = std::make_unsigned_t<T>;
  const Unsigned range = static_cast<Unsigned>(high) - static_cast<Unsigned>(low);
  Fill<T>(generator, out, [low, range](const Philox::Sample& sample) {
    std::array<T, 4 / kWords<T>> numbers;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      Unsigned bits = sample[k * kWords<T>];
      if constexpr (sizeof(T) == 8) bits |= Unsigned{sample[k * 2 + 1]} << 32;
      numbers[k] = static_cast<T>(static_cast<Unsigned>(low) + bits % range);
    }
    return numbers;
  });
}

template <typename T>
void Normal(Philox& generator, std::span<T> out) {
  Fill<T>(generator, out, [](const Philox::Sample& sample) {
    std::array<T, 4 / kWords<T>> numbers;
    for (std::size_t k = 0; k < numbers.size(); k += 2) {
      const auto pair = NormalsOf<T>(&sample[k * kWords<T>]);
      numbers[k] = pair[0];
      numbers[k + 1] = pair[1];
    }
    return numbers;
  });
}

// Each group has a stretch of the stream for itself, in which it draws until it is full.
template <typename T>
void TruncatedNormal(const Philox& generator, std::span<T> out) {
  constexpr T kLimit = 2;
  constexpr std::size_t kGroup = 4 / kWords<T>;
  constexpr std::uint64_t kSamplesPerGroup = kGroup * kSamplesPerNumber / 4;
  for (std::size_t i = 0; i < out.size(); i += kGroup) {
    Philox stretch = generator;
    stretch.Skip(i / kGroup * kSamplesPerGroup);
    PhiloxNumbers numbers(stretch);
    for (std::size_t k = 0; k < kGroup;) {
      std::array<std::uint32_t, 2 * kWords<T>> words;
      for (std::uint32_t& word : words) word = numbers.Next();
      for (const T number : NormalsOf<T>(words.data())) {
        if (k == kGroup || !(std::abs(number) < kLimit)) continue;
        if (i + k < out.size()) out[i + k] = number;
        ++k;
      }
    }
  }
}

}  // namespace

void FillUniform(Philox generator, std::span<float> out) { Uniform(generator, out); }
void FillUniform(Philox generator, std::span<double> out) { Uniform(generator, out); }
void FillUniformInt(Philox generator, std::int32_t low, std::int32_t high, std::span<std::int32_t> out) {
  UniformInt(generator, low, high, out);
}
void FillUniformInt(Philox generator, std::int64_t low, std::int64_t high, std::span<std::int64_t> out) {
  UniformInt(generator, low, high, out);
}
void FillNormal(Philox generator, std::span<float> out) { Normal(generator, out); }
void FillNormal(Philox generator, std::span<double> out) { Normal(generator, out); }
void FillTruncatedNormal(const Philox& generator, std::span<float> out) { TruncatedNormal(generator, out); }
void FillTruncatedNormal(const Philox& generator, std::span<double> out) { TruncatedNormal(generator, out); }

}  // namespace vigil

// Drawn digits, for examples that learn to read them: the same for the same seed, on every machine.
#ifndef VIGIL_EXAMPLES_DIGITS_H_
#define VIGIL_EXAMPLES_DIGITS_H_

#include <cstdint>

#include "vigil/core/tensor/tensor.h"

namespace vigil::examples {

inline constexpr std::int64_t kDigitSide = 28;  // elements of a row and of a column of an image

struct Digits {
  Tensor images;  // float [n, 28, 28, 1], from 0 (paper) to 1 (ink)
  Tensor labels;  // int32 [n], 0 to 9
};

// Each is drawn somewhere on the image, with a pen and ink of its own, on paper that is not clean.
Digits DrawDigits(std::uint64_t seed, std::int64_t n);

// The i-th batch of `size` of them; from the last one on they begin anew.
Digits BatchOf(const Digits& digits, std::int64_t i, std::int64_t size);

}  // namespace vigil::examples

#endif  // VIGIL_EXAMPLES_DIGITS_H_

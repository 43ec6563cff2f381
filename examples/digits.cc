#include "vigil/examples/digits.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "vigil/core/base/splitmix64.h"

namespace vigil::examples {
namespace {

constexpr std::int64_t kPixels = kDigitSide * kDigitSide;

// Five dots wide and seven high.
constexpr std::string_view kFont[10] = {
    ".###.#...##..###.#.###..##...#.###.", "..#...##....#....#....#....#...###.", ".###.#...#....#...#...#...#...#####",
    "#####...#...#.....#....##...#.###..", "...#...##..#.#.#..#.#####...#....#.", "######....####.....#....##...#.###.",
    "..##..#...#....####.#...##...#.###.", "#####....#...#...#...#....#....#...", ".###.#...##...#.###.#...##...#.###.",
    ".###.#...##...#.####....#...#..##..",
};

class Pen {
 public:
  explicit Pen(std::uint64_t seed) : random_(seed) {}

  float Between(float from, float to) { return from + (to - from) * static_cast<float>(random_.Below(1001)) / 1000.0F; }

  void Draw(std::size_t digit, float* image) {
    for (std::int64_t i = 0; i < kPixels; ++i) image[i] = Between(0, 0.25F);
    const float height = Between(2.3F, 3.2F);  // of a dot
    const float width = Between(2.3F, 3.2F);
    const float slant = Between(-0.2F, 0.2F);
    const float top = 14 - 3.5F * height + Between(-2.5F, 2.5F);
    const float left = 14 - 2.5F * width + Between(-2.5F, 2.5F);
    const float ink = Between(0.6F, 1);
    for (std::int64_t y = 0; y < kDigitSide; ++y) {
      for (std::int64_t x = 0; x < kDigitSide; ++x) {
        const float row = (static_cast<float>(y) - top) / height;
        const float column = (static_cast<float>(x) - left) / width + slant * (row - 3.5F);
        if (row < 0 || row >= 7 || column < 0 || column >= 5) continue;
        const std::size_t dot = static_cast<std::size_t>(row) * 5 + static_cast<std::size_t>(column);
        if (kFont[digit][dot] == '#') image[y * kDigitSide + x] = ink - Between(0, 0.2F);
      }
    }
  }

 private:
  SplitMix64 random_;
};

}  // namespace

Digits DrawDigits(std::uint64_t seed, std::int64_t n) {
  Digits out{Tensor(DType::kFloat, Shape({n, kDigitSide, kDigitSide, 1})), Tensor(DType::kInt32, Shape({n}))};
  float* image = out.images.mutable_flat<float>().data();
  Pen pen(seed);
  SplitMix64 which(seed + 1);
  for (std::int32_t& label : out.labels.mutable_flat<std::int32_t>()) {
    label = static_cast<std::int32_t>(which.Below(10));
    pen.Draw(static_cast<std::size_t>(label), image);
    image += kPixels;
  }
  return out;
}

Digits BatchOf(const Digits& digits, std::int64_t i, std::int64_t size) {
  Digits out{Tensor(DType::kFloat, Shape({size, kDigitSide, kDigitSide, 1})), Tensor(DType::kInt32, Shape({size}))};
  const std::int64_t all = digits.labels.num_elements();
  for (std::int64_t k = 0; k < size; ++k) {
    const std::int64_t from = (i * size + k) % all;
    std::copy_n(digits.images.flat<float>().data() + from * kPixels, kPixels,
                out.images.mutable_flat<float>().data() + k * kPixels);
    out.labels.mutable_flat<std::int32_t>()[static_cast<std::size_t>(k)] =
        digits.labels.flat<std::int32_t>()[static_cast<std::size_t>(from)];
  }
  return out;
}

}  // namespace vigil::examples

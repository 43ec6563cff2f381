// Changes an input so that it stays nearly good: fields of messages and words of text are left out, doubled, swapped,
// nested, or get values that nobody means; what guards them (lengths, checksums of records) is made anew.
// Deterministic: the same draws give the same input. Thread safety: a Dice is one task's.
#ifndef VIGIL_FUZZ_MUTATE_H_
#define VIGIL_FUZZ_MUTATE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "vigil/fuzz/targets.h"

namespace vigil::fuzz {

// As splitmix64.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  std::size_t Below(std::size_t n) { return static_cast<std::size_t>(Next() % n); }

 private:
  std::uint64_t state_;
};

std::string Mutate(Form form, std::string_view input, Dice& dice);

// Parts of Form::kParts.
void AppendPart(std::uint8_t kind, std::string_view body, std::string* out);
// Takes the first one; false at the end. A length that is too large means: all the rest.
bool TakePart(std::string_view* rest, std::uint8_t* kind, std::string_view* body);

}  // namespace vigil::fuzz

#endif  // VIGIL_FUZZ_MUTATE_H_

// Changes an input so that it stays nearly good: fields of messages and words of text are left out, doubled, swapped,
// nested, or get values that nobody means; what guards them (lengths, checksums of records) is made anew.
// Deterministic: the same draws give the same input. Thread safety: a Dice is one task's.
#ifndef VIGIL_FUZZ_MUTATE_H_
#define VIGIL_FUZZ_MUTATE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "vigil/core/base/splitmix64.h"
#include "vigil/fuzz/targets.h"

namespace vigil::fuzz {

using Dice = SplitMix64;

std::string Mutate(Form form, std::string_view input, Dice& dice);

// Parts of Form::kParts.
void AppendPart(std::uint8_t kind, std::string_view body, std::string* out);
// Takes the first one; false at the end. A length that is too large means: all the rest.
bool TakePart(std::string_view* rest, std::uint8_t* kind, std::string_view* body);

}  // namespace vigil::fuzz

#endif  // VIGIL_FUZZ_MUTATE_H_

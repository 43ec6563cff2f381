// Counts the allocations of a program: whoever links this library gets a global operator new that counts.
//
//   const std::uint64_t before = fakes::Allocations();
//   ...
//   EXPECT_EQ(fakes::Allocations(), before);
//
// Every form counts: of one object, of arrays, aligned, and those that do not throw. malloc() does not.
// Thread safety: safe from any thread.
#ifndef VIGIL_FAKES_ALLOCATIONS_ALLOCATIONS_H_
#define VIGIL_FAKES_ALLOCATIONS_ALLOCATIONS_H_

#include <cstdint>

namespace vigil::fakes {

std::uint64_t Allocations();  // since the start of the program, of all threads
// The bytes of the largest one since the last call of this function, of all threads.
std::uint64_t TakeLargestAllocation();

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_ALLOCATIONS_ALLOCATIONS_H_

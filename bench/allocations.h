// Counts the allocations of this program: operator new is replaced in allocations.cc.
#ifndef VIGIL_BENCH_ALLOCATIONS_H_
#define VIGIL_BENCH_ALLOCATIONS_H_

#include <cstdint>

namespace vigil::bench {

std::uint64_t Allocations();  // since the start of the program, of all threads

}  // namespace vigil::bench

#endif  // VIGIL_BENCH_ALLOCATIONS_H_

// Sees what a hook asks of the operating system past its Env: the clock, files, random numbers, sleep, threads,
// connections and programs.
//
// By interposition: this library has functions of its own by the names of the C library's, which pass every call on and
// note those that are made while somebody watches. Whoever links it gets them; nothing of vigil's own library does but
// what verifies hooks. In a program that is linked statically with the C library, and for calls that the compiler or
// the C library make without going through these names (rdtsc, inlined system calls, stat), it sees nothing.
// Thread safety: one watch at a time in a process; calls may be noted by any thread.
#ifndef VIGIL_PROPERTIES_VERIFY_OUTSIDE_OUTSIDE_H_
#define VIGIL_PROPERTIES_VERIFY_OUTSIDE_OUTSIDE_H_

#include <array>
#include <atomic>
#include <cstddef>

namespace vigil {

enum class OutsideKind { kClock, kFiles, kRandom, kSleep, kThread, kOthers };
inline constexpr std::size_t kOutsideKinds = 6;

// The first function of each kind that was called; null: none.
struct OutsideCalls {
  std::array<std::atomic<const char*>, kOutsideKinds> first = {};
};

// Calls go to `calls` from now on (null: to nobody). Returns where they went before.
OutsideCalls* WatchOutside(OutsideCalls* calls);

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_OUTSIDE_OUTSIDE_H_

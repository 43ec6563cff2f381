// While one lives, this thread's floating point arithmetic takes denormal numbers (float: below 1.18e-38) for zero and
// gives zero instead of them, as TensorFlow's does while it runs ops: a gradient that dies away costs no more than
// another one, on some processors a hundred times less. What moves or negates bits leaves them as they are.
// Where the processor cannot be told to (neither x86-64 nor aarch64), nothing happens.
// Source: TensorFlow's port::ScopedFlushDenormal, and what its ops were seen to give.
// Thread safety: of one thread (of one fiber, whose switch keeps the processor's mode), ends where it began.
#ifndef VIGIL_CORE_BASE_FLUSH_DENORMALS_H_
#define VIGIL_CORE_BASE_FLUSH_DENORMALS_H_

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace vigil {

class ScopedFlushDenormals {
 public:
  ScopedFlushDenormals() : before_(Mode()) { SetMode(before_ | kFlush); }
  ~ScopedFlushDenormals() { SetMode(before_); }
  ScopedFlushDenormals(const ScopedFlushDenormals&) = delete;
  ScopedFlushDenormals& operator=(const ScopedFlushDenormals&) = delete;

 private:
#if defined(__SSE2__)
  using Bits = std::uint32_t;
  static constexpr Bits kFlush = 0x8040;  // MXCSR: to zero what comes out, and what goes in
  static Bits Mode() { return _mm_getcsr(); }
  static void SetMode(Bits mode) { _mm_setcsr(mode); }
#elif defined(__aarch64__)
  using Bits = std::uint64_t;
  static constexpr Bits kFlush = std::uint64_t{1} << 24;  // FPCR.FZ: both
  static Bits Mode() {
    Bits mode;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void SetMode(Bits mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
#else
  using Bits = std::uint32_t;
  static constexpr Bits kFlush = 0;
  static Bits Mode() { return 0; }
  static void SetMode(Bits) {}
#endif

  const Bits before_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_FLUSH_DENORMALS_H_

// How much memory operator new gives in one piece: kMostBytesAtOnce (targets.h), or less for a while.
#ifndef VIGIL_FUZZ_BOUNDED_NEW_H_
#define VIGIL_FUZZ_BOUNDED_NEW_H_

#include <cstddef>

namespace vigil::fuzz {

// For kernels, which make large tensors of small ones as they are told to.
inline constexpr std::size_t kMostBytesOfAKernel = std::size_t{4} << 20;

class BoundedNew {
 public:
  explicit BoundedNew(std::size_t most);
  ~BoundedNew();
  BoundedNew(const BoundedNew&) = delete;
  BoundedNew& operator=(const BoundedNew&) = delete;

 private:
  const std::size_t before_;
};

}  // namespace vigil::fuzz

#endif  // VIGIL_FUZZ_BOUNDED_NEW_H_

// The value behind a VariableV2 node.
//
// A value is replaced as a whole; an update is computed outside the lock and thrown away and repeated when another one came
// first. So no update is lost, and nobody waits for arithmetic.
// Thread safety: safe from any task.
#ifndef VIGIL_CORE_OPS_VARIABLE_H_
#define VIGIL_CORE_OPS_VARIABLE_H_

#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/resource.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

class Variable : public Resource {
 public:
  static constexpr std::string_view kKind = "variable";
  static constexpr bool kPerSession = false;

  // An invalid tensor as long as nothing was assigned.
  Tensor Read() const {
    SpinGuard lock(lock_);
    return value_;
  }

  void Assign(Tensor value) {
    SpinGuard lock(lock_);
    std::swap(value_, value);  // the old value is destroyed after the lock was released
    ++version_;
  }

  // Replaces the value by what `compute(const Tensor& old, Tensor* replacement)` makes of it, unless that fails.
  template <typename Compute>
  absl::Status Update(Compute compute) {
    while (true) {
      Tensor old;
      std::uint64_t version = 0;
      {
        SpinGuard lock(lock_);
        old = value_;
        version = version_;
      }
      Tensor replacement;
      VIGIL_RETURN_IF_ERROR(compute(std::as_const(old), &replacement));
      SpinGuard lock(lock_);
      if (version_ != version) continue;
      std::swap(value_, replacement);
      ++version_;
      return absl::OkStatus();
    }
  }

 private:
  mutable SpinLock lock_;
  Tensor value_;               // guarded by lock_
  std::uint64_t version_ = 0;  // guarded by lock_; counts the assignments
};

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_VARIABLE_H_

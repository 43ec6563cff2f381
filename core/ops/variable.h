// The value behind a VariableV2 node.
//
// Changes come one after the other: each is computed once, on what the one before it has left. An update that finds the
// value with nobody else (the usual case) works in place; who wants to read meanwhile waits for it. Otherwise readers
// get the old value, and the update makes a new one. So nobody ever sees half of an update, and what was read stays as
// it was.
// Thread safety: safe from any task.
#ifndef VIGIL_CORE_OPS_VARIABLE_H_
#define VIGIL_CORE_OPS_VARIABLE_H_

#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/graph/resource.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

class Variable : public Resource {
 public:
  static constexpr std::string_view kKind = "variable";

  Variable(const Env& env, DType dtype);
  // The type that a node says its variable has.
  static DType TypeOf(const Node& holder);
  // The variable that the kernel's first reference refers to, of whichever kind, until the run ends. Errors:
  // KernelContext::resource's.
  static absl::StatusOr<Variable*> Of(KernelContext& c);

  // The one that input i refers to, of an op that takes several references.
  static absl::StatusOr<std::shared_ptr<Variable>> At(KernelContext& c, int i);

  absl::Status Fits(const Node& holder) const override;

  // An invalid tensor as long as nothing was assigned. Shares its elements with the variable: an update after this
  // makes new ones. Waits while one works in place.
  Tensor Read() const;
  // REQUIRES: a value of the variable's type.
  void Assign(Tensor value);

  // Changes the value by `compute(Tensor* value)`, which writes into *value or replaces it, and leaves it as it is if
  // it fails. It calls no seam (the others wait). An invalid tensor if nothing was assigned.
  template <typename Compute>
  absl::Status Update(Compute compute) {
    Turn turn(*this);
    absl::Status status = compute(&turn.value());
    if (status.ok()) turn.Keep();
    return status;
  }

 private:
  // Who changes the value. Gives it back when destroyed.
  class Turn {
   public:
    explicit Turn(Variable& variable);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Tensor& value() { return value_; }
    void Keep() { keep_ = true; }

   private:
    Variable& variable_;
    Tensor value_;
    bool keep_ = false;
  };

  // Waits until `*flag` (guarded by lock_) is false, then calls `then` under lock_.
  template <typename Then>
  void WhenFalse(const bool& flag, Then then) const;

  const DType dtype_;
  // For those who must wait, which is seldom: nobody locks the mutex otherwise.
  const std::unique_ptr<Mutex> mutex_;
  const std::unique_ptr<Condition> changed_;

  mutable SpinLock lock_;
  // Guarded by lock_.
  Tensor value_;           // invalid while it is lent
  bool changing_ = false;  // somebody has a turn
  bool lent_ = false;      // ... and the value itself, to change it in place
  mutable int waiting_ = 0;
};

// The one behind a VarHandleOp, which has its names for itself: a "v" of the one kind is not the "v" of the other.
class ResourceVariable : public vigil::Variable {
 public:
  static constexpr std::string_view kKind = "resource variable";
  using vigil::Variable::Variable;
};

// FAILED_PRECONDITION, or NOT_FOUND for an op that does more than to read a resource variable, as TensorFlow has it.
absl::Status UninitializedVariable(const KernelContext& c);

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_VARIABLE_H_

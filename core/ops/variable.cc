#include "vigil/core/ops/variable.h"

#include "vigil/core/ops/op_util.h"

namespace vigil {

Variable::Variable(const Env& env, DType dtype)
    : dtype_(dtype), mutex_(env.tasks->NewMutex("variable")), changed_(env.tasks->NewCondition("variable")) {}

DType Variable::TypeOf(const Node& holder) {
  if (holder.def->resource_kind != ResourceVariable::kKind) return holder.output_types[0];
  return std::get<DType>(holder.attrs.find("dtype")->second);
}

absl::StatusOr<Variable*> Variable::Of(KernelContext& c) {
  const DType type = TypeOf(c.holder());
  if (c.holder().def->resource_kind == ResourceVariable::kKind) {
    return c.resource<ResourceVariable>([&c, type] { return std::make_shared<ResourceVariable>(c.env(), type); });
  }
  return c.resource<Variable>([&c, type] { return std::make_shared<Variable>(c.env(), type); });
}

absl::Status UninitializedVariable(const KernelContext& c) {
  const std::string& name = c.holder().name;
  if (c.holder().def->resource_kind != ResourceVariable::kKind) {
    return MakeStatus(Code::kFailedPrecondition, fmt::format("Attempting to use uninitialized value {}", name));
  }
  if (c.node().op != "ReadVariableOp") {
    return MakeStatus(Code::kNotFound, fmt::format("Resource {} does not exist: '{}' needs a variable with a value.",
                                                   name, c.node().name));
  }
  const auto shared_name = c.holder_attr_or<std::string>("shared_name", "");
  return MakeStatus(
      Code::kFailedPrecondition,
      fmt::format("Could not find variable {}. This could mean that the variable has been deleted. In TF1, it can also "
                  "mean the variable is uninitialized.",
                  shared_name.empty() ? name : shared_name));
}

absl::StatusOr<std::shared_ptr<Variable>> Variable::At(KernelContext& c, int i) {
  const Node& holder = c.holder_at(i);
  if (holder.def->resource_kind == ResourceVariable::kKind) {
    VIGIL_ASSIGN_OR_RETURN(std::shared_ptr<Variable> found, c.resource_at<ResourceVariable>(i, [&c, &holder] {
      return std::make_shared<ResourceVariable>(c.env(), TypeOf(holder));
    }));
    return found;
  }
  return c.resource_at<Variable>(i, [&c, &holder] { return std::make_shared<Variable>(c.env(), TypeOf(holder)); });
}

absl::Status Variable::Fits(const Node& holder) const {
  const DType wanted = TypeOf(holder);
  if (wanted == dtype_) return absl::OkStatus();
  return InvalidArgument("'{}' is a variable of type {}, but the variable of that name has type {}.", holder.name,
                         DTypeName(wanted), DTypeName(dtype_));
}

template <typename Then>
void Variable::WhenFalse(const bool& flag, Then then) const {
  {
    const SpinGuard lock(lock_);
    if (!flag) return then();
  }
  // Under the mutex from the look to the waiting, so that whoever gives the value back cannot be missed.
  const MutexLock waiting(*mutex_);
  while (true) {
    {
      const SpinGuard lock(lock_);
      if (!flag) return then();
      ++waiting_;
    }
    changed_->Wait(*mutex_, kNever);
    const SpinGuard lock(lock_);
    --waiting_;
  }
}

Variable::Turn::Turn(Variable& variable) : variable_(variable) {
  variable.WhenFalse(variable.changing_, [this] {
    variable_.changing_ = true;
    variable_.lent_ = variable_.value_.has_buffer() && variable_.value_.unique();
    value_ = variable_.lent_ ? std::exchange(variable_.value_, Tensor()) : variable_.value_;
  });
}

Variable::Turn::~Turn() {
  bool others_wait = false;
  {
    const SpinGuard lock(variable_.lock_);
    // The old value is destroyed with the turn, after the lock was released.
    if (keep_ || variable_.lent_) std::swap(variable_.value_, value_);
    variable_.changing_ = false;
    variable_.lent_ = false;
    others_wait = variable_.waiting_ > 0;
  }
  if (!others_wait) return;
  const MutexLock lock(*variable_.mutex_);
  variable_.changed_->NotifyAll();
}

Tensor Variable::Read() const {
  Tensor value;
  WhenFalse(lent_, [&] { value = value_; });
  return value;
}

void Variable::Assign(Tensor value) {
  Update([&value](Tensor* held) {
    *held = std::move(value);
    return absl::OkStatus();
  }).IgnoreError();
}

}  // namespace vigil

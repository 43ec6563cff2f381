// The updates of optimizers: a variable and its slots, changed together by a gradient, dense or of some rows.
#include <algorithm>
#include <memory>
#include <numeric>

#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"
#include "vigil/core/ops/nn/update_rules.h"
#include "vigil/core/ops/variable.h"

namespace vigil {
namespace {

// What a number must be.
struct Limit {
  enum class Kind : std::uint8_t { kPositiveUnlessFlag, kNotNegative, kNotPositive };
  int input;
  Kind kind;
  const char* text;  // of the error

  // `flag`: the op's (ApplyLayout), with which 0 is no less than positive.
  template <typename T>
  bool Allows(T number, bool flag) const {
    if (kind == Kind::kPositiveUnlessFlag) return number > T(0) || (flag && number == T(0));
    return kind == Kind::kNotNegative ? number >= T(0) : number <= T(0);
  }
};

// Where the inputs of an op are: first the variable and its slots, then numbers and the gradient, in the op's order.
struct ApplyLayout {
  const char* name;
  std::vector<int> numbers;
  int grad;
  int indices = -1;  // of the rows; -1: the gradient is dense
  const char* flag = "";
  bool flag_default = false;
  std::vector<const char*> slot_names = {};
  std::vector<Limit> limits = {};  // checked in this order
};

// The variables that inputs 0 to n-1 refer to, each held while `body` changes all of them.
class HeldVariables {
 public:
  static absl::StatusOr<HeldVariables> Of(KernelContext& c, std::size_t n) {
    HeldVariables held;
    for (std::size_t i = 0; i < n; ++i) {
      VIGIL_ASSIGN_OR_RETURN(held.all_.emplace_back(), vigil::Variable::At(c, static_cast<int>(i)));
      held.names_.push_back(c.holder_at(static_cast<int>(i)).name);
      held.keys_.push_back(KeyOf(c.holder_at(static_cast<int>(i))));
      for (std::size_t k = 0; k < i; ++k) {
        if (held.all_[k] != held.all_[i]) continue;
        return InvalidArgument("'{}': inputs {} and {} are one variable, '{}'", c.node().name, k, i, held.names_[i]);
      }
    }
    return held;
  }

  const std::string& name(std::size_t i) const { return names_[i]; }
  // Those that the inputs refer to by handles have the type of the gradient.
  absl::Status CheckTypes(const KernelContext& c, DType type) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const DType held = vigil::Variable::TypeOf(c.holder_at(static_cast<int>(i)));
      if (held == type) continue;
      return InvalidArgument("Trying to use variable '{}' with wrong dtype. Expected {} got {}", names_[i],
                             DTypeName(held), DTypeName(type));
    }
    return absl::OkStatus();
  }

  // In an order of the variables, whatever the nodes are called, so that two updates of the same ones never wait for
  // each other.
  template <typename Body>
  absl::Status Update(Body body) {
    std::vector<std::size_t> order(all_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [this](std::size_t i) -> const Key& { return keys_[i]; });
    std::vector<Tensor*> values(all_.size());
    return Hold(order, 0, values, body);
  }

 private:
  using Key = std::pair<std::string_view, std::string_view>;  // container and name, as the nodes of the graph have them

  static Key KeyOf(const Node& holder) {
    static const std::string kNone;
    const std::string& shared_name = KernelContext::AttrOr(holder, "shared_name", kNone);
    return {KernelContext::AttrOr(holder, "container", kNone), shared_name.empty() ? holder.name : shared_name};
  }

  template <typename Body>
  absl::Status Hold(const std::vector<std::size_t>& order, std::size_t depth, std::vector<Tensor*>& values,
                    Body& body) {
    if (depth == order.size()) return body(values);
    return all_[order[depth]]->Update([&](Tensor* value) {
      values[order[depth]] = value;
      return Hold(order, depth + 1, values, body);
    });
  }

  std::vector<std::shared_ptr<vigil::Variable>> all_;
  std::vector<std::string> names_;
  std::vector<Key> keys_;
};

absl::Status CheckValues(const KernelContext& c, const ApplyLayout& layout, const HeldVariables& held,
                         const std::vector<Tensor*>& values, const std::vector<std::int64_t>& rows) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]->valid()) continue;
    if (!c.node().output_types.empty()) {
      return MakeStatus(Code::kFailedPrecondition,
                        fmt::format("Attempting to use uninitialized value {}", held.name(i)));
    }
    return MakeStatus(Code::kNotFound, fmt::format("Resource {} does not exist: '{}' needs a variable with a value.",
                                                   held.name(i), c.node().name));
  }
  const Shape& shape = values[0]->shape();
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i]->shape() == shape) continue;
    return InvalidArgument("var and {} do not have the same shape{} {}", layout.slot_names[i - 1], shape.ToString(),
                           values[i]->shape().ToString());
  }
  const bool flag = !layout.limits.empty() && c.attr_or<bool>(layout.flag, layout.flag_default);
  for (const Limit& limit : layout.limits) {
    const Tensor& given = c.input(limit.input);
    const bool allowed =
        given.shape().rank() == 0 && (given.dtype() == DType::kFloat ? limit.Allows(given.scalar<float>(), flag)
                                                                     : limit.Allows(given.scalar<double>(), flag));
    if (!allowed) return InvalidArgument("{}: {}", limit.text, given.shape().ToString());
  }
  for (const int number : layout.numbers) {
    const Shape& given = c.input(number).shape();
    if (given.rank() != 0) return InvalidArgument("input {} is not a scalar: {}", number, given.ToString());
  }
  const Shape& grad = c.input(layout.grad).shape();
  if (layout.indices < 0) {
    if (grad == shape) return absl::OkStatus();
    return InvalidArgument("var and grad do not have the same shape{} {}", shape.ToString(), grad.ToString());
  }
  if (shape.rank() < 1) return InvalidArgument("var must be at least 1 dimensional");
  if (c.input(layout.indices).shape().rank() != 1) return InvalidArgument("indices must be one-dimensional");
  std::vector<std::int64_t> wanted = shape.dims();
  wanted[0] = static_cast<std::int64_t>(rows.size());
  if (grad.dims() != wanted) {
    return InvalidArgument("grad must have the shape of the rows of var: {}, var {}, indices {}", grad.ToString(),
                           shape.ToString(), c.input(layout.indices).shape().ToString());
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] >= 0 && rows[i] < shape.dim(0)) continue;
    return InvalidArgument("Index {} at offset {} in indices is out of range", rows[i], i);
  }
  return absl::OkStatus();
}

template <typename Rule, typename T>
void ApplyTo(const KernelContext& c, const ApplyLayout& layout, const std::vector<Tensor*>& values,
             const std::vector<std::int64_t>& rows) {
  std::array<T, Rule::kNumbers> numbers{};
  for (std::size_t i = 0; i < Rule::kNumbers; ++i) numbers[i] = c.input(layout.numbers[i]).template scalar<T>();
  if constexpr (requires { Rule::Prepare(numbers); }) Rule::Prepare(numbers);
  const bool flag = c.attr_or<bool>(layout.flag, layout.flag_default);
  T* const var = values[0]->mutable_flat<T>().data();
  std::array<T*, Rule::kSlots> slots{};
  for (std::size_t i = 0; i < Rule::kSlots; ++i) slots[i] = values[i + 1]->mutable_flat<T>().data();
  const T* const grad = c.input(layout.grad).template flat<T>().data();
  // Of a row that is listed the gradient lies elsewhere than the row.
  const auto apply = [&](std::int64_t begin, std::int64_t end, std::int64_t gradient) {
    for (std::int64_t at = begin; at < end; ++at) {
      std::array<T*, Rule::kSlots> here{};
      for (std::size_t i = 0; i < Rule::kSlots; ++i) here[i] = slots[i] + at;
      Rule::template Apply<T>(var[at], here, numbers, flag, grad[gradient++]);
    }
  };
  const std::int64_t n = values[0]->num_elements();
  if (layout.indices < 0) {
    ParallelForElements(c, n, kCostOfFunction,
                        [&apply](std::int64_t begin, std::int64_t end) { apply(begin, end, begin); });
    return;
  }
  if (n == 0) return;
  const std::int64_t size = n / values[0]->shape().dim(0);
  std::int64_t at = 0;
  for (const std::int64_t row : rows) apply(row * size, (row + 1) * size, size * at++);
}

template <typename Rule>
absl::Status ApplyRule(KernelContext& c, const ApplyLayout& layout) {
  std::vector<std::int64_t> rows;
  if (layout.indices >= 0) {
    VIGIL_ASSIGN_OR_RETURN(rows, Integers(c.input(layout.indices)));
  }
  VIGIL_ASSIGN_OR_RETURN(HeldVariables held, HeldVariables::Of(c, Rule::kSlots + 1));
  VIGIL_RETURN_IF_ERROR(held.CheckTypes(c, c.input(layout.grad).dtype()));
  return held.Update([&](const std::vector<Tensor*>& values) {
    VIGIL_RETURN_IF_ERROR(CheckValues(c, layout, held, values, rows));
    if (values[0]->dtype() == DType::kFloat) {
      ApplyTo<Rule, float>(c, layout, values, rows);
    } else {
      ApplyTo<Rule, double>(c, layout, values, rows);
    }
    if (!c.node().output_types.empty()) c.set_output(0, *values[0]);
    return absl::OkStatus();
  });
}

// Of an op whose inputs before `slots` are variables, all references or all handles.
absl::Status CheckApplyTypes(const Node& node, const std::vector<DType>& given, const ApplyLayout& layout,
                             int variables, bool handles) {
  const int first = handles ? layout.grad : 0;
  VIGIL_RETURN_IF_ERROR(RequireType(node, given, first, {DType::kFloat, DType::kDouble}));
  for (int i = 0; i < static_cast<int>(given.size()); ++i) {
    if (i == layout.indices) {
      VIGIL_RETURN_IF_ERROR(RequireType(node, given, i, {DType::kInt32, DType::kInt64}));
    } else if (handles && i < variables) {
      VIGIL_RETURN_IF_ERROR(RequireType(node, given, i, {DType::kResource}));
    } else {
      VIGIL_RETURN_IF_ERROR(
          RequireSameTypes(node, given, static_cast<std::size_t>(first), static_cast<std::size_t>(i)));
    }
  }
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "use_locking"));
  return *layout.flag == '\0' ? absl::OkStatus() : AllowAttr<bool>(node, layout.flag);
}

// The op for references, and the one for handles ("ResourceApply...", without an output).
template <typename Rule>
void RegisterApply(OpRegistry& registry, ApplyLayout layout) {
  constexpr int kRefs = static_cast<int>(Rule::kSlots) + 1;
  for (const bool handles : {false, true}) {
    const auto types = [layout, handles](const Node& node,
                                         const std::vector<DType>& given) -> absl::StatusOr<std::vector<DType>> {
      VIGIL_RETURN_IF_ERROR(CheckApplyTypes(node, given, layout, kRefs, handles));
      return handles ? std::vector<DType>{} : std::vector<DType>{given[0]};
    };
    registry.Register({.name = handles ? fmt::format("Resource{}", layout.name) : layout.name,
                       .inputs = kRefs + static_cast<int>(Rule::kNumbers) + (layout.indices < 0 ? 1 : 2),
                       .output_types = types,
                       .compute = [layout](KernelContext& c) { return ApplyRule<Rule>(c, layout); },
                       .ref_inputs = (1U << kRefs) - 1,
                       .forwards_ref = !handles});
  }
}

std::vector<Limit> LimitsOfFtrl(int lr_power) {
  using Kind = Limit::Kind;
  return {{5, Kind::kPositiveUnlessFlag, "lr is not a positive scalar (or zero if multiply_linear_by_lr is set)"},
          {6, Kind::kNotNegative, "l1 regularization strength is not a non-negative scalar"},
          {7, Kind::kNotNegative, "l2 regularization strength is not a non-negative scalar"},
          {lr_power, Kind::kNotPositive, "lr_power is not a non-positive scalar"}};
}

}  // namespace

void RegisterApplyOps(OpRegistry& registry) {
  const std::vector<const char*> rms{"ms", "mom"}, centered{"mg", "ms", "mom"}, ftrl{"accum", "linear"};
  static constexpr const char* kTimesLr = "multiply_linear_by_lr";
  RegisterApply<MomentumRule>(
      registry,
      {.name = "ApplyMomentum", .numbers = {2, 4}, .grad = 3, .flag = "use_nesterov", .slot_names = {"accum"}});
  RegisterApply<MomentumRule>(registry, {.name = "SparseApplyMomentum",
                                         .numbers = {2, 5},
                                         .grad = 3,
                                         .indices = 4,
                                         .flag = "use_nesterov",
                                         .slot_names = {"accum"}});
  RegisterApply<AdagradRule>(registry, {.name = "ApplyAdagrad",
                                        .numbers = {2},
                                        .grad = 3,
                                        .flag = "update_slots",
                                        .flag_default = true,
                                        .slot_names = {"accum"}});
  RegisterApply<AdagradRule>(registry, {.name = "SparseApplyAdagrad",
                                        .numbers = {2},
                                        .grad = 3,
                                        .indices = 4,
                                        .flag = "update_slots",
                                        .flag_default = true,
                                        .slot_names = {"accum"}});
  RegisterApply<RmsPropRule<false>>(registry,
                                    {.name = "ApplyRMSProp", .numbers = {3, 4, 5, 6}, .grad = 7, .slot_names = rms});
  RegisterApply<RmsPropRule<true>>(
      registry, {.name = "SparseApplyRMSProp", .numbers = {3, 4, 5, 6}, .grad = 7, .indices = 8, .slot_names = rms});
  RegisterApply<CenteredRmsPropRule<false>>(
      registry, {.name = "ApplyCenteredRMSProp", .numbers = {4, 5, 6, 7}, .grad = 8, .slot_names = centered});
  RegisterApply<CenteredRmsPropRule<true>>(
      registry,
      {.name = "SparseApplyCenteredRMSProp", .numbers = {4, 5, 6, 7}, .grad = 8, .indices = 9, .slot_names = centered});
  RegisterApply<AdamRule>(registry, {.name = "ApplyAdam",
                                     .numbers = {3, 4, 5, 6, 7, 8},
                                     .grad = 9,
                                     .flag = "use_nesterov",
                                     .slot_names = {"m", "v"}});
  RegisterApply<FtrlRule<false>>(
      registry, {.name = "ApplyFtrl", .numbers = {4, 5, 6, 7}, .grad = 3, .flag = kTimesLr, .slot_names = ftrl});
  RegisterApply<FtrlRule<true>>(registry, {.name = "SparseApplyFtrl",
                                           .numbers = {5, 6, 7, 8},
                                           .grad = 3,
                                           .indices = 4,
                                           .flag = kTimesLr,
                                           .slot_names = ftrl,
                                           .limits = LimitsOfFtrl(8)});
  RegisterApply<FtrlV2Rule<false>>(
      registry, {.name = "ApplyFtrlV2", .numbers = {4, 5, 6, 7, 8}, .grad = 3, .flag = kTimesLr, .slot_names = ftrl});
  std::vector<Limit> limits = LimitsOfFtrl(9);
  limits.push_back({8, Limit::Kind::kNotNegative, "l2 shrinkage regularization strength is not a non-negative scalar"});
  RegisterApply<FtrlV2Rule<true>>(registry, {.name = "SparseApplyFtrlV2",
                                             .numbers = {5, 6, 7, 8, 9},
                                             .grad = 3,
                                             .indices = 4,
                                             .flag = kTimesLr,
                                             .slot_names = ftrl,
                                             .limits = std::move(limits)});
}

}  // namespace vigil

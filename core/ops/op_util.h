// What the kernels of this folder have in common: error statuses, attribute checks, dispatch over element types.
#ifndef VIGIL_CORE_OPS_OP_UTIL_H_
#define VIGIL_CORE_OPS_OP_UTIL_H_

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

template <typename... Args>
absl::Status InvalidArgument(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(Code::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

// USAGE unless the node has an attribute of that name and type.
template <typename T>
absl::Status RequireAttr(const Node& node, std::string_view name) {
  const auto it = node.attrs.find(name);
  if (it != node.attrs.end() && std::get_if<T>(&it->second) != nullptr) return absl::OkStatus();
  return UsageError(fmt::format("'{}' Op needs an attribute '{}' of another type, or has none.", node.op, name));
}
// As RequireAttr, but the attribute may be missing.
template <typename T>
absl::Status AllowAttr(const Node& node, std::string_view name) {
  return node.attrs.contains(name) ? RequireAttr<T>(node, name) : absl::OkStatus();
}

// USAGE unless input i has one of the types.
absl::Status RequireType(const Node& node, const std::vector<DType>& inputs, int i, std::initializer_list<DType> types);

// USAGE unless two inputs have the same type.
absl::Status RequireSameTypes(const Node& node, const std::vector<DType>& inputs, std::size_t a, std::size_t b);

// UNIMPLEMENTED: the op does not know the type of its first value.
absl::Status NoKernel(const KernelContext& c);

// Calls body.template operator()<T>() for the element type; false if the type is not among the numeric ones.
template <typename Body>
bool ForNumeric(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::kFloat:
      body.template operator()<float>();
      return true;
    case DType::kDouble:
      body.template operator()<double>();
      return true;
    case DType::kInt32:
      body.template operator()<std::int32_t>();
      return true;
    case DType::kInt64:
      body.template operator()<std::int64_t>();
      return true;
    default:
      return false;
  }
}

// The elements of an int32 or int64 tensor, in row-major order. INVALID_ARGUMENT for another type.
absl::StatusOr<std::vector<std::int64_t>> Integers(const Tensor& tensor);

// Nanoseconds that an element takes, about: to be read and written, or to have a function like exp computed of it.
inline constexpr double kCostOfElement = 0.5;
inline constexpr double kCostOfFunction = 3;

// As KernelContext::ParallelFor, but [0, n) is cut at multiples of `together` only; `cost` is that of so many.
template <typename Work>
void ParallelForStretches(const KernelContext& c, std::int64_t n, std::int64_t together, std::int64_t cost,
                          const Work& work) {
  c.ParallelFor((n + together - 1) / together, cost, [n, together, &work](std::int64_t begin, std::int64_t end) {
    work(begin * together, std::min(n, end * together));
  });
}
// For elements of a tensor. They are cut where whole vectors of them end: what takes several at once (Eigen) computes
// the same to the bit. `cost`: nanoseconds that an element takes, about.
template <typename Work>
void ParallelForElements(const KernelContext& c, std::int64_t n, double cost, const Work& work) {
  constexpr std::int64_t kTogether = 64;
  ParallelForStretches(c, n, kTogether, static_cast<std::int64_t>(cost * kTogether), work);
}

// How many elements the dimensions from .. to - 1 make. REQUIRES: a tensor has them.
std::int64_t ElementsOf(const std::vector<std::int64_t>& dims, std::size_t from, std::size_t to);

// "indices[0,2]"; "indices" of a scalar. REQUIRES: there is such an element.
std::string ElementName(std::string_view name, const Shape& shape, std::size_t i);

// Copies `count` elements. REQUIRES: same type, both ranges exist.
void CopyElements(const Tensor& from, std::int64_t from_offset, Tensor& to, std::int64_t to_offset, std::int64_t count);

// Replaces `value` by what write(const Tensor& old, Tensor& out) makes of it, element by element: in place (old and out
// are one) if nobody shares the elements, else in new ones.
template <typename Write>
absl::Status Rewrite(Tensor& value, Write write) {
  if (value.unique()) {
    write(std::as_const(value), value);
    return absl::OkStatus();
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(value.dtype(), value.shape().dims()));
  write(std::as_const(value), out);
  value = std::move(out);
  return absl::OkStatus();
}

// to += by or to -= by, as Rewrite(). REQUIRES: same numeric type, same shape.
absl::Status AddInto(Tensor& to, const Tensor& by);
absl::Status SubtractFrom(Tensor& to, const Tensor& by);

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_OP_UTIL_H_

#include "vigil/core/ops/op_util.h"

#include <algorithm>
#include <cstring>

namespace vigil {

absl::Status RequireType(const Node& node, const std::vector<DType>& inputs, int i,
                         std::initializer_list<DType> types) {
  const DType given = inputs[static_cast<std::size_t>(i)];
  if (std::ranges::find(types, given) != types.end()) return absl::OkStatus();
  std::vector<std::string_view> names;
  for (const DType type : types) names.push_back(DTypeName(type));
  return UsageError(
      fmt::format("Input {} of '{}' Op has type {}, not {}.", i, node.op, DTypeName(given), fmt::join(names, " or ")));
}

absl::Status RequireSameTypes(const Node& node, const std::vector<DType>& inputs, std::size_t a, std::size_t b) {
  if (inputs[a] == inputs[b]) return absl::OkStatus();
  return UsageError(fmt::format("Input {} of '{}' Op has type {} that does not match type {} of input {}.", b, node.op,
                                DTypeName(inputs[b]), DTypeName(inputs[a]), a));
}

absl::Status NoKernel(const KernelContext& c) {
  return MakeStatus(Code::kUnimplemented,
                    fmt::format("'{}' Op has no kernel for {}", c.node().op, DTypeName(c.input(0).dtype())));
}

absl::StatusOr<std::vector<std::int64_t>> Integers(const Tensor& tensor) {
  std::vector<std::int64_t> out;
  if (tensor.dtype() == DType::kInt32) {
    for (const std::int32_t value : tensor.flat<std::int32_t>()) out.push_back(value);
  } else if (tensor.dtype() == DType::kInt64) {
    for (const std::int64_t value : tensor.flat<std::int64_t>()) out.push_back(value);
  } else {
    return InvalidArgument("Expected int32 or int64, got {}", DTypeName(tensor.dtype()));
  }
  return out;
}

std::int64_t ElementsOf(const std::vector<std::int64_t>& dims, std::size_t from, std::size_t to) {
  std::int64_t n = 1;
  for (std::size_t i = from; i < to; ++i) n *= dims[i];
  return n;
}

std::string ElementName(std::string_view name, const Shape& shape, std::size_t i) {
  if (shape.rank() == 0) return std::string(name);
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()));
  auto rest = static_cast<std::int64_t>(i);
  for (int d = shape.rank() - 1; d >= 0; --d) {
    index[static_cast<std::size_t>(d)] = rest % shape.dim(d);
    rest /= shape.dim(d);
  }
  return fmt::format("{}[{}]", name, fmt::join(index, ","));
}

void CopyElements(const Tensor& from, std::int64_t from_offset, Tensor& to, std::int64_t to_offset,
                  std::int64_t count) {
  if (count == 0) return;
  if (from.dtype() == DType::kString) {
    const std::string* const source = from.flat<std::string>().data() + from_offset;
    std::copy(source, source + count, to.mutable_flat<std::string>().data() + to_offset);
    return;
  }
  const auto size = static_cast<std::int64_t>(DTypeSize(from.dtype()));
  std::memcpy(to.mutable_bytes().data() + to_offset * size, from.bytes().data() + from_offset * size,
              static_cast<std::size_t>(count * size));
}

}  // namespace vigil

#include "vigil/core/tensor/shape.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"

namespace vigil {

absl::StatusOr<Shape> Shape::Make(std::vector<std::int64_t> dims) {
  if (dims.size() > std::size_t{kMostDims}) {
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("Too many dimensions: {}, but at most {}", dims.size(), kMostDims));
  }
  Shape shape(std::move(dims));
  std::int64_t counted = 1;
  for (const std::int64_t dim : shape.dims_) {
    if (dim < 0) {
      return MakeStatus(Code::kInvalidArgument,
                        fmt::format("Dimension {} of the shape {} must be >= 0.", dim, shape.ToString()));
    }
    const std::optional<std::int64_t> product = CheckedProduct(counted, dim == 0 ? 1 : dim);
    if (!product.has_value()) {
      return MakeStatus(Code::kInvalidArgument,
                        fmt::format("The shape {} has too many elements to count.", shape.ToString()));
    }
    counted = *product;
  }
  return shape;
}

std::string Shape::ToString() const { return fmt::format("[{}]", fmt::join(dims_, ",")); }

}  // namespace vigil

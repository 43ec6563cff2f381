#include "vigil/core/tensor/partial_shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace vigil {

bool PartialShape::is_fully_known() const {
  return has_rank_ && std::ranges::all_of(dims_, [](std::int64_t dim) { return dim >= 0; });
}

std::optional<Shape> PartialShape::ToShape() const {
  if (!is_fully_known()) return std::nullopt;
  absl::StatusOr<Shape> shape = Shape::Make(dims_);
  return shape.ok() ? std::optional(*std::move(shape)) : std::nullopt;
}

bool PartialShape::IsCompatibleWith(const Shape& shape) const {
  if (!has_rank_) return true;
  return std::ranges::equal(dims_, shape.dims(),
                            [](std::int64_t known, std::int64_t dim) { return known == kUnknownDim || known == dim; });
}

std::optional<std::int64_t> PartialShape::num_elements() const {
  if (!is_fully_known()) return std::nullopt;
  std::optional<std::int64_t> n = 1;
  for (std::size_t i = 0; i < dims_.size() && n.has_value(); ++i) n = CheckedProduct(*n, dims_[i]);
  return n;
}

std::string PartialShape::ToString() const {
  if (!has_rank_) return "?";
  std::string text = "[";
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    if (i > 0) text += ',';
    text += dims_[i] < 0 ? "?" : fmt::format("{}", dims_[i]);
  }
  return text + "]";
}

}  // namespace vigil

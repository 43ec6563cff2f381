// What is known of a tensor's shape before anything runs: nothing, its rank, some or all of its dimensions.
//
// A value type. A shape of which only the rank is unknown is not the same as a scalar, which has no dimension.
#ifndef VIGIL_CORE_TENSOR_PARTIAL_SHAPE_H_
#define VIGIL_CORE_TENSOR_PARTIAL_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/tensor/shape.h"

namespace vigil {

class PartialShape {
 public:
  static constexpr std::int64_t kUnknownDim = -1;

  PartialShape() = default;  // nothing is known
  // Of that rank; kUnknownDim where a dimension is not known.
  PartialShape(std::initializer_list<std::int64_t> dims) : dims_(dims), has_rank_(true) {}
  explicit PartialShape(std::vector<std::int64_t> dims) : dims_(std::move(dims)), has_rank_(true) {}
  explicit PartialShape(const Shape& shape) : dims_(shape.dims()), has_rank_(true) {}
  static PartialShape Scalar() { return PartialShape(std::vector<std::int64_t>()); }
  static PartialShape OfRank(std::int64_t rank) {
    return PartialShape(std::vector<std::int64_t>(static_cast<std::size_t>(rank), kUnknownDim));
  }

  bool has_rank() const { return has_rank_; }
  // REQUIRES of those three: has_rank(); of dim: -rank() <= i < rank(), a negative one counts from the end.
  int rank() const { return static_cast<int>(dims_.size()); }
  std::int64_t dim(int i) const { return dims_[static_cast<std::size_t>(i < 0 ? i + rank() : i)]; }
  void set_dim(int i, std::int64_t dim) { dims_[static_cast<std::size_t>(i < 0 ? i + rank() : i)] = dim; }
  const std::vector<std::int64_t>& dims() const { return dims_; }  // empty without a rank

  bool is_fully_known() const;
  // nullopt: not fully known, or no shape of a tensor (Shape::Make).
  std::optional<Shape> ToShape() const;
  // Whether a tensor of that shape may be meant: nothing that is known speaks against it.
  bool IsCompatibleWith(const Shape& shape) const;
  // How many elements; nullopt: not known, or more than an int64 holds.
  std::optional<std::int64_t> num_elements() const;
  std::string ToString() const;  // TensorFlow's: "?", "[2,?]"
  friend bool operator==(const PartialShape&, const PartialShape&) = default;

 private:
  std::vector<std::int64_t> dims_;
  bool has_rank_ = false;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TENSOR_PARTIAL_SHAPE_H_

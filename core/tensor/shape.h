// The shape of a tensor: its dimensions, outermost first. A scalar has none. A value type; a scalar's shape allocates nothing.
#ifndef VIGIL_CORE_TENSOR_SHAPE_H_
#define VIGIL_CORE_TENSOR_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace vigil {

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}

  int rank() const { return static_cast<int>(dims_.size()); }
  std::int64_t dim(int i) const { return dims_[static_cast<std::size_t>(i)]; }
  const std::vector<std::int64_t>& dims() const { return dims_; }
  std::int64_t num_elements() const {
    std::int64_t n = 1;
    for (const std::int64_t d : dims_) n *= d;
    return n;
  }
  std::string ToString() const;  // "[2,3]"
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<std::int64_t> dims_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TENSOR_SHAPE_H_

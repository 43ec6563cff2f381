// The product of two matrices by all threads that the process has for one op; the same to the bit as by one of them.
//
// The longer side of the result is cut into stretches, each of which is a product of its own (matrix_product.h).
// Thread safety: a pure function.
#ifndef VIGIL_CORE_OPS_MATH_PARALLEL_PRODUCT_H_
#define VIGIL_CORE_OPS_MATH_PARALLEL_PRODUCT_H_

#include <algorithm>
#include <cstdint>

#include "vigil/core/ops/math/matrix_product.h"
#include "vigil/core/ops/op_util.h"

namespace vigil {

// About how many nanoseconds so many products, each added to a sum, take.
inline std::int64_t CostOfProducts(std::int64_t n) { return std::max<std::int64_t>(1, n / 10); }

// Where a product may be cut: whole tiles, whatever registers there are (tile.h).
inline constexpr std::int64_t kRowsTogether = 12;
inline constexpr std::int64_t kColumnsTogether = 32;

// As Multiply(size, left, right, out, out_step).
template <typename T>
void Multiply(const KernelContext& c, const ProductSize& size, const MatrixOperand<T>& left,
              const MatrixOperand<T>& right, T* out, std::int64_t out_step) {
  const bool by_rows = size.rows >= size.columns;
  const std::int64_t side = by_rows ? size.rows : size.columns;
  const std::int64_t together = by_rows ? kRowsTogether : kColumnsTogether;
  const std::int64_t cost = CostOfProducts(together * size.depth * (by_rows ? size.columns : size.rows));
  ParallelForStretches(c, side, together, cost, [&](std::int64_t first, std::int64_t end) {
    ProductSize part = size;
    (by_rows ? part.rows : part.columns) = end - first;
    if (by_rows) {
      Multiply(part, left.FromRow(first), right, out + first * out_step, out_step);
    } else {
      Multiply(part, left, right.FromColumn(first), out + first, out_step);
    }
  });
}

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_MATH_PARALLEL_PRODUCT_H_

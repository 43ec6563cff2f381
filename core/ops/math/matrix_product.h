// The product of two matrices, as MatMul and the convolutions need it.
//
// Every element of the result is a sum in one order, that of the columns of the left matrix; each product and each sum
// is rounded by itself. Stretches of the depth (kProductStretch) are added up for themselves, and their sums to the
// result: a long sum of small numbers would lose most of each. So the result is the same to the bit whichever registers
// the machine has, whichever compiler was used and however the work is cut up; the widest registers that the processor
// has are used (AVX2 on x86-64).
// The operands may have any layout, also one that is only listed: a convolution reads the windows of an image where
// they lie.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_OPS_MATH_MATRIX_PRODUCT_H_
#define VIGIL_CORE_OPS_MATH_MATRIX_PRODUCT_H_

#include <cstdint>

namespace vigil {

// Where row i (or column i) begins: at[i] if they are listed, else step * i. In elements.
struct MatrixAxis {
  std::int64_t step = 0;
  const std::int64_t* at = nullptr;

  std::int64_t operator[](std::int64_t i) const { return at == nullptr ? step * i : at[i]; }
  // Without the first ones, where those that are not listed begin at [first].
  MatrixAxis From(std::int64_t first) const { return at == nullptr ? *this : MatrixAxis{.at = at + first}; }
};

// Element (i, k) is data[rows[i] + columns[k]]. Borrows.
template <typename T>
struct MatrixOperand {
  const T* data = nullptr;
  MatrixAxis rows;
  MatrixAxis columns;

  // The same without its first rows or columns.
  MatrixOperand FromRow(std::int64_t first) const {
    return {data + (rows.at == nullptr ? rows[first] : 0), rows.From(first), columns};
  }
  MatrixOperand FromColumn(std::int64_t first) const {
    return {data + (columns.at == nullptr ? columns[first] : 0), rows, columns.From(first)};
  }
};

// Of a row-major matrix that has `columns` columns; or what its transpose is.
template <typename T>
MatrixOperand<T> RowMajor(const T* data, std::int64_t columns, bool transposed = false) {
  if (transposed) return {data, {.step = 1}, {.step = columns}};
  return {data, {.step = columns}, {.step = 1}};
}

// So many products are added up before their sum is added to the result.
template <typename T>
inline constexpr std::int64_t kProductStretch = 1024 / sizeof(T);

// From wide to narrow.
enum class Registers : std::uint8_t {
  kWidest,  // that the processor has
  // For tests, the result is the same:
  kOf32Bytes,  // where the processor has them
  kPortable,   // of 16 bytes
};

struct ProductSize {
  std::int64_t rows = 0;     // of the left matrix and of the result
  std::int64_t columns = 0;  // of the right one and of the result
  std::int64_t depth = 0;    // columns of the left one, rows of the right one
};

// out = left * right, or out += left * right (`add`). Row i of the result begins at out[i * out_step], its elements lie
// side by side. REQUIRES: float or double; the result does not overlap the operands.
template <typename T>
void Multiply(const ProductSize& size, const MatrixOperand<T>& left, const MatrixOperand<T>& right, T* out,
              std::int64_t out_step, bool add = false, Registers registers = Registers::kWidest);

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_MATH_MATRIX_PRODUCT_H_

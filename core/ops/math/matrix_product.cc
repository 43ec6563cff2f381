// How it is made fast: a tile of the result is kept in registers while all of a stretch of the depth is added to it
// (tile.h). The stretch of the right matrix that a column of tiles needs (16 KiB at most) is first
// copied side by side; of the left matrix single elements are read where they are.
//
// This file is compiled with -O3 in every build, and without precompiled headers (CMakeLists.txt).
#include "vigil/core/ops/math/matrix_product.h"

#include <algorithm>

#include "vigil/core/ops/math/tile.h"

namespace vigil {
namespace {

constexpr std::size_t kPanelBytes = std::size_t{16} << 10;  // kProductStretch rows of a tile

// How tiles are made with one kind of registers.
template <typename T>
struct TileKernel {
  int width;  // elements of a vector
  int rows;   // of a tile, at most
  void (*add_up)(const Tile<T>& tile, int rows, int vectors);
};

template <typename T>
void AddUpPortable(const Tile<T>& tile, int rows, int vectors) {
  AddUpTile<typename VectorOf<T, 16>::Type>(tile, rows, vectors);
}

// The widest of this processor.
Registers FindRegisters() {
#if defined(__x86_64__)
  if (!HasAvx2Tiles() || __builtin_cpu_supports("avx2") == 0) return Registers::kPortable;
  if (!HasAvx512Tiles() || __builtin_cpu_supports("avx512f") == 0) return Registers::kOf32Bytes;
  return Registers::kWidest;
#else
  return Registers::kPortable;
#endif
}

template <typename T>
TileKernel<T> TileKernelFor(Registers registers) {
  static const Registers widest = FindRegisters();
  switch (std::max(registers, widest)) {
    case Registers::kWidest:
      return {32 / sizeof(T), 6, AddUpTileAvx512};
    case Registers::kOf32Bytes:
      return {32 / sizeof(T), 6, AddUpTileAvx2};
    default:
      return {16 / sizeof(T), 4, AddUpPortable<T>};
  }
}

// Columns `first` to first + columns of a stretch of the right matrix, as rows of `width` elements; zeros fill them.
template <typename T>
void CopyPanel(const MatrixOperand<T>& right, std::int64_t row, std::int64_t rows, std::int64_t first,
               std::int64_t columns, int width, T* panel) {
  for (std::int64_t k = 0; k < rows; ++k, panel += width) {
    const T* const from = right.data + right.rows[row + k];
    if (right.columns.at == nullptr && right.columns.step == 1) {
      std::copy_n(from + first, columns, panel);
    } else {
      for (std::int64_t j = 0; j < columns; ++j) panel[j] = from[right.columns[first + j]];
    }
    std::fill(panel + columns, panel + width, T(0));
  }
}

// A tile that sticks out of the result: made beside it.
template <typename T>
void AddUpEdge(const TileKernel<T>& kernel, Tile<T> tile, int rows, int vectors, std::int64_t columns) {
  T beside[kMostTileRows * kMostTileColumns] = {};
  T* const out = tile.out;
  const std::int64_t out_step = tile.out_step;
  const int width = vectors * kernel.width;
  for (int r = 0; r < rows && tile.add; ++r) std::copy_n(out + r * out_step, columns, beside + r * width);
  tile.out = beside;
  tile.out_step = width;
  kernel.add_up(tile, rows, vectors);
  for (int r = 0; r < rows; ++r) std::copy_n(beside + r * width, columns, out + r * out_step);
}

template <typename T>
class Product {
 public:
  Product(const ProductSize& size, const MatrixOperand<T>& left, const MatrixOperand<T>& right, T* out,
          std::int64_t out_step, const TileKernel<T>& kernel)
      : size_(size), left_(left), right_(right), out_(out), out_step_(out_step), kernel_(kernel) {}

  void Make(bool add) {
    for (std::int64_t k = 0; k < size_.depth; k += kDepth) {
      const std::int64_t depth = std::min(kDepth, size_.depth - k);
      const std::int64_t most = 2 * kernel_.width;
      for (std::int64_t j = 0; j < size_.columns; j += most) {
        MakeColumns(k, depth, j, std::min(most, size_.columns - j), add || k > 0);
      }
    }
  }

 private:
  static constexpr std::int64_t kDepth = kProductStretch<T>;
  static_assert(kDepth * kMostTileColumns * sizeof(T) == kPanelBytes);

  void MakeColumns(std::int64_t k, std::int64_t depth, std::int64_t j, std::int64_t columns, bool add) {
    const int vectors = columns > kernel_.width ? 2 : 1;
    const int width = vectors * kernel_.width;
    const bool full = columns == width;
    Tile<T> tile{.rows = {},
                 .columns = left_.columns.at == nullptr ? nullptr : left_.columns.at + k,
                 .column_step = left_.columns.step,
                 .panel = panel_,
                 .panel_step = width,
                 .depth = depth,
                 .out = nullptr,
                 .out_step = out_step_,
                 .add = add};
    if (full && LiesWell(width)) {
      tile.panel = right_.data + right_.rows[k] + j;
      tile.panel_step = right_.rows.step;
    } else {
      CopyPanel(right_, k, depth, j, columns, width, panel_);
    }
    const std::int64_t first_column = tile.columns == nullptr ? left_.columns[k] : 0;
    for (std::int64_t i = 0; i < size_.rows; i += kernel_.rows) {
      const int rows = static_cast<int>(std::min<std::int64_t>(kernel_.rows, size_.rows - i));
      for (int r = 0; r < rows; ++r) tile.rows[r] = left_.data + left_.rows[i + r] + first_column;
      tile.out = out_ + i * out_step_ + j;
      if (full) {
        kernel_.add_up(tile, rows, vectors);
      } else {
        AddUpEdge(kernel_, tile, rows, vectors, columns);
      }
    }
  }

  // Whether the right matrix is read where it is: it is no wider than a tile, or there are too few rows for a copy.
  bool LiesWell(int width) const {
    if (right_.columns.at != nullptr || right_.columns.step != 1 || right_.rows.at != nullptr) return false;
    return right_.rows.step == width || size_.rows <= 2 * kernel_.rows;
  }

  const ProductSize& size_;
  const MatrixOperand<T>& left_;
  const MatrixOperand<T>& right_;
  T* const out_;
  const std::int64_t out_step_;
  const TileKernel<T>& kernel_;
  alignas(64) T panel_[kPanelBytes / sizeof(T)];
};

}  // namespace

template <typename T>
void Multiply(const ProductSize& size, const MatrixOperand<T>& left, const MatrixOperand<T>& right, T* out,
              std::int64_t out_step, bool add, Registers registers) {
  if (size.rows == 0 || size.columns == 0) return;
  if (size.depth == 0 && !add) {
    for (std::int64_t i = 0; i < size.rows; ++i) std::fill_n(out + i * out_step, size.columns, T(0));
  }
  const TileKernel<T> kernel = TileKernelFor<T>(registers);
  Product<T>(size, left, right, out, out_step, kernel).Make(add);
}

template void Multiply(const ProductSize&, const MatrixOperand<float>&, const MatrixOperand<float>&, float*,
                       std::int64_t, bool, Registers);
template void Multiply(const ProductSize&, const MatrixOperand<double>&, const MatrixOperand<double>&, double*,
                       std::int64_t, bool, Registers);

}  // namespace vigil

// A tile of a product of matrices: up to six rows of two vectors, kept in registers while all of a stretch of the depth
// is added to it. Part of matrix_product; the sources of one kind of registers each include it, compiled with that
// processor's flags: so everything that has code is theirs alone (a linker would take either's for all).
#ifndef VIGIL_CORE_OPS_MATH_TILE_H_
#define VIGIL_CORE_OPS_MATH_TILE_H_

#include <cstdint>
#include <cstring>

namespace vigil {

inline constexpr int kMostTileRows = 6;
inline constexpr int kMostTileColumns = 16;  // two vectors of eight floats

// What a tile is made from.
template <typename T>
struct Tile {
  const T* rows[kMostTileRows];  // of the left matrix
  const std::int64_t* columns;   // listed; null: `column_step` apart
  std::int64_t column_step;
  const T* panel;  // of the right matrix
  std::int64_t panel_step;
  std::int64_t depth;
  T* out;
  std::int64_t out_step;
  bool add;
};

// `rows` of it, `vectors` (1 or 2) of 32 bytes wide. REQUIRES: a processor with AVX2, and that HasAvx2Tiles().
void AddUpTileAvx2(const Tile<float>& tile, int rows, int vectors);
void AddUpTileAvx2(const Tile<double>& tile, int rows, int vectors);
// Whether they were compiled.
bool HasAvx2Tiles();
// The same by registers of 64 bytes, where a tile has two vectors. REQUIRES: a processor with AVX512F besides, and that
// HasAvx512Tiles().
void AddUpTileAvx512(const Tile<float>& tile, int rows, int vectors);
void AddUpTileAvx512(const Tile<double>& tile, int rows, int vectors);
bool HasAvx512Tiles();

namespace {

template <typename T, int kBytes>
struct VectorOf {
  using Type __attribute__((vector_size(kBytes))) = T;
};

#define VIGIL_INLINE inline __attribute__((always_inline))

template <typename V, typename T>
VIGIL_INLINE void Spread(T value, V& out) {
  out = value - V{};
}

// The sums of a tile. Members and not an array: of these, GCC too keeps each in a register.
template <typename V, int kRows>
struct Sums {
  V first;
  V second;
  Sums<V, kRows - 1> below;

  // Adds what lies there.
  template <int kVectors, typename T>
  VIGIL_INLINE void AddOf(const T* out, std::int64_t out_step) {
    V there;
    std::memcpy(&there, out, sizeof(V));
    first = there + first;
    if constexpr (kVectors == 2) {
      std::memcpy(&there, out + sizeof(V) / sizeof(T), sizeof(V));
      second = there + second;
    }
    below.template AddOf<kVectors>(out + out_step, out_step);
  }
  template <int kVectors, typename T>
  VIGIL_INLINE void Store(T* out, std::int64_t out_step) const {
    std::memcpy(out, &first, sizeof(V));
    if constexpr (kVectors == 2) std::memcpy(out + sizeof(V) / sizeof(T), &second, sizeof(V));
    below.template Store<kVectors>(out + out_step, out_step);
  }
  VIGIL_INLINE void Clear() {
    first = V{};
    second = V{};
    below.Clear();
  }
  // Element `at` of each row of the left matrix times a row of the right one.
  template <int kVectors, typename T>
  VIGIL_INLINE void Add(const T* const* rows, std::int64_t at, const V& right, const V& right_second) {
    V left;
    Spread(rows[0][at], left);
    first = first + left * right;
    if constexpr (kVectors == 2) second = second + left * right_second;
    below.template Add<kVectors>(rows + 1, at, right, right_second);
  }
};
template <typename V>
struct Sums<V, 0> {
  template <int kVectors, typename T>
  VIGIL_INLINE void AddOf(const T*, std::int64_t) {}
  template <int kVectors, typename T>
  VIGIL_INLINE void Store(T*, std::int64_t) const {}
  VIGIL_INLINE void Clear() {}
  template <int kVectors, typename T>
  VIGIL_INLINE void Add(const T* const*, std::int64_t, const V&, const V&) {}
};

template <typename V, int kRows, int kVectors, bool kListed, typename T>
VIGIL_INLINE void AddUp(const Tile<T>& tile) {
  const T* rows[kRows];
  for (int r = 0; r < kRows; ++r) rows[r] = tile.rows[r];
  Sums<V, kRows> sums;
  sums.Clear();
  const T* panel = tile.panel;
  for (std::int64_t k = 0; k < tile.depth; ++k, panel += tile.panel_step) {
    const std::int64_t at = kListed ? tile.columns[k] : k * tile.column_step;
    V right, second;
    std::memcpy(&right, panel, sizeof(V));
    if constexpr (kVectors == 2) {
      std::memcpy(&second, panel + sizeof(V) / sizeof(T), sizeof(V));
    } else {
      second = right;
    }
    sums.template Add<kVectors>(rows, at, right, second);
  }
  if (tile.add) sums.template AddOf<kVectors>(tile.out, tile.out_step);
  sums.template Store<kVectors>(tile.out, tile.out_step);
}

template <typename V, int kVectors, bool kListed, typename T>
VIGIL_INLINE void AddUpRows(const Tile<T>& tile, int rows) {
  switch (rows) {
    case 1:
      return AddUp<V, 1, kVectors, kListed>(tile);
    case 2:
      return AddUp<V, 2, kVectors, kListed>(tile);
    case 3:
      return AddUp<V, 3, kVectors, kListed>(tile);
    case 4:
      return AddUp<V, 4, kVectors, kListed>(tile);
    case 5:
      return AddUp<V, 5, kVectors, kListed>(tile);
    default:
      return AddUp<V, 6, kVectors, kListed>(tile);
  }
}

template <typename V, typename T>
VIGIL_INLINE void AddUpTile(const Tile<T>& tile, int rows, int vectors) {
  if (vectors == 1) {
    return tile.columns == nullptr ? AddUpRows<V, 1, false>(tile, rows) : AddUpRows<V, 1, true>(tile, rows);
  }
  return tile.columns == nullptr ? AddUpRows<V, 2, false>(tile, rows) : AddUpRows<V, 2, true>(tile, rows);
}

}  // namespace
}  // namespace vigil

#undef VIGIL_INLINE

#endif  // VIGIL_CORE_OPS_MATH_TILE_H_

// Tiles in registers of 64 bytes: two vectors of tile_avx2.cc are one here. Compiled with -mavx512f, under the same
// prohibition as that file.
#include "vigil/core/ops/math/tile.h"

namespace vigil {

#if defined(__AVX512F__)
void AddUpTileAvx512(const Tile<float>& tile, int rows, int vectors) {
  if (vectors == 1) return AddUpTileAvx2(tile, rows, 1);
  AddUpTile<VectorOf<float, 64>::Type>(tile, rows, 1);
}
void AddUpTileAvx512(const Tile<double>& tile, int rows, int vectors) {
  if (vectors == 1) return AddUpTileAvx2(tile, rows, 1);
  AddUpTile<VectorOf<double, 64>::Type>(tile, rows, 1);
}
bool HasAvx512Tiles() { return true; }
#else
void AddUpTileAvx512(const Tile<float>&, int, int) { __builtin_trap(); }
void AddUpTileAvx512(const Tile<double>&, int, int) { __builtin_trap(); }
bool HasAvx512Tiles() { return false; }
#endif

}  // namespace vigil

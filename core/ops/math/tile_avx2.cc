// Tiles in registers of 32 bytes. Compiled with -mavx2 where the processor's family has that; no function of the C++
// library may be called here, since what the compiler makes of it could become that of the whole program.
#include "vigil/core/ops/math/tile.h"

namespace vigil {

#if defined(__AVX2__)
void AddUpTileAvx2(const Tile<float>& tile, int rows, int vectors) {
  AddUpTile<VectorOf<float, 32>::Type>(tile, rows, vectors);
}
void AddUpTileAvx2(const Tile<double>& tile, int rows, int vectors) {
  AddUpTile<VectorOf<double, 32>::Type>(tile, rows, vectors);
}
bool HasAvx2Tiles() { return true; }
#else
void AddUpTileAvx2(const Tile<float>&, int, int) { __builtin_trap(); }
void AddUpTileAvx2(const Tile<double>&, int, int) { __builtin_trap(); }
bool HasAvx2Tiles() { return false; }
#endif

}  // namespace vigil

// Which seeds a random op of a graph gets: the rules of tf.compat.v1.set_random_seed and get_seed.
//
// | seed of the graph | of the op | numbers |
// |---|---|---|
// | none | none | other ones in every session |
// | set | none | the same in every session; each op has its own |
// | none | set | the same in every session, whatever the graph is |
// | set | set | the same in every session |
// Thread safety: as the graph's.
#ifndef VIGIL_CORE_OPS_RANDOM_SEEDS_H_
#define VIGIL_CORE_OPS_RANDOM_SEEDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/graph.h"

namespace vigil {

// The attributes of a random op. Both 0: it draws them when it is first run.
struct Seeds {
  std::int64_t seed = 0;
  std::int64_t seed2 = 0;
  friend bool operator==(const Seeds&, const Seeds&) = default;
};

// Of the ops that are made from now on.
void SetRandomSeed(Graph& graph, std::int64_t seed);
// For the next op. One without a seed of its own is counted.
Seeds GetSeed(Graph& graph, std::optional<std::int64_t> op_seed = std::nullopt);

namespace ops {

// Numbers of that shape (a vector of integers), of type float or double: uniform in [0, 1); normal; normal, but none
// outside of (-2, 2).
Output RandomUniform(Builder& b, std::string name, Output shape, DType dtype,
                     std::optional<std::int64_t> seed = std::nullopt);
Output RandomStandardNormal(Builder& b, std::string name, Output shape, DType dtype,
                            std::optional<std::int64_t> seed = std::nullopt);
Output TruncatedNormal(Builder& b, std::string name, Output shape, DType dtype,
                       std::optional<std::int64_t> seed = std::nullopt);
// The rows of a value in another order in every run.
Output RandomShuffle(Builder& b, std::string name, Output value, std::optional<std::int64_t> seed = std::nullopt);

}  // namespace ops
}  // namespace vigil

#endif  // VIGIL_CORE_OPS_RANDOM_SEEDS_H_

#include "vigil/core/ops/random/seeds.h"

#include <limits>
#include <utility>
#include <vector>

namespace vigil {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kDefaultGraphSeed = 87654321;
constexpr CollectionKey<std::int64_t> kGraphSeed{"vigil/graph_seed"};
constexpr CollectionKey<std::int64_t> kCounted{"vigil/seeded_ops"};

// As Python's remainder: never negative.
std::int64_t Truncated(std::int64_t seed) {
  const std::int64_t rest = seed % kMost;
  return rest < 0 ? rest + kMost : rest;
}

Attrs SeedAttrs(Builder& b, std::optional<std::int64_t> seed) {
  const Seeds seeds = GetSeed(b.graph(), seed);
  return {{"seed", seeds.seed}, {"seed2", seeds.seed2}};
}

Output Numbers(Builder& b, std::string op, std::string name, Output shape, DType dtype,
               std::optional<std::int64_t> seed) {
  if (!b.status().ok()) return {};
  Attrs attrs = SeedAttrs(b, seed);
  attrs.emplace("dtype", dtype);
  return b.Op(std::move(op), {shape}, {.name = std::move(name), .attrs = std::move(attrs)});
}

}  // namespace

void SetRandomSeed(Graph& graph, std::int64_t seed) {
  graph.ClearCollection(kGraphSeed.name);
  graph.AddToCollection(kGraphSeed, seed);
}

Seeds GetSeed(Graph& graph, std::optional<std::int64_t> op_seed) {
  const std::vector<std::int64_t>& graph_seed = graph.Collection(kGraphSeed);
  if (graph_seed.empty() && !op_seed.has_value()) return {};
  Seeds seeds{.seed = graph_seed.empty() ? kDefaultGraphSeed : Truncated(graph_seed.front())};
  if (op_seed.has_value()) {
    seeds.seed2 = Truncated(*op_seed);
  } else {
    const std::vector<std::int64_t>& counted = graph.Collection(kCounted);
    const std::int64_t number = counted.empty() ? 0 : counted.front();
    graph.ClearCollection(kCounted.name);
    graph.AddToCollection(kCounted, number + 1);
    seeds.seed2 = Truncated(number);
  }
  if (seeds == Seeds{}) seeds.seed2 = kMost;  // 0, 0 would mean that nobody has said any
  return seeds;
}

namespace ops {

Output RandomUniform(Builder& b, std::string name, Output shape, DType dtype, std::optional<std::int64_t> seed) {
  return Numbers(b, "RandomUniform", std::move(name), shape, dtype, seed);
}

Output RandomStandardNormal(Builder& b, std::string name, Output shape, DType dtype, std::optional<std::int64_t> seed) {
  return Numbers(b, "RandomStandardNormal", std::move(name), shape, dtype, seed);
}

Output TruncatedNormal(Builder& b, std::string name, Output shape, DType dtype, std::optional<std::int64_t> seed) {
  return Numbers(b, "TruncatedNormal", std::move(name), shape, dtype, seed);
}

Output RandomShuffle(Builder& b, std::string name, Output value, std::optional<std::int64_t> seed) {
  if (!b.status().ok()) return {};
  return b.Op("RandomShuffle", {value}, {.name = std::move(name), .attrs = SeedAttrs(b, seed)});
}

}  // namespace ops
}  // namespace vigil

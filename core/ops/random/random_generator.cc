#include "vigil/core/ops/random/random_generator.h"

#include "vigil/core/ops/op_util.h"

namespace vigil {

Philox Seeded(const Env& env, std::int64_t seed, std::int64_t seed2) {
  if (seed != 0 || seed2 != 0) return Philox(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(seed2));
  const std::uint64_t drawn = env.random->Draw("random op");
  return Philox(drawn, env.random->Draw("random op"));
}

absl::StatusOr<RandomGenerator*> RandomGenerator::Of(KernelContext& c) {
  return c.resource<RandomGenerator>([&c] {
    return std::make_shared<RandomGenerator>(
        Seeded(c.env(), c.attr_or<std::int64_t>("seed", 0), c.attr_or<std::int64_t>("seed2", 0)));
  });
}

absl::Status CheckSeeds(const Node& node) {
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::int64_t>(node, "seed"));
  return AllowAttr<std::int64_t>(node, "seed2");
}

}  // namespace vigil

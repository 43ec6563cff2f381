#include "vigil/sim/cluster/op_costs.h"

#include <utility>

#include "vigil/core/graph/kernel.h"

namespace vigil::sim {

std::unique_ptr<OpRegistry> WithCosts(const OpRegistry& ops, std::function<void(std::uint64_t bytes)> work) {
  auto costly = std::make_unique<OpRegistry>();
  for (const auto& [name, def] : ops.all()) {
    OpDef own = def;
    if (def.compute != nullptr) {
      own.compute = [right = def.compute, references = def.ref_inputs, work](KernelContext& c) {
        std::uint64_t bytes = 0;
        for (int i = 0; i < c.num_inputs(); ++i) {
          if (i < 32 && (references >> i & 1) != 0) continue;
          const Tensor& value = c.input(i);
          if (value.dtype() != DType::kString) bytes += value.bytes().size();
        }
        work(bytes);
        return right(c);
      };
    }
    costly->Register(std::move(own));
  }
  return costly;
}

}  // namespace vigil::sim

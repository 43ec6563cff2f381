#include "vigil/sim/cluster/update_watch.h"

#include <string_view>
#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/ops/variable.h"

namespace vigil::sim {
namespace {

using Told = std::function<void(const LedgerWrite&)>;

// "ledger_0/worker_1" counts the updates of worker:1 on the first parameter server; "" if it is another variable.
std::string ReplicaCounted(std::string_view variable) {
  const std::size_t slash = variable.find('/');
  if (!variable.starts_with("ledger_") || slash == std::string_view::npos) return "";
  std::string replica(variable.substr(slash + 1));
  if (const std::size_t line = replica.rfind('_'); line != std::string::npos) replica[line] = ':';
  return replica;
}

Kernel Watched(Kernel right, bool applies, Told told) {
  return [right = std::move(right), applies, told = std::move(told)](KernelContext& c) -> absl::Status {
    VIGIL_RETURN_IF_ERROR(right(c));
    std::string replica = ReplicaCounted(c.holder().name);
    if (replica.empty()) return absl::OkStatus();
    VIGIL_ASSIGN_OR_RETURN(const Variable* const variable, Variable::Of(c));
    told({.applied = applies,
          .replica = std::move(replica),
          .value = static_cast<std::int64_t>(variable->Read().scalar<float>())});
    return absl::OkStatus();
  };
}

}  // namespace

std::unique_ptr<OpRegistry> WatchUpdates(const OpRegistry& ops, Told told) {
  auto watched = std::make_unique<OpRegistry>();
  for (const auto& [name, def] : ops.all()) {
    OpDef own = def;
    const bool applies = name == "ApplyGradientDescent";
    if (applies || name == "Assign") own.compute = Watched(def.compute, applies, told);
    watched->Register(std::move(own));
  }
  return watched;
}

}  // namespace vigil::sim

#include "vigil/sim/cluster/update_watch.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/kernel.h"

namespace vigil::sim {
namespace {

constexpr std::string_view kGlobalStep = "global_step";

// "ledger_0/worker_1" counts the updates of worker:1 on ps:0; false if it is another variable.
bool NameCount(std::string_view variable, LedgerWrite& write) {
  constexpr std::string_view kLedger = "ledger_";
  const std::size_t slash = variable.find('/');
  if (!variable.starts_with(kLedger) || slash == std::string_view::npos) return false;
  write.server = fmt::format("ps:{}", variable.substr(kLedger.size(), slash - kLedger.size()));
  write.replica = variable.substr(slash + 1);
  if (const std::size_t line = write.replica.rfind('_'); line != std::string::npos) write.replica[line] = ':';
  return true;
}

// "/shared/checkpoints/model.ckpt-40_temp_.../part-..." is of step 40; -1: it has none.
std::int64_t StepOfCheckpoint(std::string_view file) {
  constexpr std::string_view kBefore = "model.ckpt-";
  std::int64_t step = -1;
  if (const std::size_t at = file.find(kBefore); at != std::string_view::npos) {
    const std::string_view rest = file.substr(at + kBefore.size());
    std::from_chars(rest.data(), rest.data() + rest.size(), step);
  }
  return step;
}

Kernel Watched(Kernel right, LedgerWrite::Kind kind, WriteSink sink) {
  return [right = std::move(right), kind, sink = std::move(sink)](KernelContext& c) -> absl::Status {
    const Time began = sink.now();
    VIGIL_RETURN_IF_ERROR(right(c));
    LedgerWrite write{.kind = kind, .attempt = c.step_id(), .began = began};
    if (c.holder().name == kGlobalStep && c.output(0).dtype() == DType::kInt64) {
      write.kind = kind == LedgerWrite::Kind::kAssigned ? LedgerWrite::Kind::kStepSet : LedgerWrite::Kind::kStepMade;
      write.value = c.output(0).scalar<std::int64_t>();
      sink.told(write);
      return absl::OkStatus();
    }
    if (!NameCount(c.holder().name, write)) return absl::OkStatus();
    write.value = static_cast<std::int64_t>(c.output(0).scalar<float>());  // not the variable's, which others change
    sink.told(write);
    return absl::OkStatus();
  };
}

// Inputs of SaveV2: prefix, names, slices, the tensors.
Kernel WatchedSave(Kernel right, WriteSink sink) {
  return [right = std::move(right), sink = std::move(sink)](KernelContext& c) -> absl::Status {
    const Time began = sink.now();
    VIGIL_RETURN_IF_ERROR(right(c));
    LedgerWrite write{.kind = LedgerWrite::Kind::kWritten, .began = began};
    write.checkpoint = StepOfCheckpoint(c.input(0).scalar<std::string>());
    const auto names = c.input(1).flat<std::string>();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!NameCount(names[i], write)) continue;
      write.value = static_cast<std::int64_t>(c.input(static_cast<int>(i) + 3).scalar<float>());
      sink.told(write);
    }
    return absl::OkStatus();
  };
}

}  // namespace

std::unique_ptr<OpRegistry> WatchUpdates(const OpRegistry& ops, const WriteSink& sink) {
  auto watched = std::make_unique<OpRegistry>();
  for (const auto& [name, def] : ops.all()) {
    OpDef own = def;
    if (name == "ApplyGradientDescent") own.compute = Watched(def.compute, LedgerWrite::Kind::kApplied, sink);
    if (name == "AssignAdd") own.compute = Watched(def.compute, LedgerWrite::Kind::kStepMade, sink);
    if (name == "Assign") own.compute = Watched(def.compute, LedgerWrite::Kind::kAssigned, sink);
    if (name == "SaveV2") own.compute = WatchedSave(def.compute, sink);
    watched->Register(std::move(own));
  }
  return watched;
}

}  // namespace vigil::sim

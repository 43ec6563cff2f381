// The hooks of the model: probes, which do what their plan says, and the built-in ones.
//
// Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_HOOK_H_
#define VIGIL_PROPERTIES_MODEL_HOOK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vigil/properties/model/coordinator.h"
#include "vigil/properties/model/run_parts.h"
#include "vigil/properties/model/world.h"

namespace vigil::properties::model {

// What the model's graph has to offer.
enum class Value { kStep, kFed, kLoss, kSummary };

struct HookRequest {
  std::vector<Value> fetches;
  std::optional<replays::FetchSpec> tree;  // of a probe, instead
  std::optional<std::int64_t> feed;
  std::optional<RunOptions> options;
};

struct HookResult {
  std::vector<double> values;    // as the fetches
  std::optional<double> number;  // of a tree that is a single name
  std::string text = "none";     // of a tree
  RunOptions options;
};

struct RunContext {
  RawSessionPtr session;
  bool stop = false;
  bool caller_trains = true;  // by what it fetches
};

class Hook {
 public:
  virtual ~Hook() = default;
  virtual Code Begin() { return Code::kOk; }
  virtual Code AfterCreateSession(const RawSessionPtr&, const std::shared_ptr<Coordinator>&) { return Code::kOk; }
  virtual Code BeforeRun(RunContext&, HookRequest&) { return Code::kOk; }
  // Before any hook hears of the run.
  virtual void Inspect(const HookResult&) {}
  virtual Code AfterRun(RunContext&, const HookResult&) { return Code::kOk; }
  virtual Code End(const RawSessionPtr&) { return Code::kOk; }
};

std::unique_ptr<Hook> NewProbe(World& world, const replays::HookSpec& spec);

// kUsage: the hook refuses its arguments.
Code MakeHook(World& world, const replays::HookSpec& spec, std::unique_ptr<Hook>& hook);
Code MakeHooks(World& world, const std::vector<replays::HookSpec>& specs, std::vector<std::unique_ptr<Hook>>& hooks);

// The loss at that step: 0.5, or NaN.
double LossAt(const World& world, std::int64_t step);

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_HOOK_H_

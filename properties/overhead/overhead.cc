#include "vigil/properties/overhead/overhead.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/session_creator.h"
#include "vigil/properties/verify/hook_model.h"
#include "vigil/replays/stage/model.h"

namespace vigil {
namespace {

class DoesNothing : public SessionRunHook {};

// Of a sorted list: the point below which a share of it lies.
double Quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

std::vector<double> Sorted(std::vector<double> values) {
  std::ranges::sort(values);
  return values;
}

// The median of the slopes between any two of the points (i, values[i]): a few blocks that something disturbed do not
// move it.
double MedianSlope(const std::vector<double>& values) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t k = i + 1; k < values.size(); ++k) {
      slopes.push_back((values[k] - values[i]) / static_cast<double>(k - i));
    }
  }
  return slopes.empty() ? 0 : Quantile(Sorted(std::move(slopes)), 0.5);
}

struct Block {
  double ns = 0;           // a run
  double allocations = 0;  // a run
};

// A session on a model of its own, with one hook or without.
class Side {
 public:
  Side(const Env& env, const OverheadOptions& options) : env_(env), options_(options) {}

  absl::Status Open(const HookMaker* maker, std::string directory) {
    VIGIL_ASSIGN_OR_RETURN(model_, replays::BuildModel(env_, {}));
    VIGIL_RETURN_IF_ERROR(LetLossFall(*model_));
    const auto scaffold = std::make_shared<Scaffold>(env_, *model_->graph);
    world_ = std::make_unique<HookWorld>(HookWorldParts{.env = env_,
                                                        .graph = model_->graph.get(),
                                                        .loss = model_->loss,
                                                        .global_step = *model_->read,
                                                        .train_op = model_->train,
                                                        .feedable = model_->feed_me,
                                                        .scaffold = scaffold,
                                                        .behaviour = Behaviour::Default(),
                                                        .directory = std::move(directory)});
    MonitoredSessionOptions session;
    session.session_creator =
        std::make_shared<ChiefSessionCreator>(env_, *model_->graph, ChiefSessionCreatorOptions{.scaffold = scaffold});
    if (maker != nullptr) {
      VIGIL_ASSIGN_OR_RETURN(HookPtr hook, (*maker)(*world_));
      if (hook == nullptr) return UsageError("The maker of the hook returned null.");
      session.hooks.push_back(std::move(hook));
    }
    VIGIL_ASSIGN_OR_RETURN(session_, MonitoredSession::Create(env_, *model_->graph, std::move(session)));
    return absl::OkStatus();
  }

  absl::StatusOr<Block> Measure() {
    const Fetches& fetches = model_->train;
    const std::uint64_t allocated = Allocations();
    const Time begin = env_.clock->Monotonic();
    for (int i = 0; i < options_.runs; ++i) {
      VIGIL_RETURN_IF_ERROR(session_->RunInto(&result_, fetches));
    }
    const Duration took = env_.clock->Monotonic() - begin;
    const double runs = options_.runs;
    Block block{.ns = static_cast<double>(took.count()) / runs,
                .allocations = static_cast<double>(Allocations() - allocated) / runs};
    VIGIL_ASSIGN_OR_RETURN(const bool stops, session_->ShouldStop());
    if (stops) return UsageError("It stops the training: set it up so that it does not, to see what a run costs.");
    return block;
  }

  absl::Status Close() { return session_->Close(); }

 private:
  std::uint64_t Allocations() const { return options_.allocations ? options_.allocations() : 0; }

  const Env& env_;
  const OverheadOptions& options_;
  std::unique_ptr<replays::Model> model_;
  std::unique_ptr<HookWorld> world_;
  std::unique_ptr<MonitoredSession> session_;
  RunResult result_;
};

// `without`: gets what a run without the hook takes, of each block.
absl::StatusOr<HookOverhead> MeasurePairs(const Env& env, const HookToMeasure& hook, const OverheadOptions& options,
                                          std::string directory, std::vector<double>* without) {
  Side with_hook(env, options);
  Side bare(env, options);
  VIGIL_RETURN_IF_ERROR(with_hook.Open(&hook.make, std::move(directory)));
  VIGIL_RETURN_IF_ERROR(bare.Open(nullptr, ""));
  HookOverhead overhead{.name = hook.name};
  std::vector<double> differences;
  std::vector<double> allocations;
  for (int i = -1; i < options.blocks; ++i) {
    Block first;
    Block second;
    const bool hook_first = i % 2 == 0;
    VIGIL_ASSIGN_OR_RETURN(first, (hook_first ? with_hook : bare).Measure());
    VIGIL_ASSIGN_OR_RETURN(second, (hook_first ? bare : with_hook).Measure());
    if (i < 0) continue;
    if (!hook_first) std::swap(first, second);
    differences.push_back(first.ns - second.ns);
    allocations.push_back(first.allocations - second.allocations);
    without->push_back(second.ns);
  }
  VIGIL_RETURN_IF_ERROR(with_hook.Close());
  VIGIL_RETURN_IF_ERROR(bare.Close());
  overhead.ns_later = MedianSlope(differences) * 1000 / options.runs;
  const std::vector<double> sorted = Sorted(std::move(differences));
  overhead.ns = Quantile(sorted, 0.5);
  overhead.low = Quantile(sorted, 0.25);
  overhead.high = Quantile(sorted, 0.75);
  overhead.allocations = Quantile(Sorted(std::move(allocations)), 0.5);
  return overhead;
}

}  // namespace

absl::StatusOr<OverheadReport> MeasureOverhead(const Env& env, const std::vector<HookToMeasure>& hooks,
                                               const OverheadOptions& options) {
  VIGIL_CHECK(options.blocks > 0 && options.runs > 0);
  OverheadReport report{
      .blocks = options.blocks, .runs = options.runs, .counts_allocations = options.allocations != nullptr};
  std::vector<HookToMeasure> all{
      {kFloorName, [](HookWorld&) -> absl::StatusOr<HookPtr> { return std::make_shared<DoesNothing>(); }}};
  all.insert(all.end(), hooks.begin(), hooks.end());
  std::vector<double> without;
  for (std::size_t i = 0; i < all.size(); ++i) {
    absl::StatusOr<HookOverhead> overhead =
        MeasurePairs(env, all[i], options, fmt::format("{}/{}", options.directory, i), &without);
    if (!overhead.ok()) {
      return WithMessage(overhead.status(),
                         fmt::format("The hook '{}' was not measured: {}", all[i].name, MessageOf(overhead.status())));
    }
    report.hooks.push_back(*std::move(overhead));
  }
  report.run_ns = Quantile(Sorted(std::move(without)), 0.5);
  return report;
}

}  // namespace vigil

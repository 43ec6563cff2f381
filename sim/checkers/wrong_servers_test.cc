// Jobs on servers that are wrong, with nothing else amiss: the checker that watches for it says so, and it says nothing
// of right ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/ops/variable.h"
#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/cluster/job.h"
#include "vigil/sim/workloads/draws.h"
#include "vigil/sim/world.h"

namespace vigil::sim {
namespace {

using testing::Contains;
using testing::IsEmpty;

// The rules that a job of such a workload breaks.
std::vector<std::string> BrokenOn(const OpRegistry& ops, const WorkloadSpec& workload, std::uint64_t seed = 1) {
  JobSpec spec;
  spec.workload = workload;
  spec.workload.last_step = 30;
  spec.workload.step = std::chrono::seconds(2);
  const Behaviour behaviour = Behaviour::Default();
  RandomChooser chooser(seed);
  World world({.chooser = &chooser, .seed = seed, .max_events = 5'000'000});
  Job job(world, spec, {.behaviour = behaviour, .seed = seed, .ops = &ops});
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kStopped);
  const JobFacts facts = job.Facts();
  std::vector<std::string> rules;
  for (const JobViolation& violation :
       CheckJob({.spec = spec, .history = job.history(), .facts = facts, .behaviour = behaviour}).violations) {
    rules.push_back(violation.rule);
  }
  return rules;
}

std::vector<std::string> BrokenOn(const OpRegistry& ops, WorkloadKind kind) {
  return BrokenOn(ops, WorkloadSpec{.kind = kind});
}

// Input pipelines of every sort, but for the plain one.
std::vector<WorkloadSpec> Pipelines() {
  std::vector<WorkloadSpec> all;
  for (int sort = 1; sort < 32; ++sort) {
    all.push_back({.kind = WorkloadKind::kInputPipeline,
                   .shared_input = (sort & 1) != 0,
                   .input_batch = (sort & 2) != 0 ? 3 : 1,
                   .input_rest = (sort & 4) != 0,
                   .shuffled_input = (sort & 8) != 0,
                   .staged_input = (sort & 16) != 0});
  }
  return all;
}

OpRegistry WithKernel(std::string_view name, const std::function<Kernel(const Kernel& right)>& wrong) {
  OpRegistry ops = BuiltinOps();
  // No registry lets its ops be changed; this copy is ours.
  auto& def = const_cast<OpDef&>(*ops.Find(name));
  def.compute = wrong(def.compute);
  return ops;
}

TEST(WrongServers, RightOnesBreakNoRule) {
  for (const WorkloadKind kind : {WorkloadKind::kAsyncRegression, WorkloadKind::kSyncRegression,
                                  WorkloadKind::kInputPipeline, WorkloadKind::kSupervisor}) {
    EXPECT_THAT(BrokenOn(BuiltinOps(), kind), IsEmpty()) << WorkloadName(kind);
  }
}

TEST(WrongServers, OneUpdateInTenIsDropped) {
  Draws draws(1);
  const OpRegistry ops = WithKernel("ApplyGradientDescent", [&draws](const Kernel& right) -> Kernel {
    return [&draws, right](KernelContext& c) -> absl::Status {
      if (draws.Next() % 10 != 0) return right(c);
      VIGIL_ASSIGN_OR_RETURN(const Variable* const variable, Variable::Of(c));
      c.set_output(0, variable->Read());
      return absl::OkStatus();
    };
  });
  EXPECT_THAT(BrokenOn(ops, WorkloadKind::kAsyncRegression), Contains("updates.exactly_once"));
  EXPECT_THAT(BrokenOn(ops, WorkloadKind::kInputPipeline), Contains("updates.exactly_once"));
  EXPECT_THAT(BrokenOn(ops, WorkloadKind::kSupervisor), Contains("updates.exactly_once"));
}

TEST(WrongServers, OneUpdateOfAllIsDropped) {
  int updates = 0;
  const OpRegistry ops = WithKernel("ApplyGradientDescent", [&updates](const Kernel& right) -> Kernel {
    return [&updates, right](KernelContext& c) -> absl::Status {
      VIGIL_ASSIGN_OR_RETURN(const Variable* const variable, Variable::Of(c));
      if (!c.holder().name.starts_with("ledger_") || ++updates != 20) return right(c);
      c.set_output(0, variable->Read());
      return absl::OkStatus();
    };
  });
  EXPECT_THAT(BrokenOn(ops, WorkloadKind::kAsyncRegression), Contains("updates.as_applied"));
}

TEST(WrongServers, OneUpdateOfAllIsAppliedTwice) {
  int updates = 0;
  const OpRegistry ops = WithKernel("ApplyGradientDescent", [&updates](const Kernel& right) -> Kernel {
    return [&updates, right](KernelContext& c) -> absl::Status {
      VIGIL_RETURN_IF_ERROR(right(c));
      return c.holder().name.starts_with("ledger_") && ++updates == 20 ? right(c) : absl::OkStatus();
    };
  });
  EXPECT_THAT(BrokenOn(ops, WorkloadKind::kAsyncRegression), Contains("updates.as_applied"));
}

TEST(WrongServers, TokensArePutBackTwice) {
  const OpRegistry ops = WithKernel("QueueEnqueueManyV2", [](const Kernel& right) -> Kernel {
    return [right](KernelContext& c) -> absl::Status {
      VIGIL_RETURN_IF_ERROR(right(c));
      return right(c);
    };
  });
  EXPECT_THAT(BrokenOn(ops, WorkloadKind::kSyncRegression), Contains("tokens.conserved"));
}

// Who takes an element gets the one behind it.
TEST(WrongServers, OneElementOfAllIsLost) {
  int taken = 0;
  const OpRegistry ops = WithKernel("QueueDequeueV2", [&taken](const Kernel& right) -> Kernel {
    return [&taken, right](KernelContext& c) -> absl::Status {
      if (++taken == 10) VIGIL_RETURN_IF_ERROR(right(c));
      return right(c);
    };
  });
  EXPECT_THAT(BrokenOn(ops, WorkloadKind::kInputPipeline), Contains("queues.in_order_once"));
}

// The last one is in it once more.
TEST(WrongServers, OneElementOfAllComesTwice) {
  int put = 0;
  const OpRegistry ops = WithKernel("QueueEnqueueV2", [&put](const Kernel& right) -> Kernel {
    return [&put, right](KernelContext& c) -> absl::Status {
      if (++put == 10) VIGIL_RETURN_IF_ERROR(right(c));
      return right(c);
    };
  });
  EXPECT_THAT(BrokenOn(ops, WorkloadKind::kInputPipeline), Contains("queues.in_order_once"));
}

TEST(WrongServers, RightOnesBreakNoRuleWithAnyInput) {
  for (const WorkloadSpec& workload : Pipelines()) {
    EXPECT_THAT(BrokenOn(BuiltinOps(), workload), IsEmpty())
        << workload.shared_input << workload.input_batch << workload.input_rest << workload.shuffled_input
        << workload.staged_input;
  }
}

// Who takes a batch gets the one behind it.
TEST(WrongServers, OneBatchOfAllIsLost) {
  for (const WorkloadSpec& workload : Pipelines()) {
    if (workload.input_batch == 1) continue;
    int taken = 0;
    const OpRegistry ops =
        WithKernel(workload.input_rest ? "QueueDequeueUpToV2" : "QueueDequeueManyV2", [&taken](const Kernel& right) {
          return [&taken, right](KernelContext& c) -> absl::Status {
            if (++taken == 5) VIGIL_RETURN_IF_ERROR(right(c));
            return right(c);
          };
        });
    EXPECT_THAT(BrokenOn(ops, workload), Contains("queues.in_order_once"))
        << workload.shared_input << workload.input_rest << workload.shuffled_input << workload.staged_input;
  }
}

// A step that no gradients were pushed for.
TEST(WrongServers, EachStepCountsTwice) {
  const OpRegistry ops = WithKernel("AssignAdd", [](const Kernel& right) -> Kernel {
    return [right](KernelContext& c) -> absl::Status {
      VIGIL_RETURN_IF_ERROR(right(c));
      return right(c);
    };
  });
  EXPECT_THAT(BrokenOn(ops, WorkloadKind::kSyncRegression), Contains("tokens.conserved"));
}

}  // namespace
}  // namespace vigil::sim

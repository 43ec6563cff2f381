#include "vigil/core/session/session.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "vigil/core/base/atomic.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/session/plan.h"

namespace vigil {
namespace {

struct SessionCounter {
  Atomic<std::int64_t> created{0};
};
constexpr SlotKey<SessionCounter> kSessionCounter{"session counter"};

}  // namespace

class CallableTable {
 public:
  struct Callable {
    RunSpec spec;
    RunOptions options;
  };

  CallableHandle Add(Callable callable) {
    auto shared = std::make_shared<const Callable>(std::move(callable));
    const SpinGuard lock(lock_);
    callables_.emplace(next_, std::move(shared));
    return next_++;
  }
  // Whoever runs it shares it, so that it can be released meanwhile.
  absl::StatusOr<std::shared_ptr<const Callable>> Get(CallableHandle handle) {
    const SpinGuard lock(lock_);
    if (handle < 0 || handle >= next_) return Unknown(handle);
    const auto it = callables_.find(handle);
    if (it != callables_.end()) return it->second;
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("Attempted to run callable after handle was released: {}", handle));
  }
  absl::Status Release(CallableHandle handle) {
    std::shared_ptr<const Callable> released;  // destroyed without the lock
    const SpinGuard lock(lock_);
    if (handle < 0 || handle >= next_) return Unknown(handle);
    if (const auto it = callables_.find(handle); it != callables_.end()) {
      released = std::move(it->second);
      callables_.erase(it);
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status Unknown(CallableHandle handle) {
    return MakeStatus(Code::kInvalidArgument, fmt::format("No such callable handle: {}", handle));
  }

  SpinLock lock_;
  CallableHandle next_ = 0;
  std::map<CallableHandle, std::shared_ptr<const Callable>> callables_;
};

Session::Session() : callables_(std::make_unique<CallableTable>()) {}
Session::~Session() = default;

absl::StatusOr<CallableHandle> Session::MakeCallable(CallableOptions options) {
  if (closed()) return UsageError("Attempted to use a closed Session.");
  VIGIL_RETURN_IF_ERROR(CheckRunOptions(&options.run_options, /*gives_partition_graphs=*/true));
  CallableTable::Callable callable{.spec = {}, .options = std::move(options.run_options)};
  RunSpec& spec = callable.spec;
  const auto add = [&](const std::vector<std::string>& names, std::vector<Output>* outputs) {
    for (const std::string& name : names) {
      if (const std::optional<Output> output = graph().FindOutput(name)) {
        outputs->push_back(*output);
      } else {
        spec.unresolved.push_back(name);
      }
    }
  };
  add(options.feed, &spec.feeds);
  add(options.fetch, &spec.fetches);
  for (const std::string& name : options.target) {
    if (const std::optional<NodeId> node = graph().Find(name)) {
      spec.targets.push_back(*node);
    } else {
      spec.unresolved.push_back(name);
    }
  }
  VIGIL_RETURN_IF_ERROR(FindNeeded(graph(), spec).status());
  return callables_->Add(std::move(callable));
}

absl::Status ClosedMeanwhile() { return MakeStatus(Code::kCancelled, "Session has been closed."); }

absl::Status Session::RunCallable(CallableHandle handle, std::span<const Tensor> feeds, std::vector<Tensor>* fetched,
                                  RunMetadata* metadata) {
  if (closed()) return ClosedMeanwhile();
  VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<const CallableTable::Callable> callable, callables_->Get(handle));
  if (feeds.size() != callable->spec.feeds.size()) {
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("Expected {} feed tensors, but got {}", callable->spec.feeds.size(), feeds.size()));
  }
  return Run({.spec = callable->spec, .feed_values = feeds, .options = &callable->options, .metadata = metadata},
             fetched);
}

absl::Status Session::ReleaseCallable(CallableHandle handle) { return callables_->Release(handle); }

absl::Status Session::PRunSetup(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                                const std::vector<std::string>& /*targets*/, std::string* /*handle*/) {
  return MakeStatus(Code::kUnimplemented,
                    fmt::format("Partial run is not supported for this session (of {} outputs, with {} inputs to come "
                                "one after the other): fetch them in one run, or in several.",
                                outputs.size(), inputs.size()));
}

std::int64_t NextSessionNumber(const Env& env) { return env.process->Slot(kSessionCounter).created.fetch_add(1) + 1; }

absl::StatusOr<std::int64_t> StepOf(const Tensor& fetched) {
  const bool one = fetched.num_elements() == 1;
  if (one && fetched.dtype() == DType::kInt64) return fetched.scalar<std::int64_t>();
  if (one && fetched.dtype() == DType::kInt32) return std::int64_t{fetched.scalar<std::int32_t>()};
  return UsageError(fmt::format("A global step must be one integer, not {}.", fetched.Describe()));
}

absl::StatusOr<Tensor> RunFetch(Session& session, Output fetch) {
  RunSpec spec;
  spec.fetches.push_back(fetch);
  std::vector<Tensor> fetched;
  VIGIL_RETURN_IF_ERROR(session.Run({.spec = spec}, &fetched));
  return std::move(fetched[0]);
}

absl::Status RunTarget(Session& session, NodeId target) {
  RunSpec spec;
  spec.targets.push_back(target);
  std::vector<Tensor> fetched;
  return session.Run({.spec = spec}, &fetched);
}

}  // namespace vigil

// What a kernel sees while it runs: its inputs, its outputs, the session's resources, the process's Env, cancellation.
//
// Thread safety: a context belongs to one run; its kernels run one after the other.
#ifndef VIGIL_CORE_GRAPH_KERNEL_H_
#define VIGIL_CORE_GRAPH_KERNEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/graph/rendezvous.h"
#include "vigil/core/graph/resource.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

// One node's part of a run, laid out by the executor. The arrays live as long as the run.
struct KernelCall {
  const Node* node = nullptr;
  const Kernel* kernel = nullptr;
  const Node* holder = nullptr;           // whose resource is worked on; null if the op takes no reference
  const Tensor* const* inputs = nullptr;  // one each; null for references
  Tensor* outputs = nullptr;
  std::shared_ptr<Resource>* cached = nullptr;  // what resource() found in an earlier run of this call
};

class KernelContext {
 public:
  // Resources of the session alone, and those that it may share with others (often the same).
  KernelContext(const Env& env, const Graph& graph, ResourceManager& own, ResourceManager& shared,
                const Cancellation& cancellation)
      : env_(env), graph_(graph), own_(&own), shared_(&shared), cancellation_(cancellation) {}
  // Of what is computed outside of a run. REQUIRES: no kernel asks for the environment or for a resource.
  explicit KernelContext(const Graph& graph) : graph_(graph), cancellation_(kNeverCancelled) {}

  const Env& env() const { return env_; }
  const Graph& graph() const { return graph_; }
  const Node& node() const { return *call_->node; }
  // Once true it stays so. A kernel that waits looks each time it is woken up, and ends with CANCELLED.
  bool cancelled() const { return cancellation_.cancelled(); }
  // Until when this run may wait, then DEADLINE_EXCEEDED; kNever if it has no timeout.
  Time deadline() const { return deadline_; }
  // CANCELLED or DEADLINE_EXCEEDED if the run is over: for kernels that work for long.
  absl::Status CheckGoesOn() const { return cancelled() || deadline_ != kNever ? WhyOver() : absl::OkStatus(); }
  // Where values go to and come from that cross from one partition of a graph to another; null in a direct session.
  Rendezvous* rendezvous() const { return rendezvous_; }
  // Of which this run is a part; 0 in a direct session.
  std::int64_t step_id() const { return rendezvous_ == nullptr ? 0 : rendezvous_->step_id(); }

  // Calls work(begin, end) for ranges that together are [0, n), by all threads that the process has for one op;
  // without such threads (Env::intra_op) once, here. `cost` and REQUIRES: as ThreadPool::ParallelFor.
  template <typename Work>
  void ParallelFor(std::int64_t n, std::int64_t cost, const Work& work) const {
    if (env_.intra_op == nullptr) {
      work(std::int64_t{0}, n);
    } else {
      env_.intra_op->ParallelFor(n, cost, work);
    }
  }

  int num_inputs() const { return static_cast<int>(node().inputs.size()); }
  // REQUIRES: input i is not a reference.
  const Tensor& input(int i) const { return *call_->inputs[i]; }
  // REQUIRES: 0 <= i < the node's outputs; a value of the type that output_types has promised. A kernel that succeeds
  // has set all of them.
  void set_output(int i, Tensor value) { call_->outputs[i] = std::move(value); }
  // What was set: for who wraps a kernel. REQUIRES: it has succeeded.
  const Tensor& output(int i) const { return call_->outputs[i]; }

  // The session whose own the resource of that node is, on a worker of a cluster; "" elsewhere, or if it is shared.
  const std::string& own_session(const Node& holder) const {
    return own_ != nullptr && holder.IsPerSession() ? own_->session() : kEmpty;
  }

  // The node that stands for the resource: where the op's first reference comes from, or the node itself.
  const Node& holder() const { return *call_->holder; }
  // The resource of that node, by its container and shared_name or name; made by `make` (a shared_ptr<T>()) if there is
  // none (REQUIRES: not null). Lives at least until the run ends. INVALID_ARGUMENT if the node stands for a resource of
  // another kind, or the one of that name does not fit the node.
  template <typename T, typename Make>
  absl::StatusOr<T*> resource(Make make) {
    std::shared_ptr<Resource>& cached = *call_->cached;
    if (cached == nullptr) {
      VIGIL_ASSIGN_OR_RETURN(std::shared_ptr<T> found, ResourceOf<T>(holder(), make));
      cached = std::move(found);
    }
    return static_cast<T*>(cached.get());
  }
  // The node that input i refers to, of an op that takes several references. REQUIRES: input i is one.
  const Node& holder_at(int i) const;
  // As resource(), of that node; looked up each time.
  template <typename T, typename Make>
  absl::StatusOr<std::shared_ptr<T>> resource_at(int i, Make make) {
    return ResourceOf<T>(holder_at(i), make);
  }

  // REQUIRES: the attribute exists with that type (the op's signature has checked it).
  template <typename T>
  const T& attr(std::string_view name) const {
    return std::get<T>(node().attrs.find(name)->second);
  }
  // `missing` also for an attribute of another type, which the op's signature should have refused.
  template <typename T>
  T attr_or(std::string_view name, const T& missing) const {
    return AttrOr(node(), name, missing);
  }
  // Of the node that stands for the resource.
  template <typename T>
  T holder_attr_or(std::string_view name, const T& missing) const {
    return AttrOr(holder(), name, missing);
  }

  // Whether what the kernel is given does not live. (Only that of a _Send is called then.)
  bool is_dead() const { return is_dead_; }

  // For the executor.
  void set_dead(bool dead) { is_dead_ = dead; }
  void Start(Time deadline, Rendezvous* rendezvous = nullptr) {
    deadline_ = deadline;
    rendezvous_ = rendezvous;
  }
  void Enter(const KernelCall& call) { call_ = &call; }

  // An attribute of that node; `missing`, which must outlive the answer, if it has none of that type.
  template <typename T>
  static const T& AttrOr(const Node& node, std::string_view name, const T& missing) {
    const auto it = node.attrs.find(name);
    if (it == node.attrs.end()) return missing;
    const T* const value = std::get_if<T>(&it->second);
    return value == nullptr ? missing : *value;
  }

 private:
  absl::Status WhyOver() const;  // OK: it is not
  static absl::Status CheckKind(const Node& holder, std::string_view wanted);

  template <typename T, typename Make>
  absl::StatusOr<std::shared_ptr<T>> ResourceOf(const Node& holder, Make make) {
    VIGIL_RETURN_IF_ERROR(CheckKind(holder, T::kKind));
    const std::string& shared_name = AttrOr(holder, "shared_name", kEmpty);
    ResourceManager& manager = holder.IsPerSession() ? *own_ : *shared_;
    std::shared_ptr<T> found =
        manager.GetOrCreate<T>(AttrOr(holder, "container", kEmpty), shared_name.empty() ? holder.name : shared_name,
                               [&make] { return make(); });
    VIGIL_RETURN_IF_ERROR(found->Fits(holder));
    return found;
  }

  static inline const std::string kEmpty;
  static inline const Cancellation kNeverCancelled;

  const Env env_;
  const Graph& graph_;
  ResourceManager* const own_ = nullptr;
  ResourceManager* const shared_ = nullptr;
  const Cancellation& cancellation_;
  Time deadline_ = kNever;
  Rendezvous* rendezvous_ = nullptr;
  const KernelCall* call_ = nullptr;
  bool is_dead_ = false;
};

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_KERNEL_H_

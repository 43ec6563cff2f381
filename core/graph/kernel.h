// What a kernel sees while it runs: its inputs, its outputs, the session's resources, the process's Env, cancellation.
//
// Thread safety: a context belongs to one run of one node. Resources are shared by runs: they look after themselves.
#ifndef VIGIL_CORE_GRAPH_KERNEL_H_
#define VIGIL_CORE_GRAPH_KERNEL_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

// State that outlives a run: a variable, a queue, an iterator.
class Resource {
 public:
  virtual ~Resource() = default;
  // Wakes up whoever waits in this resource: their session was closed or their run cancelled.
  virtual void Cancel() {}
};

// Resources by container and name. One for each session, or one that several sessions share.
// Thread safety: safe from any task.
class ResourceManager {
 public:
  explicit ResourceManager(const Env& env);
  ~ResourceManager();
  // The resource of that name, made by `make` if there is none.
  template <typename T>
  std::shared_ptr<T> GetOrCreate(std::string_view container, std::string_view name,
                                 const std::function<std::shared_ptr<T>()>& make) {
    return std::static_pointer_cast<T>(
        Find(container, name, [&make] { return std::static_pointer_cast<Resource>(make()); }));
  }
  void CancelAll();
  // Forgets the resources of a container ("" = all).
  void Reset(std::string_view container);

 private:
  std::shared_ptr<Resource> Find(std::string_view container, std::string_view name,
                                 const std::function<std::shared_ptr<Resource>()>& make);
  std::unique_ptr<Mutex> mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Resource>> resources_;  // guarded by *mutex_
};

// Says whether a run should end early, and wakes up what waits.
class Cancellation {
 public:
  virtual ~Cancellation() = default;
  virtual bool cancelled() const = 0;
};

class KernelContext {
 public:
  KernelContext(const Env& env, const Graph& graph, ResourceManager& resources, const Cancellation& cancellation)
      : env_(env), graph_(graph), resources_(resources), cancellation_(cancellation) {}

  const Env& env() const { return env_; }
  const Graph& graph() const { return graph_; }
  const Node& node() const { return *node_; }
  NodeId node_id() const { return id_; }
  ResourceManager& resources() const { return resources_; }
  const Cancellation& cancellation() const { return cancellation_; }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Tensor& input(int i) const { return *inputs_[static_cast<std::size_t>(i)]; }
  void set_output(int i, Tensor value) { outputs_[i] = std::move(value); }

  // REQUIRES: the attribute exists with that type (the op's signature has checked it).
  template <typename T>
  const T& attr(std::string_view name) const {
    return std::get<T>(node_->attrs.find(name)->second);
  }
  template <typename T>
  T attr_or(std::string_view name, T missing) const {
    const auto it = node_->attrs.find(name);
    return it == node_->attrs.end() ? missing : std::get<T>(it->second);
  }

  // For the executor: moves the context to the next node.
  void Enter(NodeId id, const Node& node, std::vector<const Tensor*>& inputs, Tensor* outputs) {
    id_ = id;
    node_ = &node;
    inputs_.swap(inputs);
    outputs_ = outputs;
  }
  std::vector<const Tensor*>& inputs() { return inputs_; }

 private:
  const Env& env_;
  const Graph& graph_;
  ResourceManager& resources_;
  const Cancellation& cancellation_;
  NodeId id_ = kNoNode;
  const Node* node_ = nullptr;
  std::vector<const Tensor*> inputs_;
  Tensor* outputs_ = nullptr;
};

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_KERNEL_H_

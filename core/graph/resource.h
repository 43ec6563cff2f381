// State that outlives a run (a variable, a queue, an iterator) and where it is kept.
//
// A resource's type T has its own name space:
//   static constexpr std::string_view kKind = "queue";
// Whether sessions share it, its node says (OpDef::per_session).
#ifndef VIGIL_CORE_GRAPH_RESOURCE_H_
#define VIGIL_CORE_GRAPH_RESOURCE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/base/atomic.h"
#include "vigil/core/env/env.h"

namespace vigil {

struct Node;

// Thread safety: runs share resources; each looks after itself.
class Resource {
 public:
  virtual ~Resource() = default;
  // INVALID_ARGUMENT if the node, which has the resource's name, cannot stand for it: it promises other types. Asked
  // before a kernel of a run gets the resource by way of that node for the first time.
  virtual absl::Status Fits(const Node& /*holder*/) const { return absl::OkStatus(); }
  // Wakes up whoever waits in this resource, to look whether its run was cancelled. Must not wait itself.
  virtual void Cancel() {}
  // How many stand in its lines: who waits in it, or is just being served. Takes no lock.
  virtual std::size_t in_line() const { return 0; }
};

// Resources by container and name. One for each session, or one that several sessions share.
// Thread safety: safe from any task.
class ResourceManager {
 public:
  // `session`: whose alone they are, in a cluster; "" where nobody asks.
  explicit ResourceManager(const Env& env, std::string session = "");
  ~ResourceManager();
  // The resource of that name, made by `make` if there is none; never null if `make` gives none. `make` may run in vain
  // when two tasks come at once, and may ask for resources itself.
  template <typename T>
  std::shared_ptr<T> GetOrCreate(std::string_view container, std::string_view name,
                                 const std::function<std::shared_ptr<T>()>& make) {
    return std::static_pointer_cast<T>(Find(T::kKind, container, name, make));
  }
  const std::string& session() const { return session_; }
  // Resource::Cancel of each; does not wait. Who comes later is not told: their run looks at its Cancellation.
  void CancelAll();
  // Forgets the resources of a container ("" = all). Runs that have one keep it until they end: CancelAll wakes up who
  // waits in it, too.
  void Reset(std::string_view container);
  // Resource::in_line of all, also of those that it has forgotten.
  std::size_t InLine() const;
  // Counts the resets: what was looked up before the last one must be looked up again.
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // container, kind, name
  using KeyView = std::tuple<std::string_view, std::string_view, std::string_view>;
  struct Less {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const { return KeyView(a) < KeyView(b); }
  };

  std::shared_ptr<Resource> Find(std::string_view kind, std::string_view container, std::string_view name,
                                 const std::function<std::shared_ptr<Resource>()>& make);

  // Also the forgotten ones that somebody has. REQUIRES: *mutex_ is held.
  std::vector<std::shared_ptr<Resource>> All() const;

  const std::string session_;
  const std::unique_ptr<Mutex> mutex_;
  // Guarded by *mutex_.
  std::map<Key, std::shared_ptr<Resource>, Less> resources_;
  std::vector<std::weak_ptr<Resource>> forgotten_;  // which runs may still have, and wait in
  Atomic<std::uint64_t> generation_{0};
};

// Tells runs that they should end early. Who sets it also wakes up what waits (ResourceManager::CancelAll).
// Thread safety: safe from any task.
class Cancellation {
 public:
  void Cancel() { cancelled_.store(true, std::memory_order_release); }
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }

 private:
  Atomic<bool> cancelled_{false};
};

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_RESOURCE_H_

// The graphs that a task was given, by what they are: who comes with the same again gets it as it is, with its plans.
//
// A graph that somebody uses is found in any case; of the others the latest are kept, since a session that is given up
// is followed by one that asks for the same. Not those that keep something for their session: they go with it.
// Thread safety: safe from any task.
#ifndef VIGIL_CORE_CLUSTER_WORKER_GRAPH_CACHE_H_
#define VIGIL_CORE_CLUSTER_WORKER_GRAPH_CACHE_H_

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "vigil/core/base/spin_lock.h"
#include "vigil/core/base/time.h"
#include "vigil/core/cluster/worker/registered_graph.h"

namespace vigil {

class GraphCache {
 public:
  static constexpr std::size_t kMostKept = 256;

  // `bytes`: its GraphDef; `keepalive`: as SessionConfig's; `session`: for whom, which matters where the graph keeps
  // something for its session alone. Null: it must be made.
  std::shared_ptr<RegisteredGraph> Find(std::string_view bytes, Duration keepalive, std::string_view session);
  // The graph, or one of the same kind that was added meanwhile.
  std::shared_ptr<RegisteredGraph> Add(std::string_view bytes, Duration keepalive, std::string_view session,
                                       std::shared_ptr<RegisteredGraph> graph);
  // It is one of the latest. Not one that keeps something for its session, with which it goes.
  void Keep(std::shared_ptr<RegisteredGraph> graph);
  // Those that nobody uses go, and with them what their last runs had in hand.
  void Drop();

 private:
  // The length first: it tells most of them apart. The session last; none: of all that come.
  using Key = std::tuple<std::size_t, std::string, Duration, std::optional<std::string>>;
  using KeyView = std::tuple<std::size_t, std::string_view, Duration, std::optional<std::string_view>>;
  struct Less {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const { return KeyView(a) < KeyView(b); }
  };

  SpinLock lock_;
  // Guarded by lock_.
  std::map<Key, std::weak_ptr<RegisteredGraph>, Less> graphs_;
  std::size_t sweep_at_ = kMostKept;                   // then those that are gone are looked for
  std::deque<std::shared_ptr<RegisteredGraph>> kept_;  // the latest last
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_WORKER_GRAPH_CACHE_H_

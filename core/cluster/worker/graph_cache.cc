#include "vigil/core/cluster/worker/graph_cache.h"

#include <algorithm>
#include <utility>

namespace vigil {

std::shared_ptr<RegisteredGraph> GraphCache::Find(std::string_view bytes, Duration keepalive,
                                                  std::string_view session) {
  SpinGuard lock(lock_);
  for (const std::optional<std::string_view> whose : {std::optional<std::string_view>(), std::optional(session)}) {
    const auto it = graphs_.find(KeyView(bytes.size(), bytes, keepalive, whose));
    if (it == graphs_.end()) continue;
    if (std::shared_ptr<RegisteredGraph> graph = it->second.lock(); graph != nullptr) return graph;
  }
  return nullptr;
}

std::shared_ptr<RegisteredGraph> GraphCache::Add(std::string_view bytes, Duration keepalive, std::string_view session,
                                                 std::shared_ptr<RegisteredGraph> graph) {
  SpinGuard lock(lock_);
  // Those of sessions that are over are not come for again.
  if (graph->has_own() || graphs_.size() >= sweep_at_) {
    std::erase_if(graphs_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max(kMostKept, 2 * graphs_.size());
  }
  const auto whose = graph->has_own() ? std::optional<std::string>(session) : std::nullopt;
  std::weak_ptr<RegisteredGraph>& known = graphs_[Key(bytes.size(), bytes, keepalive, whose)];
  if (std::shared_ptr<RegisteredGraph> other = known.lock()) return other;
  known = graph;
  return graph;
}

void GraphCache::Keep(std::shared_ptr<RegisteredGraph> graph) {
  if (graph->has_own()) return;
  std::shared_ptr<RegisteredGraph> oldest;  // destroyed after the lock is released
  SpinGuard lock(lock_);
  kept_.push_back(std::move(graph));
  if (kept_.size() <= kMostKept) return;
  oldest = std::move(kept_.front());
  kept_.pop_front();
}

void GraphCache::Drop() {
  std::deque<std::shared_ptr<RegisteredGraph>> dropped;  // destroyed after the lock is released
  SpinGuard lock(lock_);
  dropped.swap(kept_);
}

}  // namespace vigil

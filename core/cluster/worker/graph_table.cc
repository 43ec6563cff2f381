#include "vigil/core/cluster/worker/graph_table.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/task_start.h"
#include "vigil/core/cluster/wire.h"

namespace vigil {

absl::Status NoSuchGraph(const std::string& handle) {
  return MakeStatus(Code::kAborted,
                    fmt::format("Graph handle is not found: {}. Possibly, this worker just restarted.", handle));
}

template <typename Is>
GraphTable::Graphs GraphTable::TakeIf(Is is) {
  Graphs taken;
  for (auto it = graphs_.begin(); it != graphs_.end();) {
    const auto next = std::next(it);
    if (is(it->second)) taken.insert(graphs_.extract(it));
    it = next;
  }
  return taken;
}

absl::StatusOr<std::uint64_t> GraphTable::Add(std::int64_t id, std::shared_ptr<RegisteredGraph> graph,
                                              const Master& who) {
  const std::string handle = GraphHandle(id);
  Graphs dropped;  // destroyed after the lock is released
  std::uint64_t before = 0;
  SpinGuard lock(lock_);
  if (taken_out_.Contains(id)) {
    return MakeStatus(Code::kCancelled, fmt::format("Graph {} was deregistered already.", handle));
  }
  const auto opened = who.incarnation == 0 ? opened_.find(who.session) : opened_.end();
  const Master& master = opened == opened_.end() ? who : opened->second;
  if (who.opened && opened == opened_.end())
    return MakeStatus(
        Code::kAborted,
        fmt::format("Session handle is not found: {}. Possibly, this worker just restarted.", who.session));
  if (master.incarnation != 0) {
    if (IsFollowed(master)) {
      return WasFollowed(
          fmt::format("Graph {} comes from a process of {} that was restarted since.", handle, master.task));
    }
    before = Follow(master, &dropped);
  }
  // What is not taken is destroyed after the lock is released.
  if (graphs_.contains(handle)) return before;
  graphs_.emplace(handle, Entry{std::move(graph), master.incarnation, master.session});
  return before;
}

std::uint64_t GraphTable::Note(const Master& master) {
  Graphs dropped;  // destroyed after the lock is released
  SpinGuard lock(lock_);
  return master.incarnation == 0 || IsFollowed(master) ? 0 : Follow(master, &dropped);
}

absl::StatusOr<std::uint64_t> GraphTable::OpenSession(const Master& master) {
  Graphs dropped;  // destroyed after the lock is released
  SpinGuard lock(lock_);
  if (master.incarnation != 0 && IsFollowed(master)) {
    return WasFollowed(
        fmt::format("Session {} is of a process of {} that was restarted since.", master.session, master.task));
  }
  const std::uint64_t before = master.incarnation == 0 ? 0 : Follow(master, &dropped);
  opened_.insert_or_assign(master.session, master);
  return before;
}

bool GraphTable::CloseSession(const std::string& session) {
  Graphs dropped;  // destroyed after the lock is released
  SpinGuard lock(lock_);
  dropped = TakeIf([&session](const Entry& entry) { return entry.session == session; });
  return opened_.erase(session) > 0;
}

bool GraphTable::HasSession(const std::string& session) const {
  SpinGuard lock(lock_);
  return opened_.contains(session);
}

std::uint64_t GraphTable::Follow(const Master& master, Graphs* dropped) {
  Newest& newest = masters_[master.task];
  const Newest earlier = std::exchange(newest, {master.incarnation, master.start});
  if (earlier.incarnation == 0 || earlier.incarnation == master.incarnation) return 0;
  *dropped = TakeAllOf(earlier.incarnation);
  followed_.Add(static_cast<std::int64_t>(earlier.incarnation));
  return earlier.incarnation;
}

bool GraphTable::IsFollowed(const Master& master) const {
  if (followed_.Contains(static_cast<std::int64_t>(master.incarnation))) return true;
  const auto newest = masters_.find(master.task);
  return newest != masters_.end() && master.start != 0 && master.start < newest->second.start;
}

GraphTable::Graphs GraphTable::TakeAllOf(std::uint64_t incarnation) {
  std::erase_if(opened_, [incarnation](const auto& opened) { return opened.second.incarnation == incarnation; });
  return TakeIf([incarnation](const Entry& entry) { return entry.incarnation == incarnation; });
}

bool GraphTable::HasFollowed(std::uint64_t incarnation) const {
  SpinGuard lock(lock_);
  return incarnation != 0 && followed_.Contains(static_cast<std::int64_t>(incarnation));
}

absl::StatusOr<GraphTable::Entry> GraphTable::Find(const std::string& handle) const {
  SpinGuard lock(lock_);
  if (const auto it = graphs_.find(handle); it != graphs_.end()) return it->second;
  return NoSuchGraph(handle);
}

std::shared_ptr<RegisteredGraph> GraphTable::TakeOut(const std::string& handle) {
  SpinGuard lock(lock_);
  std::shared_ptr<RegisteredGraph> graph;
  if (const auto it = graphs_.find(handle); it != graphs_.end()) {
    graph = std::move(it->second.graph);
    graphs_.erase(it);
  }
  // It may still be on its way, or come once more.
  if (const std::int64_t id = GraphIdOf(handle); id != 0) taken_out_.Add(id);
  return graph;
}

std::size_t GraphTable::size() const {
  SpinGuard lock(lock_);
  return graphs_.size();
}

std::map<std::string, std::uint64_t> GraphTable::Sessions() const {
  std::map<std::string, std::uint64_t> sessions;
  SpinGuard lock(lock_);
  for (const auto& [handle, entry] : graphs_) sessions[entry.session] = entry.incarnation;
  return sessions;
}

}  // namespace vigil

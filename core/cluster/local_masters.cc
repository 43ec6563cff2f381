#include "vigil/core/cluster/local_masters.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace vigil {
namespace {

constexpr SlotKey<LocalMasters> kLocalMasters{"masters"};

bool HasTaskAt(const ClusterSpec& cluster, std::string_view target) {
  constexpr std::string_view kGrpc = "grpc://";
  if (!target.starts_with(kGrpc)) return false;
  const std::string_view address = target.substr(kGrpc.size());
  return std::ranges::any_of(cluster.AsClusterDef().job(), [address](const proto::JobDef& job) {
    return std::ranges::any_of(job.tasks(), [address](const auto& task) { return task.second == address; });
  });
}

}  // namespace

void LocalMasters::Add(const std::string& target, std::weak_ptr<MasterInterface> master, ClusterSpec cluster,
                       TaskStart own) {
  SpinGuard lock(lock_);
  masters_[target] = {std::move(master), std::move(cluster), std::move(own)};
}

void LocalMasters::Remove(const std::string& target) {
  SpinGuard lock(lock_);
  masters_.erase(target);
}

std::shared_ptr<MasterInterface> LocalMasters::Find(const std::string& target) {
  SpinGuard lock(lock_);
  const auto it = masters_.find(target);
  return it == masters_.end() ? nullptr : it->second.master.lock();
}

std::optional<std::string> LocalMasters::AddressOf(const std::string& target, const std::string& job, int task) {
  SpinGuard lock(lock_);
  auto it = masters_.find(target);
  if (it == masters_.end()) {
    it = std::ranges::find_if(masters_, [&target](const auto& own) { return HasTaskAt(own.second.cluster, target); });
  }
  if (it == masters_.end()) return std::nullopt;
  const absl::StatusOr<std::string> address = it->second.cluster.task_address(job, task);
  return address.ok() ? std::optional(*address) : std::nullopt;
}

std::optional<TaskStart> LocalMasters::OwnStart(const std::string& target) {
  SpinGuard lock(lock_);
  std::optional<TaskStart> found;
  for (const auto& [name, entry] : masters_) {
    if (!HasTaskAt(entry.cluster, target)) continue;
    if (found.has_value() || entry.own.number == 0) return std::nullopt;
    found = entry.own;
  }
  return found;
}

LocalMasters& LocalMastersOf(const Env& env) { return env.process->Slot(kLocalMasters); }

}  // namespace vigil

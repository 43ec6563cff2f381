#include "vigil/core/cluster/local_masters.h"

#include <utility>

#include "absl/status/statusor.h"

namespace vigil {
namespace {

constexpr SlotKey<LocalMasters> kLocalMasters{"masters"};

}  // namespace

void LocalMasters::Add(const std::string& target, std::weak_ptr<MasterInterface> master, ClusterSpec cluster) {
  SpinGuard lock(lock_);
  masters_[target] = {std::move(master), std::move(cluster)};
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
  const auto it = masters_.find(target);
  if (it == masters_.end()) return std::nullopt;
  const absl::StatusOr<std::string> address = it->second.cluster.task_address(job, task);
  return address.ok() ? std::optional(*address) : std::nullopt;
}

LocalMasters& LocalMastersOf(const Env& env) { return env.process->Slot(kLocalMasters); }

}  // namespace vigil

#include "vigil/core/cluster/worker/rendezvous_mgr.h"

#include "vigil/core/base/check.h"

namespace vigil {
namespace {

constexpr std::size_t kMostIdle = 16;
// A step that fails is rare, and what it overtakes is under way at that moment.
constexpr std::size_t kMostFailed = 64;

}  // namespace

RendezvousMgr::RendezvousMgr(const Env& env) : env_(env), mutex_(env.tasks->NewMutex("steps")) {}

RendezvousMgr::Lease RendezvousMgr::Enter(std::int64_t step_id, std::uint64_t master) {
  MutexLock lock(*mutex_);
  if (const auto it = steps_.find(step_id); it != steps_.end()) {
    ++it->second.users;
    if (master != 0) it->second.master = master;
    return {this, it->second.state};
  }
  if (over_.Contains(step_id)) return {this, WhyOver(step_id)};
  std::shared_ptr<StepRendezvous> state;
  // One that a late callback of the network still holds is not taken.
  if (!idle_.empty() && idle_.back().use_count() == 1) state = std::move(idle_.back());
  if (!idle_.empty()) idle_.pop_back();
  if (state == nullptr) state = std::make_shared<StepRendezvous>(env_);
  state->Reuse(step_id);
  steps_.emplace(step_id, Entry{state, 1, master});
  return {this, std::move(state)};
}

void RendezvousMgr::Leave(std::shared_ptr<StepRendezvous> state) {
  std::shared_ptr<StepRendezvous> dropped;  // destroyed after the lock is released
  MutexLock lock(*mutex_);
  const auto it = steps_.find(state->step_id());
  if (it == steps_.end() || it->second.state != state) return;
  VIGIL_CHECK(it->second.users > 0);
  if (--it->second.users > 0 || !state->over()) return;
  if (state->spent()) over_.Add(state->step_id());
  absl::Status why = state->aborted();
  const bool failed = !why.ok();
  if (failed) {
    if (failed_.size() == kMostFailed) failed_.pop_front();
    failed_.emplace_back(state->step_id(), std::move(why));
  }
  steps_.erase(it);
  // One that failed may have values that nobody has taken.
  if (idle_.size() < kMostIdle && !failed) {
    idle_.push_back(std::move(state));
  } else {
    dropped = std::move(state);
  }
}

absl::Status RendezvousMgr::WhyOver(std::int64_t step_id) const {
  for (const auto& [step, why] : failed_) {
    if (step == step_id) return why;
  }
  return absl::OkStatus();
}

void RendezvousMgr::End(std::int64_t step_id, const absl::Status& why) {
  // Held until the step is aborted: another who leaves before that would find it neither over nor his to drop.
  const Lease lease = [&]() -> Lease {
    MutexLock lock(*mutex_);
    over_.Add(step_id);
    const auto it = steps_.find(step_id);
    if (it == steps_.end()) return {this, std::shared_ptr<StepRendezvous>()};
    ++it->second.users;
    return {this, it->second.state};
  }();
  if (lease) lease->Abort(why);
}

std::vector<std::int64_t> RendezvousMgr::StepsOf(std::uint64_t master) const {
  std::vector<std::int64_t> steps;
  MutexLock lock(*mutex_);
  for (const auto& [step, entry] : steps_) {
    if (master == 0 || entry.master == master) steps.push_back(step);
  }
  return steps;
}

void RendezvousMgr::EndAll(const absl::Status& why) {
  for (const std::int64_t step : StepsOf(0)) End(step, why);
}

void RendezvousMgr::EndAllOf(std::uint64_t master, const absl::Status& why) {
  VIGIL_CHECK(master != 0);
  for (const std::int64_t step : StepsOf(master)) End(step, why);
}

std::set<std::uint64_t> RendezvousMgr::Masters() const {
  std::set<std::uint64_t> masters;
  MutexLock lock(*mutex_);
  for (const auto& [step, entry] : steps_) {
    if (entry.master != 0 && entry.users > 0) masters.insert(entry.master);
  }
  return masters;
}

std::size_t RendezvousMgr::size() const {
  MutexLock lock(*mutex_);
  return steps_.size();
}

}  // namespace vigil

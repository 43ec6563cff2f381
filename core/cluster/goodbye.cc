#include "vigil/core/cluster/goodbye.h"

#include <utility>

#include "vigil/core/cluster/step_errors.h"

namespace vigil {
namespace {

constexpr int kGoodbyes = 3;
constexpr Duration kTimeout = std::chrono::seconds(10);  // of each

void Say(const Env& env, NetworkRequest request, const std::shared_ptr<OwedGoodbyes>& owed, int times) {
  request.deadline = DeadlineAfter(env, kTimeout);
  env.network->Start(request, [env, request, owed, times](const NetworkReply& reply) {
    const bool lost = IsLost(reply.status());
    if (lost && times > 1) return Say(env, request, owed, times - 1);
    if (lost && owed != nullptr) owed->Add(request);
  });
}

}  // namespace

void OwedGoodbyes::Add(NetworkRequest request) {
  SpinGuard lock(lock_);
  std::deque<NetworkRequest>& owed = owed_[request.to];
  if (owed.size() == kMost) owed.pop_front();
  owed.push_back(std::move(request));
  any_.store(true);
}

void OwedGoodbyes::HeardOf(const Env& env, const std::string& address) {
  if (!any_.load()) return;
  std::deque<NetworkRequest> owed;
  {
    SpinGuard lock(lock_);
    const auto it = owed_.find(address);
    if (it == owed_.end()) return;
    owed = std::move(it->second);
    owed_.erase(it);
    any_.store(!owed_.empty());
  }
  for (NetworkRequest& request : owed) SayGoodbye(env, std::move(request), shared_from_this());
}

std::size_t OwedGoodbyes::size() const {
  std::size_t size = 0;
  SpinGuard lock(lock_);
  for (const auto& [address, owed] : owed_) size += owed.size();
  return size;
}

void SayGoodbye(const Env& env, NetworkRequest request, std::shared_ptr<OwedGoodbyes> owed) {
  Say(env, std::move(request), owed, kGoodbyes);
}

void SayGoodbyeOnce(const Env& env, NetworkRequest request) { Say(env, std::move(request), nullptr, 1); }

}  // namespace vigil

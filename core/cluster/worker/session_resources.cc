#include "vigil/core/cluster/worker/session_resources.h"

#include <algorithm>
#include <utility>

namespace vigil {

std::shared_ptr<ResourceManager> SessionResources::Of(const std::string& session) {
  auto made = std::make_shared<ResourceManager>(env_, session);  // not under the lock: it asks the environment
  SpinGuard lock(lock_);
  std::erase_if(sessions_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<ResourceManager>& known = sessions_[session];
  if (std::shared_ptr<ResourceManager> there = known.lock()) return there;
  known = made;
  return made;
}

std::size_t SessionResources::size() const {
  SpinGuard lock(lock_);
  return static_cast<std::size_t>(
      std::ranges::count_if(sessions_, [](const auto& entry) { return !entry.second.expired(); }));
}

std::vector<std::shared_ptr<ResourceManager>> SessionResources::All() const {
  std::vector<std::shared_ptr<ResourceManager>> all;
  SpinGuard lock(lock_);
  for (const auto& [session, resources] : sessions_) {
    if (std::shared_ptr<ResourceManager> there = resources.lock()) all.push_back(std::move(there));
  }
  return all;
}

std::size_t SessionResources::InLine() const {
  std::size_t in_line = 0;
  for (const std::shared_ptr<ResourceManager>& resources : All()) in_line += resources->InLine();
  return in_line;
}

void SessionResources::CancelAll() {
  for (const std::shared_ptr<ResourceManager>& resources : All()) resources->CancelAll();
}

void SessionResources::Reset(const std::string& container) {
  for (const std::shared_ptr<ResourceManager>& resources : All()) resources->Reset(container);
}

}  // namespace vigil

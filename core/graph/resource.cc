#include "vigil/core/graph/resource.h"

#include <utility>
#include <vector>

namespace vigil {

ResourceManager::ResourceManager(const Env& env, std::string session)
    : session_(std::move(session)), mutex_(env.tasks->NewMutex("resources")) {}
ResourceManager::~ResourceManager() = default;

std::shared_ptr<Resource> ResourceManager::Find(std::string_view kind, std::string_view container,
                                                std::string_view name,
                                                const std::function<std::shared_ptr<Resource>()>& make) {
  const KeyView key(container, kind, name);
  {
    MutexLock lock(*mutex_);
    if (const auto it = resources_.find(key); it != resources_.end()) return it->second;
  }
  std::shared_ptr<Resource> made = make();  // not under the lock: it may ask for resources itself
  MutexLock lock(*mutex_);
  return resources_.try_emplace(Key(container, kind, name), std::move(made)).first->second;
}

std::vector<std::shared_ptr<Resource>> ResourceManager::All() const {
  std::vector<std::shared_ptr<Resource>> all;
  all.reserve(resources_.size() + forgotten_.size());
  for (const auto& [key, resource] : resources_) all.push_back(resource);
  for (const std::weak_ptr<Resource>& resource : forgotten_) {
    if (std::shared_ptr<Resource> used = resource.lock()) all.push_back(std::move(used));
  }
  return all;
}

void ResourceManager::CancelAll() {
  std::vector<std::shared_ptr<Resource>> all;
  {
    MutexLock lock(*mutex_);
    std::erase_if(forgotten_, [](const auto& resource) { return resource.expired(); });
    all = All();
  }
  for (const std::shared_ptr<Resource>& resource : all) resource->Cancel();
}

std::size_t ResourceManager::InLine() const {
  std::vector<std::shared_ptr<Resource>> all;  // destroyed after the lock is released
  {
    MutexLock lock(*mutex_);
    all = All();
  }
  std::size_t in_line = 0;
  for (const std::shared_ptr<Resource>& resource : all) in_line += resource->in_line();
  return in_line;
}

void ResourceManager::Reset(std::string_view container) {
  std::vector<std::shared_ptr<Resource>> dropped;  // destroyed after the lock is released
  MutexLock lock(*mutex_);
  std::erase_if(forgotten_, [](const auto& resource) { return resource.expired(); });
  for (auto it = resources_.begin(); it != resources_.end();) {
    if (!container.empty() && std::get<0>(it->first) != container) {
      ++it;
      continue;
    }
    forgotten_.push_back(it->second);
    dropped.push_back(std::move(it->second));
    it = resources_.erase(it);
  }
  generation_.fetch_add(1, std::memory_order_release);
}

}  // namespace vigil

#include "vigil/properties/model/directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace vigil::properties::model {
namespace {

constexpr std::size_t kKept = 5;

}  // namespace

Directory::Directory(const replays::CheckpointSpec& spec, bool limits_hold) : limits_hold_(limits_hold) {
  if (spec.preload.empty()) {
    if (spec.damage == replays::Damage::kEmptyState) state_ = State::kInvalid;
    if (spec.damage == replays::Damage::kGarbageState) state_ = State::kGarbage;
    return;
  }
  const auto keep = static_cast<std::size_t>(spec.preload_keep.value_or(kKept));
  for (const std::int64_t step : spec.preload) {
    std::erase(all_, step);
    all_.push_back(step);
    if (all_.size() > keep && keep > 0) all_.erase(all_.begin());
  }
  for (const std::int64_t step : all_) files_[step] = {.step = step, .whole = false};
  if (keep == 0) all_ = {all_.back()};  // then all are kept, and the state file names the newest alone
  state_ = State::kNamesCheckpoints;
  switch (spec.damage) {
    case replays::Damage::kNone:
      break;
    case replays::Damage::kEmptyState:
      state_ = State::kInvalid;
      break;
    case replays::Damage::kGarbageState:
      state_ = State::kGarbage;
      break;
    case replays::Damage::kMissingState:
      state_ = State::kNone;
      break;
    case replays::Damage::kMissingIndex:
      files_[spec.preload.back()].index = false;
      break;
    case replays::Damage::kMissingData:
      files_[spec.preload.back()].data = false;
      break;
  }
}

bool Directory::HasIndex(std::int64_t step) const {
  const auto found = files_.find(step);
  return found != files_.end() && found->second.index;
}

std::vector<std::int64_t> Directory::NewestFirst() const {
  if (state_ == State::kNone) return {};
  std::vector<std::int64_t> names;
  if (state_ == State::kNamesCheckpoints) {
    names = all_;
  } else {
    for (const auto& [name, file] : files_) {
      if (file.index) names.push_back(name);
    }
  }
  std::ranges::reverse(names);
  return names;
}

std::string Directory::DamageOf(std::int64_t name) const {
  const auto found = files_.find(name);
  const auto missing = [name](std::string_view part) {
    return fmt::format("open DIR/model.ckpt-{}.{}: no such file or directory", name, part);
  };
  if (found == files_.end() || !found->second.index) return missing("index");
  return found->second.data ? "" : missing("data-00000-of-00001");
}

Code Directory::Restore(std::int64_t name, bool global_step_alone, std::int64_t& step) const {
  const File& file = files_.at(name);
  if (!file.data || (!file.whole && !global_step_alone)) return Code::kNotFound;
  step = file.step;
  return Code::kOk;
}

void Directory::Write(std::int64_t name, std::int64_t step) { files_[name] = {.step = step}; }

void Directory::Record(std::int64_t name) {
  if (limits_hold_) return RecordWithinLimits(name);
  std::erase(last_, name);
  last_.push_back(name);
  std::int64_t too_old = -1;
  if (last_.size() > kKept) {
    too_old = last_.front();
    last_.erase(last_.begin());
  }
  state_ = State::kNamesCheckpoints;
  all_ = last_;
  if (too_old >= 0) files_.erase(too_old);
}

void Directory::RecordWithinLimits(std::int64_t name) {
  if (!std::exchange(taken_over_, true) && !restored_ && state_ == State::kNamesCheckpoints) {
    for (const std::int64_t step : all_) {
      if (HasIndex(step) && step != name) last_.push_back(step);
    }
  }
  std::erase(last_, name);
  last_.push_back(name);
  while (last_.size() > kKept) {
    files_.erase(last_.front());
    last_.erase(last_.begin());
  }
  state_ = State::kNamesCheckpoints;
  all_ = last_;
}

void Directory::RecoverLast(std::int64_t name) {
  restored_ = true;
  last_ = state_ == State::kNamesCheckpoints ? NewestFirst() : std::vector<std::int64_t>{name};
  std::ranges::reverse(last_);
  std::erase_if(last_, [this](std::int64_t step) { return !HasIndex(step); });
}

replays::FinalState Directory::Final() const {
  const auto name = [](std::int64_t step) { return fmt::format("model.ckpt-{}", step); };
  replays::FinalState final;
  for (const auto& [step, file] : files_) {
    if (file.index) final.checkpoints.push_back(step);
  }
  if (state_ == State::kInvalid) final.latest = "invalid";
  if (state_ != State::kNamesCheckpoints) return final;
  final.latest = name(all_.back());
  final.all.emplace();
  for (const std::int64_t step : all_) final.all->push_back(name(step));
  return final;
}

}  // namespace vigil::properties::model

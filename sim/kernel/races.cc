// Each step has a clock: of each task the last step that happens before it or is it. Those of objects are the last
// change and the looks since.
#include "vigil/sim/kernel/races.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "vigil/sim/kernel/vector_clock.h"

namespace vigil::sim {
namespace {

class Analysis {
 public:
  Analysis(std::span<const Step> steps, const std::function<Obstacle(std::size_t, std::size_t)>& obstacle)
      : steps_(steps), obstacle_(obstacle) {
    for (const Step& step : steps) tasks_ = std::max(tasks_, step.task + 1);
    last_of_.assign(tasks_, Step::kNone);
  }

  std::vector<Race> Run() {
    std::vector<std::set<std::size_t>> conflicting;
    for (std::size_t k = 0; k < steps_.size(); ++k) conflicting.push_back(Order(k));
    for (std::size_t k = 0; k < steps_.size(); ++k) FindRaces(k, conflicting[k]);
    return std::move(races_);
  }

 private:
  bool Before(std::size_t first, const VectorClock& clock) const { return clock[steps_[first].task] > first; }

  // The clocks of step k; returns earlier ones that conflict with it, by the last change of each object and the looks
  // since.
  std::set<std::size_t> Order(std::size_t k) {
    const Step& step = steps_[k];
    VectorClock known(tasks_);  // whatever the schedule
    if (last_of_[step.task] != Step::kNone) Join(known, clocks_[last_of_[step.task]]);
    for (const std::size_t waker : step.wakers) {
      if (waker < k) Join(known, clocks_[waker]);
    }
    std::set<std::size_t> conflicting;
    if (step.footprint.everything) {
      for (std::size_t i = 0; i < k; ++i) conflicting.insert(i);
    } else if (!step.footprint.empty()) {
      conflicting.insert(of_everything_.begin(), of_everything_.end());
    }
    for (const Touch& touch : step.footprint.touches) Meet(touch, k, conflicting);
    if (step.footprint.everything) of_everything_.push_back(k);
    VectorClock clock = known;
    for (const std::size_t other : conflicting) Join(clock, clocks_[other]);
    clock[step.task] = k + 1;
    known_.push_back(std::move(known));
    clocks_.push_back(std::move(clock));
    last_of_[step.task] = k;
    return conflicting;
  }

  void Meet(const Touch& touch, std::size_t k, std::set<std::size_t>& conflicting) {
    Object& object = objects_[touch.object];
    // A change comes after each look since the last one; behind a change only it is near.
    conflicting.insert(object.changes.begin(), object.changes.end());
    if (touch.write) {
      conflicting.insert(object.looks.begin(), object.looks.end());
      object.changes.push_back(k);
    } else {
      object.looks.push_back(k);
    }
  }

  void FindRaces(std::size_t k, const std::set<std::size_t>& conflicting) {
    const std::size_t task = steps_[k].task;
    std::vector<std::pair<std::size_t, Obstacle>> candidates;
    for (const std::size_t e : conflicting) {
      if (steps_[e].task == task || Before(e, known_[k])) continue;
      const Obstacle obstacle = obstacle_(e, task);
      if (obstacle != Obstacle::kHeldByFirst) candidates.emplace_back(e, obstacle);
    }
    for (const auto& [e, unused] : candidates) {
      // With another in between it is that one's turn first.
      const auto between = [&, e = e](const auto& other) {
        return other.first != e && other.second == Obstacle::kNone && Before(e, clocks_[other.first]);
      };
      if (std::ranges::none_of(candidates, between)) races_.push_back({e, k, Initials(e, k)});
    }
  }

  std::vector<std::size_t> Initials(std::size_t e, std::size_t k) const {
    std::vector<std::size_t> unrelated;  // to e, behind it
    std::vector<std::size_t> initials;
    std::vector<bool> seen(tasks_);
    const auto look = [&](std::size_t x) {
      const std::size_t task = steps_[x].task;
      if (seen[task]) return;
      seen[task] = true;
      const auto before = [&](std::size_t y) { return Before(y, clocks_[x]); };
      if (std::ranges::none_of(unrelated, before)) initials.push_back(task);
    };
    for (std::size_t x = e + 1; x < steps_.size(); ++x) {
      if (Before(e, clocks_[x])) continue;
      look(x);
      unrelated.push_back(x);
    }
    // What the second touches when it comes first need not be what it touched here.
    if (unrelated.empty()) initials.push_back(steps_[k].task);
    return initials;
  }

  struct Object {
    std::vector<std::size_t> changes;
    std::vector<std::size_t> looks;
  };

  const std::span<const Step> steps_;
  const std::function<Obstacle(std::size_t, std::size_t)>& obstacle_;
  std::size_t tasks_ = 0;
  std::vector<std::size_t> last_of_;  // by task
  std::map<ObjectId, Object> objects_;
  std::vector<std::size_t> of_everything_;
  // By task: the number of a step in the run, plus 1.
  std::vector<VectorClock> known_;   // by step: without its own conflicts
  std::vector<VectorClock> clocks_;  // with them
  std::vector<Race> races_;
};

}  // namespace

std::vector<Race> RacesOf(std::span<const Step> steps,
                          const std::function<Obstacle(std::size_t first, std::size_t task)>& obstacle) {
  return Analysis(steps, obstacle).Run();
}

}  // namespace vigil::sim

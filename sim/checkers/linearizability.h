// Whether operations that overlapped can have happened one after the other: a bounded search for an order.
//
// As Wing and Gong, and Lowe, do it, with all orders side by side: what is known are the configurations that the past
// allows, each a state and which of those under way have happened in it. An operation that returns must have happened:
// each configuration is gone on with by those under way, in every order, until this one was the last; equal ones are
// one. None left: no order explains what was seen. What never returns may happen at any time, or never.
//
// A model says what an operation does to a state:
//   struct Model {
//     using State = ...;      // ordered by <=>
//     using Operation = ...;  // with what it came to, where that is known; compared by ==
//     static std::optional<State> Apply(const State&, const Operation&);  // none: it cannot have happened there
//     // Whether it may as well happen there and then: nothing is changed by it.
//     static bool Free(const State&, const Operation&);
//     // Whether of two that may both happen next the first may as well come first: later it would be too late.
//     static bool Before(const Operation&, const Operation&);
//     // Whether the first may as well happen there before the second, if it returns earlier.
//     static bool Alike(const State&, const Operation&, const Operation&);
//   };
// The last three spare the search what makes no difference. So does what is known of when operations end: of two equal
// ones under way the one that returns earlier may as well happen first, since the other one can do all that it can,
// and longer.
// Thread safety: none.
#ifndef VIGIL_SIM_CHECKERS_LINEARIZABILITY_H_
#define VIGIL_SIM_CHECKERS_LINEARIZABILITY_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace vigil::sim {

template <typename Model>
class Linearizer {
 public:
  using State = typename Model::State;
  using Operation = typename Model::Operation;
  enum class Verdict : std::uint8_t {
    kExplained,
    kImpossible,  // no order explains it
    kGivenUp,     // there were too many
  };

  // `most`: configurations looked at for one return. `most_steps`: from one of them to another, for all returns up to a
  // Restart.
  explicit Linearizer(State initial, std::size_t most = 20'000,
                      std::size_t most_steps = std::numeric_limits<std::size_t>::max())
      : most_(most), most_steps_(most_steps) {
    Restart(std::move(initial));
  }

  // Begins anew: nothing is under way, nothing that was lost can happen any more.
  void Restart(State state) {
    under_way_.clear();
    lost_.clear();
    now_ = {Configuration{.state = std::move(state)}};
    verdict_ = Verdict::kExplained;
    steps_ = 0;
  }
  static constexpr std::int64_t kNeverReturns = std::numeric_limits<std::int64_t>::max();

  // `due`: when it will return, on any scale that grows; kNeverReturns if it will be lost. REQUIRES: `id` is not under
  // way.
  void Call(std::int64_t id, Operation operation, std::int64_t due) {
    under_way_.emplace(id, Open{std::move(operation), due});
    Configurations after;
    for (Configuration configuration : now_) {
      TakeFree(configuration);
      after.insert(std::move(configuration));
    }
    now_ = std::move(after);
  }
  // It may have happened, may happen later, or never. REQUIRES: it is under way.
  void Lose(std::int64_t id) {
    const auto call = under_way_.find(id);
    const auto place = std::ranges::find(lost_, call->second.operation, &Lost::operation);
    const auto kind = static_cast<std::size_t>(place - lost_.begin());
    if (place == lost_.end()) lost_.push_back({call->second.operation});
    ++lost_[kind].count;
    under_way_.erase(call);
    Configurations after;
    for (Configuration configuration : now_) {
      if (std::erase(configuration.happened, id) > 0) configuration.Use(kind);
      after.insert(std::move(configuration));
    }
    now_ = std::move(after);
  }
  // It has happened by now. Once something was impossible, or too much, that stays so until a Restart. REQUIRES: it is
  // under way.
  Verdict Return(std::int64_t id) {
    if (verdict_ == Verdict::kExplained && !FollowsAlone(id)) Search(id);
    under_way_.erase(id);
    return verdict_;
  }
  Verdict verdict() const { return verdict_; }
  // The states that are possible now; after what was impossible, before it.
  std::vector<State> States() const {
    std::vector<State> states;
    for (const Configuration& configuration : now_) states.push_back(configuration.state);
    return states;
  }

 private:
  // What is short comes first: most comparisons end there.
  struct Configuration {
    std::vector<std::int64_t> happened = {};  // of those under way, in order of their ids
    std::vector<int> used = {};               // of the lost ones, of each kind how many have happened
    State state;
    friend auto operator<=>(const Configuration&, const Configuration&) = default;

    void Use(std::size_t kind) {
      if (used.size() <= kind) used.resize(kind + 1);
      ++used[kind];
    }
  };
  using Configurations = std::set<Configuration>;
  struct Open {
    Operation operation;
    std::int64_t due;
  };
  struct Lost {
    Operation operation;
    int count = 0;
  };

  // What is free has happened.
  void TakeFree(Configuration& configuration) const {
    for (const auto& [id, call] : under_way_) {
      if (!Model::Free(configuration.state, call.operation) || Happened(configuration, id)) continue;
      configuration.happened.insert(std::ranges::upper_bound(configuration.happened, id), id);
    }
  }
  static bool Happened(const Configuration& configuration, std::int64_t id) {
    return std::ranges::binary_search(configuration.happened, id);
  }
  bool ComesLater(const Configuration& from, std::int64_t id, const Open& call) const {
    return std::ranges::any_of(under_way_, [&](const auto& entry) {
      const auto& [other_id, other] = entry;
      const bool earlier = std::pair(other.due, other_id) < std::pair(call.due, id);
      if (other.operation == call.operation) return earlier && !Happened(from, other_id);
      if (earlier && Model::Alike(from.state, other.operation, call.operation)) return !Happened(from, other_id);
      return Model::Before(other.operation, call.operation) && !Happened(from, other_id) &&
             Model::Apply(from.state, other.operation).has_value();
    });
  }

  // The same, where there is one order only: the one past, and nothing else to happen.
  bool FollowsAlone(std::int64_t id) {
    if (now_.size() != 1 || under_way_.size() != 1 || !lost_.empty()) return false;
    auto only = now_.extract(now_.begin());
    std::optional<State> state = only.value().happened.empty()
                                     ? Model::Apply(only.value().state, under_way_.find(id)->second.operation)
                                     : std::move(only.value().state);
    if (state.has_value()) {
      only.value() = Configuration{.state = *std::move(state)};
    } else {
      verdict_ = Verdict::kImpossible;
    }
    now_.insert(std::move(only));
    return true;
  }

  void Search(std::int64_t id) {
    Configurations after;
    std::vector<Configuration> open;
    for (Configuration configuration : now_) {
      if (std::erase(configuration.happened, id) > 0) {
        after.insert(std::move(configuration));
      } else {
        open.push_back(std::move(configuration));
      }
    }
    Configurations seen;
    while (!open.empty()) {
      const Configuration from = std::move(open.back());
      open.pop_back();
      if (!seen.insert(from).second) continue;
      steps_ += under_way_.size() + lost_.size();
      if (seen.size() > most_ || steps_ > most_steps_) {
        verdict_ = Verdict::kGivenUp;
        return;
      }
      Follow(from, id, open, after);
    }
    if (after.empty()) {
      verdict_ = Verdict::kImpossible;
    } else {
      now_ = std::move(after);
    }
  }

  // Where it can come to in one more step: to `after`, if that is the operation looked for.
  void Follow(const Configuration& from, std::int64_t id, std::vector<Configuration>& open, Configurations& after) {
    for (const auto& [other, call] : under_way_) {
      if (Happened(from, other)) continue;
      std::optional<State> state = Model::Apply(from.state, call.operation);
      if (!state.has_value() || ComesLater(from, other, call)) continue;
      Configuration next{from.happened, from.used, *std::move(state)};
      next.happened.insert(std::ranges::upper_bound(next.happened, other), other);
      Reach(std::move(next), id, open, after);
    }
    for (std::size_t kind = 0; kind < lost_.size(); ++kind) {
      if (kind < from.used.size() && from.used[kind] >= lost_[kind].count) continue;
      std::optional<State> state = Model::Apply(from.state, lost_[kind].operation);
      if (!state.has_value()) continue;
      Configuration next{from.happened, from.used, *std::move(state)};
      next.Use(kind);
      Reach(std::move(next), id, open, after);
    }
  }
  void Reach(Configuration next, std::int64_t id, std::vector<Configuration>& open, Configurations& after) const {
    TakeFree(next);
    if (std::erase(next.happened, id) > 0) {
      after.insert(std::move(next));
    } else {
      open.push_back(std::move(next));
    }
  }

  const std::size_t most_;
  const std::size_t most_steps_;
  std::size_t steps_ = 0;
  std::map<std::int64_t, Open> under_way_;
  std::vector<Lost> lost_;  // the same operation but once
  Configurations now_;
  Verdict verdict_ = Verdict::kExplained;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CHECKERS_LINEARIZABILITY_H_

// A variable that counts, for the search of linearizability.h.
//
// Thread safety: data.
#ifndef VIGIL_SIM_CHECKERS_COUNTER_MODEL_H_
#define VIGIL_SIM_CHECKERS_COUNTER_MODEL_H_

#include <cstdint>
#include <optional>

namespace vigil::sim {

struct CounterModel {
  using State = std::optional<std::int64_t>;  // none: any value, which the first read tells; to kAddTo: no value
  struct Operation {
    enum class Does : std::uint8_t {
      kAdd,
      kAddTo,  // one, and comes to `number`; impossible where there is no value
      kAssign,
      kRead,
      kReadGrown,  // gives `number`; meanwhile nobody knows who may have added how much
    };
    Does does = Does::kAdd;
    std::int64_t number = 1;
    friend bool operator==(const Operation&, const Operation&) = default;
  };

  static std::optional<State> Apply(const State& state, const Operation& operation) {
    const std::int64_t number = operation.number;
    switch (operation.does) {
      case Operation::Does::kAdd:
        return state.has_value() ? State(*state + number) : State();
      case Operation::Does::kAddTo:
        if (!state.has_value() || *state + 1 != number) return std::nullopt;
        return State(number);
      case Operation::Does::kAssign:
        return State(number);
      case Operation::Does::kRead:
        if (state.has_value() && *state != number) return std::nullopt;
        return State(number);
      case Operation::Does::kReadGrown:
        if (state.has_value() && *state > number) return std::nullopt;
        return State(number);
    }
    return std::nullopt;
  }
  static bool Free(const State& state, const Operation& operation) {
    const bool reads = operation.does == Operation::Does::kRead || operation.does == Operation::Does::kReadGrown;
    return reads && state == operation.number;
  }
  static bool Before(const Operation& one, const Operation& other) {
    const auto grown = Operation::Does::kReadGrown;
    return one.does == grown && other.does == grown && one.number < other.number;
  }
  static bool Alike(const State&, const Operation&, const Operation&) { return false; }
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CHECKERS_COUNTER_MODEL_H_

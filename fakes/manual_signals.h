// Signals that a test sends by hand: whoever watches is told by the task that raises.
//
// Thread safety: none of its own; see fake_tasks.h.
#ifndef VIGIL_FAKES_MANUAL_SIGNALS_H_
#define VIGIL_FAKES_MANUAL_SIGNALS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "vigil/core/env/stop_signals.h"

namespace vigil::fakes {

class ManualSignals final : public StopSignals {
 public:
  absl::StatusOr<std::unique_ptr<SignalWatch>> Watch(std::function<void(std::string_view)> told) override {
    told_[++last_] = std::move(told);
    return std::make_unique<Watching>(*this, last_);
  }
  void Raise(std::string_view signal = "SIGTERM") {
    for (auto& [number, told] : told_) {
      if (auto once = std::exchange(told, nullptr)) once(signal);
    }
  }
  std::size_t watches() const { return told_.size(); }

 private:
  struct Watching final : SignalWatch {
    Watching(ManualSignals& signals, int watch) : owner(signals), number(watch) {}
    ~Watching() override { owner.told_.erase(number); }
    ManualSignals& owner;
    const int number;
  };
  std::map<int, std::function<void(std::string_view)>> told_;
  int last_ = 0;
};

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_MANUAL_SIGNALS_H_

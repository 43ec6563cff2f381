// Unit "looper": LooperThread. Each pass takes the time of the next operation, then does what it says; the last stops
// the coordinator.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/coord/looper_thread.h"
#include "vigil/replays/format/args.h"
#include "vigil/replays/units/unit.h"

namespace vigil::replays {
namespace {

// The error that an argument names; OK if it is not given.
absl::Status ErrorOf(const Args& args, std::string_view name) {
  const std::string code = StringArg(args, name);
  const std::optional<Code> known = CodeFromName(code);
  return code.empty() || !known.has_value() ? absl::OkStatus() : MakeStatus(*known, "scenario " + code);
}

class Looper : public LooperThread {
 public:
  Looper(const Env& env, std::shared_ptr<Coordinator> coord, const UnitSpec& unit, std::vector<std::string>& lines)
      : LooperThread(env, coord, SecondsArg(unit.args, "timer_interval_secs")),
        coord_(std::move(coord)),
        unit_(unit),
        lines_(lines),
        start_(env.clock->Monotonic()) {}

  absl::Status StartLoop() override {
    Say("start_loop");
    return ErrorOf(unit_.args, "start_code");
  }

  absl::Status RunLoop() override {
    Say("run_loop");
    if (passes_ == unit_.ops.size()) return UsageError("The looper was called after it had stopped its coordinator.");
    const Args& args = unit_.ops[passes_++].args;
    const Duration takes = SecondsArg(args, "secs").value_or(Duration::zero());
    if (takes > Duration::zero()) env().tasks->SleepUntil(env().clock->Monotonic() + takes);
    if (BoolArg(args, "stop") || passes_ == unit_.ops.size()) {
      if (absl::Status status = coord_->RequestStop(); !status.ok()) return status;
    }
    return ErrorOf(args, "code");
  }

  absl::Status StopLoop() override {
    Say("stop_loop");
    return ErrorOf(unit_.args, "stop_code");
  }

 private:
  void Say(std::string_view what) {
    const std::chrono::duration<double> at = env().clock->Monotonic() - start_;
    lines_.push_back(fmt::format("{} at={:g}", what, at.count()));
  }

  const std::shared_ptr<Coordinator> coord_;
  const UnitSpec& unit_;
  std::vector<std::string>& lines_;
  const Time start_;
  std::size_t passes_ = 0;
};

}  // namespace

absl::Status PlayLooper(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines) {
  if (unit.ops.empty()) return UsageError("A looper needs a pass: the last one stops it.");
  const auto coord = std::make_shared<Coordinator>(env);
  const auto looper = std::make_shared<Looper>(env, coord, unit, lines);
  looper->Start();
  const absl::Status end = coord->Join();
  lines.push_back(end.ok() ? "join ok" : fmt::format("join failed {}", CodeName(CodeOf(end))));
  return absl::OkStatus();
}

}  // namespace vigil::replays

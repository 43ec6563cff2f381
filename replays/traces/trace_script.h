// Where a play of a trace stands: the next recorded event, what was played so far, whether the two have parted.
//
// It is the event sink and the clock of the session layer that is played.
//
// Thread safety: none; one task of one world.
#ifndef VIGIL_REPLAYS_TRACES_TRACE_SCRIPT_H_
#define VIGIL_REPLAYS_TRACES_TRACE_SCRIPT_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/coord/coordinator.h"
#include "vigil/core/env/env.h"
#include "vigil/replays/format/trace_spec.h"

namespace vigil::replays {

// For stop requests of other tasks (by index) that took effect later than in the place where they were recorded: the
// event whose decision was the last that did not know of them.
using LateRequests = std::map<std::size_t, std::size_t>;

class TraceScript final : public EventSink, public Clock {
 public:
  // `inner` also gets what is emitted. `stop` ends the play: it does not return, but while the task is being unwound.
  TraceScript(const TraceSpec& trace, const LateRequests& late, EventSink& inner, std::function<void()> stop)
      : trace_(trace), late_(late), inner_(inner), stop_(std::move(stop)) {}

  // The recorded event that must come next; null once the play has left the recording. Ends the play where the
  // recording does because its process was killed.
  const TracedEvent* Next();
  // The recorded event `ahead` events after the next one; null if there is none.
  const Event* Ahead(std::size_t ahead) const;
  std::size_t position() const { return at_; }
  // The recording has an event next that nothing can lead to any more.
  void Part();
  bool parted() const { return parted_; }
  const std::vector<std::string>& lines() const { return lines_; }

  // A coordinator was given to the session's task: requests of other tasks reach it.
  void Know(std::int64_t session, const std::shared_ptr<Coordinator>& coordinator);
  std::shared_ptr<Coordinator> FindCoordinator(std::int64_t session) const;

  void Emit(const Event& event) override;
  // Nobody hears of events as long as there are mutes.
  void Mute() { ++mutes_; }
  void Unmute() { --mutes_; }

  Time Now() override { return trace_.start + time_; }
  Time Monotonic() override { return {time_}; }
  // A sleep: as long as it was recorded to take, up to `deadline`.
  void SleepUntil(Time deadline);

 private:
  void Follow(const Event& event);
  // Those whose time has come, in order; of a coordinator that nobody knows yet: later. `decided`: the next event is
  // about to be emitted, so what is applied now does not change it any more.
  void ApplyRequests(bool decided);
  void Stop();

  const TraceSpec& trace_;
  const LateRequests& late_;
  EventSink& inner_;
  const std::function<void()> stop_;
  std::size_t at_ = 0;
  std::size_t next_request_ = 0;
  Duration time_{0};
  bool parted_ = false;
  bool stopped_ = false;
  int mutes_ = 0;
  std::size_t after_parting_ = 0;
  std::vector<std::string> lines_;
  std::map<std::int64_t, std::weak_ptr<Coordinator>> coordinators_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_TRACES_TRACE_SCRIPT_H_

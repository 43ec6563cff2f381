// What surrounds the modelled session: the lines said so far, the clock, the faults, the directory, the raw sessions.
//
// Thread safety: none; one World is one prediction.
#ifndef VIGIL_PROPERTIES_MODEL_WORLD_H_
#define VIGIL_PROPERTIES_MODEL_WORLD_H_

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/behaviour.h"
#include "vigil/core/base/code.h"
#include "vigil/properties/model/directory.h"
#include "vigil/properties/model/input_queue.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::properties::model {

using replays::FaultPoint;
using replays::Scenario;

// Of one session, or of the server that several share.
struct Variables {
  bool initialized = false;
  bool local_initialized = false;
  bool queue_started = false;
  std::int64_t step = 0;
};

struct RawSession {
  std::int64_t number = 0;
  bool closed = false;
  std::shared_ptr<Variables> variables;
  std::int64_t batches_taken = 0;     // of an input that is no queue: each session has its own
  std::shared_ptr<InputQueue> queue;  // null: none was started
};
using RawSessionPtr = std::shared_ptr<RawSession>;

constexpr bool IsPreemptionError(Code code) { return code == Code::kAborted || code == Code::kUnavailable; }
constexpr bool IsCleanEndError(Code code) { return code == Code::kOutOfRange || code == Code::kStopIteration; }

class World {
 public:
  explicit World(const Scenario& scenario);

  template <typename... Args>
  void Say(fmt::format_string<Args...> text, Args&&... args) {
    AddLine(fmt::format(text, std::forward<Args>(args)...));
  }
  // "<what> failed CODE"
  void SayFailed(std::string_view what, Code code) { Say("{} failed {}", what, CodeName(code)); }

  // Met something that is not modelled: there will be no prediction.
  void Refuse(std::string_view what);
  // Refused or too many lines: whatever loops must end.
  bool over() const { return runaway_ || !refused_.empty(); }

  // What the environment has to say about the next call of that kind.
  struct Hit {
    Code code = Code::kOk;
    bool lost_reply = false;
    bool not_ready = false;  // the failure of a question for readiness means "no"
  };
  Hit Next(FaultPoint at);
  // Of the calls so far.
  std::int64_t CountOf(FaultPoint at) const { return calls_[static_cast<std::size_t>(at)]; }
  // Whether it has something to say about that call or a later one.
  bool HasFaultFrom(FaultPoint at, std::int64_t call) const;

  // A new session, its number said; or it fails.
  Code CreateSession(RawSessionPtr& session);
  // A call on a raw session: `work` is what it does there, `answer` what is said after its name (" -> 3"); either may
  // be null.
  Code Call(RawSession& session, FaultPoint at, const std::function<Code()>& work,
            const std::function<std::string()>& answer = nullptr);
  // Whether the last of those calls was answered "not ready" by its failure.
  bool says_not_ready() const { return says_not_ready_; }
  Code ReadStep(RawSession& session, std::int64_t& step);
  // Silent from the second time on. Always closes.
  Code CloseSession(RawSession& session);
  // One training step.
  Code Train(RawSession& session);

  void Sleep(double secs);
  // As well, but not if the process was told to end (true).
  bool SleepUnlessTold(double secs);
  // SIGTERM has come.
  bool told_to_end() const { return told_to_end_; }
  // Whatever is in doubt.
  double clock() const { return now_; }
  // What a pause before the next attempt is longer by, as a share of a quarter of it: the chance that the simulated
  // world gives the caller's process.
  double DrawJitter();
  double now();
  static constexpr double kStart = 1000;  // what the clock shows when a play begins
  // Somebody has waited for a thread that ended: TensorFlow finds that out at its next look, others at once.
  void DoubtTime() { time_in_doubt_ = true; }
  void Advance(double secs) { now_ += secs; }
  // Other workers advance the variables of this one.
  void SetCurrent(const RawSessionPtr& session) { current_ = session; }
  void SetLastQueue(const std::shared_ptr<InputQueue>& queue) { last_queue_ = queue; }
  const InputQueue* last_queue() const { return last_queue_.get(); }

  // Of all step counters together; the number of this one.
  int CountFrozenStepWarning() { return ++frozen_step_warnings_; }
  // Of the run metadata that the summary writer was given: how often that step was.
  int CountProfiledStep(std::int64_t step) { return ++profiled_[step]; }

  const Scenario& scenario() const { return scenario_; }
  const Behaviour& behaviour() const { return behaviour_; }
  // What a hook of this process has saved last.
  bool HasSaved(std::int64_t session, std::int64_t step) const { return last_save_ == std::pair(session, step); }
  void NoteSave(std::int64_t session, std::int64_t step) { last_save_ = {session, step}; }
  Directory& directory() { return directory_; }
  // "none", "3", "3(closed)"
  static std::string Name(const RawSession* session);

  std::vector<std::string> TakeLines() { return std::move(lines_); }
  const std::string& refused() const { return refused_; }
  bool runaway() const { return runaway_; }

 private:
  void AddLine(std::string line);
  void AdvanceStep(std::int64_t steps);
  void ChiefInit(std::int64_t step);

  const Scenario& scenario_;
  const Behaviour behaviour_;
  std::uint64_t jitters_ = 0;
  std::pair<std::int64_t, std::int64_t> last_save_ = {-1, -1};
  std::vector<std::string> lines_;
  std::string refused_;
  bool runaway_ = false;
  double now_ = kStart;
  bool time_in_doubt_ = false;
  std::array<std::int64_t, static_cast<std::size_t>(FaultPoint::kEnqueue) + 1> calls_ = {};
  bool says_not_ready_ = false;
  bool told_to_end_ = false;
  std::int64_t sessions_ = 0;
  int frozen_step_warnings_ = 0;
  std::map<std::int64_t, int> profiled_;
  RawSessionPtr current_;
  std::shared_ptr<InputQueue> last_queue_;
  std::shared_ptr<Variables> shared_;  // null: each session has its own
  Directory directory_;
};

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_WORLD_H_

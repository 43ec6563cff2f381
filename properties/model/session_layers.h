// The modelled session: what stands between a caller and a raw session.
//
//   caller -> (monitored: recovers) -> coordinated -> hooked -> raw session
//
// Each method says its lines and returns how it ended. Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_SESSION_LAYERS_H_
#define VIGIL_PROPERTIES_MODEL_SESSION_LAYERS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "vigil/properties/model/coordinator.h"
#include "vigil/properties/model/hook.h"
#include "vigil/properties/model/world.h"

namespace vigil::properties::model {

struct RunRequest {
  std::optional<std::int64_t> feed = std::nullopt;
  std::optional<replays::FetchSpec> fetch = std::nullopt;  // none: {step: train, fed: fed}
  std::optional<RunOptions> options = std::nullopt;
};

struct RunAnswer {
  std::int64_t step = 0;
  std::int64_t fed = 0;
  std::string text;  // of a fetch
  bool traced = false;
};

struct StopAnswer {
  Code code = Code::kOk;
  bool yes = false;
};

struct StepContext {
  RawSessionPtr session;
  bool stop = false;  // the function has asked for one
  std::function<Code(RunRequest&, RunAnswer&)> run_with_hooks;
};
using StepFunction = std::function<Code(StepContext&)>;

class SessionModel {
 public:
  SessionModel(World& world, std::vector<std::unique_ptr<Hook>> hooks, double max_wait_secs);

  Code Construct();
  // The options of the request gather what hooks ask for, and keep it when a recovery repeats the run.
  Code Run(RunRequest& request, RunAnswer& answer);
  Code RunStepFunction(const StepFunction& function);
  StopAnswer ShouldStop();
  Code Close() { return CloseInternal(true); }
  // An error of the session that the caller knows of has nothing to do with what it does next.
  void ForgetOrigin() { from_a_run_ = false; }
  void EndsByStepFunction() { from_a_run_ = true; }
  // The scope is left, with what its body ended with.
  Code Exit(Code body);
  // Its owner destroys it. By TensorFlow's behaviour nothing comes of it; else a session that is still open is closed.
  void Drop();

 private:
  static constexpr double kFirstWait = 1;
  static constexpr double kLongestWait = 60;
  static constexpr double kGiveUpAfter = 1800;

  // A coordinated session with the hooked one in it.
  struct Coordinated {
    RawSessionPtr raw;
    std::shared_ptr<Coordinator> coord;
  };

  // Repeats until a session is created or something else than a preemption comes up.
  Code CreateUntilItWorks();
  Code CreateCoordinated(std::unique_ptr<Coordinated>& made);
  Code StartCoordinated(const RawSessionPtr& raw, const std::shared_ptr<Coordinator>& coord);
  // Gives the session up after a preemption: its close, and the pause before the next one.
  Code GiveUp();
  // kDeadlineExceeded: there have been enough attempts.
  Code PauseBeforeNextAttempt();
  void Completed();
  void SettleStop();

  Code RunRecovering(const std::function<Code()>& attempt);
  Code RunCoordinated(RunRequest& request, RunAnswer& answer);
  Code RunHooked(RunRequest& request, RunAnswer& answer);
  Code RunOnce(RunRequest& request, RunAnswer& answer, RunContext& context);
  Code CallBeforeRun(RunContext& context, const RunRequest& request, std::optional<std::int64_t>& feed,
                     RunOptions& options, std::vector<HookRequest>& requests);
  Code RunRaw(const RunRequest& request, std::optional<std::int64_t> feed, const std::vector<HookRequest>& requests,
              std::vector<HookResult>& results, RunAnswer& answer);
  bool AnyOneTrains(const RunRequest& request, const std::vector<HookRequest>& requests) const;
  bool AllInGraph(const RunRequest& request, const std::vector<HookRequest>& requests) const;

  StopAnswer AskCoordinated();  // raises what the coordinator holds
  StopAnswer AskChain();        // the second question
  StopAnswer AskLayers();       // both, recovering in between
  Code StopJoinAndClose(RawSession& raw, Coordinator& coord);
  Code CloseCoordinated();
  Code CloseRecoverable();
  Code CloseInternal(bool clean);

  World& world_;
  const bool recovers_;
  const double max_wait_secs_;
  std::vector<std::unique_ptr<Hook>> hooks_;
  bool open_ = false;
  bool stop_requested_ = false;  // no further run
  bool stop_pending_ = false;    // requested in an attempt that failed
  bool from_a_run_ = false;      // the last error, if it was a clean end
  double grace_used_ = 0;
  // Of attempts without a completed run.
  double attempts_since_ = 0;
  double wait_ = kFirstWait;
  bool failing_ = false;
  double waited_ = 0;  // for a chief
  double waited_at_start_ = 0;
  double waited_last_ = 0;
  bool graph_finalized_ = false;
  std::unique_ptr<Coordinated> session_;  // null: closed, or a recovery has failed
  RawSessionPtr raw_;                     // of the last creator that returned; null once closed
};

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_SESSION_LAYERS_H_

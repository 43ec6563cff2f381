// The caller of a scenario's supervisor: makes it, executes the scenario's statements on the plain session, and says so
// by notes.
#ifndef VIGIL_REPLAYS_STAGE_SUPERVISOR_CALLER_H_
#define VIGIL_REPLAYS_STAGE_SUPERVISOR_CALLER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/train/supervisor/supervisor.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/stage/caller.h"
#include "vigil/replays/stage/model.h"

namespace vigil::replays {

// What a scenario's process gives to its supervisor.
struct SupervisorSurroundings {
  std::string directory;  // the logdir of those that have one
  std::shared_ptr<SessionFactory> factory;
  std::function<absl::Status(Session&)> init_fn;  // null: none
  Feeds init_feed;
  Behaviour behaviour;
  std::string trace_path;  // "" = none
};
absl::StatusOr<std::unique_ptr<Supervisor>> MakeSupervisor(const Env& layer_env, const Model& model,
                                                           const SessionSpec& session,
                                                           const SupervisorSurroundings& surroundings);

class SupervisorCaller {
 public:
  // `env`: the scenario's own, whose time passes without a fault. `notes` says what every caller says. All must outlive
  // this.
  SupervisorCaller(const Env& env, const Model& model, const Scenario& scenario, Supervisor& supervisor, Caller& notes)
      : env_(env),
        start_(env.clock->Monotonic()),
        model_(model),
        scenario_(scenario),
        supervisor_(supervisor),
        notes_(notes) {}

  // The scope with the statements of `drive` in it; what the scope ended with.
  absl::Status Drive();
  // The statements in order until one fails whose error is not caught.
  absl::Status Execute(const std::vector<Statement>& statements);

 private:
  absl::Status ExecuteOne(const Statement& statement);
  absl::Status Run(const Statement& statement);
  absl::Status Loop(const Statement& statement);
  absl::Status Prepare(const Statement& statement);
  absl::Status Close();
  absl::Status Stop(const Statement& statement);
  absl::Status StartServices();
  absl::Status Service(const Statement& statement);
  void StartLoop(const Statement& statement);
  absl::Status SummaryComputed(const Statement& statement);
  bool AskShouldStop();
  void NoteSession();

  const Env env_;
  const Time start_;
  const Model& model_;
  const Scenario& scenario_;
  Supervisor& supervisor_;
  Caller& notes_;
  SessionPtr session_;  // of the last prepare that worked
  std::map<std::string, std::shared_ptr<LooperThread>, std::less<>> services_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_SUPERVISOR_CALLER_H_

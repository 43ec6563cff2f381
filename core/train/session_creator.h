// What makes the raw sessions of a monitored session, again after each recovery.
//
// The chief restores or initialises the model, anew for each session: with parameter servers it sets the whole cluster
// back. A worker waits until the chief has done so. Both finalize the scaffold first, which freezes the graph.
// Thread safety: one task at a time. Errors: the scaffold's and the session manager's; NOT_FOUND for a
// master that is none. Source: monitored_session.py (SessionCreator, ChiefSessionCreator, WorkerSessionCreator).
#ifndef VIGIL_CORE_TRAIN_SESSION_CREATOR_H_
#define VIGIL_CORE_TRAIN_SESSION_CREATOR_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/stop_request.h"
#include "vigil/core/train/scaffold.h"
#include "vigil/core/train/session_manager.h"

namespace vigil {

// What a trace says of a creator, so that a replay can put one like it in its place.
struct CreatorTraits {
  bool is_chief = true;
  bool has_checkpoint_dir = false;
  bool has_checkpoint_filename = false;
  bool has_init_fn = false;
  std::optional<Duration> max_wait;  // of a worker
};

class SessionCreator {
 public:
  virtual ~SessionCreator() = default;
  // A session whose model is ready; blocks until then. Called again for each recovery: of ABORTED and UNAVAILABLE the
  // monitored session tries once more, any other error is final. What it made and could not make ready it closes.
  virtual absl::StatusOr<SessionPtr> CreateSession() = 0;
  // How long all calls together have waited for others (a worker for its chief), which has a bound of its own.
  virtual Duration time_waited() const { return Duration::zero(); }
  // What waits in further creations ends with CANCELLED when `stop` is requested.
  virtual void StopWaitingOn(StopRequestPtr) {}
  // Events of further creations, and of the sessions made by them, go to `sink`. It outlives them.
  virtual void Watch(EventSink&) {}
  // None: sessions of such a creator cannot be traced.
  virtual std::optional<CreatorTraits> traits() const { return std::nullopt; }
};

struct ChiefSessionCreatorOptions {
  std::shared_ptr<Scaffold> scaffold;  // null: a default one
  SessionTarget target;
  std::string checkpoint_dir;                 // restored from; "" = none
  std::string checkpoint_filename_with_path;  // instead of the newest in a directory; "" = none
  std::shared_ptr<SessionFactory> factory;    // null: ClusterSessionFactory
  Behaviour behaviour = Behaviour::Default();
};

// Finalizes the scaffold, then restores or initialises.
class ChiefSessionCreator : public SessionCreator {
 public:
  ChiefSessionCreator(const Env& env, Graph& graph, ChiefSessionCreatorOptions options = {});
  absl::StatusOr<SessionPtr> CreateSession() override;
  void Watch(EventSink& sink) override;
  std::optional<CreatorTraits> traits() const override;

 private:
  Env env_;
  Graph& graph_;
  ChiefSessionCreatorOptions options_;
  std::unique_ptr<SessionManager> manager_;  // made after the first Finalize
};

struct WorkerSessionCreatorOptions {
  std::shared_ptr<Scaffold> scaffold;  // null: a default one
  SessionTarget target;
  // How long one creation waits for the chief; nullopt: for ever. When less is left than until the next look (see
  // SessionManager::WaitForSession) it gives up.
  std::optional<Duration> max_wait = std::chrono::seconds(1800);
  std::shared_ptr<SessionFactory> factory;  // null: ClusterSessionFactory
  Behaviour behaviour = Behaviour::Default();
};

// Finalizes the scaffold, then waits until the chief has made the model ready.
class WorkerSessionCreator : public SessionCreator {
 public:
  WorkerSessionCreator(const Env& env, Graph& graph, WorkerSessionCreatorOptions options = {});
  absl::StatusOr<SessionPtr> CreateSession() override;
  Duration time_waited() const override { return time_waited_; }
  void StopWaitingOn(StopRequestPtr stop) override;
  void Watch(EventSink& sink) override;
  std::optional<CreatorTraits> traits() const override;

 private:
  Env env_;
  Graph& graph_;
  WorkerSessionCreatorOptions options_;
  StopRequestPtr stop_;                      // null: nobody asks
  std::unique_ptr<SessionManager> manager_;  // made after the first Finalize
  Duration time_waited_{0};
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_SESSION_CREATOR_H_

#include "vigil/core/train/session_creator.h"

#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/client/cluster_session.h"

namespace vigil {
namespace {

// The manager for a scaffold's pieces. REQUIRES: it was finalized.
absl::StatusOr<std::unique_ptr<SessionManager>> ManagerFor(const Env& env, const Graph& graph, const Scaffold& scaffold,
                                                           std::shared_ptr<SessionFactory> factory,
                                                           const Behaviour& behaviour, StopRequestPtr stop = nullptr) {
  StopWait stop_wait;
  if (stop != nullptr) stop_wait = [stop = std::move(stop)](Time deadline) { return stop->Wait(deadline); };
  return SessionManager::Create(env, graph, std::move(factory),
                                {.local_init_op = scaffold.local_init_op(),
                                 .ready_op = scaffold.ready_op(),
                                 .ready_for_local_init_op = scaffold.ready_for_local_init_op(),
                                 .behaviour = behaviour,
                                 .stop_wait = std::move(stop_wait)});
}

std::shared_ptr<Scaffold> DefaultScaffold(const Env& env, Graph& graph, const Behaviour& behaviour) {
  ScaffoldOptions options;
  options.behaviour = behaviour;
  return std::make_shared<Scaffold>(env, graph, options);
}

}  // namespace

ChiefSessionCreator::ChiefSessionCreator(const Env& env, Graph& graph, ChiefSessionCreatorOptions options)
    : env_(env), graph_(graph), options_(std::move(options)) {
  if (options_.scaffold == nullptr) options_.scaffold = DefaultScaffold(env_, graph_, options_.behaviour);
  if (options_.factory == nullptr) options_.factory = std::make_shared<ClusterSessionFactory>(env_);
}

absl::StatusOr<SessionPtr> ChiefSessionCreator::CreateSession() {
  Scaffold& scaffold = *options_.scaffold;
  VIGIL_RETURN_IF_ERROR(scaffold.Finalize());
  if (manager_ == nullptr) {
    VIGIL_ASSIGN_OR_RETURN(manager_, ManagerFor(env_, graph_, scaffold, options_.factory, options_.behaviour));
  }
  InitOptions init{.init_op = scaffold.init_op(), .init_feed_dict = scaffold.init_feed_dict()};
  if (scaffold.has_init_fn()) init.init_fn = [&scaffold](Session& session) { return scaffold.CallInitFn(session); };
  return manager_->Prepare(options_.target,
                           {.saver = scaffold.saver(),
                            .checkpoint_dir = options_.checkpoint_dir,
                            .checkpoint_filename_with_path = options_.checkpoint_filename_with_path},
                           init);
}

void ChiefSessionCreator::Watch(EventSink& sink) {
  env_.events = &sink;
  manager_ = nullptr;
  options_.scaffold->Watch(sink);
}

std::optional<CreatorTraits> ChiefSessionCreator::traits() const {
  return CreatorTraits{.is_chief = true,
                       .has_checkpoint_dir = !options_.checkpoint_dir.empty(),
                       .has_checkpoint_filename = !options_.checkpoint_filename_with_path.empty(),
                       .has_init_fn = options_.scaffold->has_init_fn()};
}

WorkerSessionCreator::WorkerSessionCreator(const Env& env, Graph& graph, WorkerSessionCreatorOptions options)
    : env_(env), graph_(graph), options_(std::move(options)) {
  if (options_.scaffold == nullptr) options_.scaffold = DefaultScaffold(env_, graph_, options_.behaviour);
  if (options_.factory == nullptr) options_.factory = std::make_shared<ClusterSessionFactory>(env_);
}

absl::StatusOr<SessionPtr> WorkerSessionCreator::CreateSession() {
  VIGIL_RETURN_IF_ERROR(options_.scaffold->Finalize());
  if (manager_ == nullptr) {
    VIGIL_ASSIGN_OR_RETURN(manager_,
                           ManagerFor(env_, graph_, *options_.scaffold, options_.factory, options_.behaviour, stop_));
  }
  return manager_->WaitForSession(options_.target, options_.max_wait, &time_waited_);
}

void WorkerSessionCreator::StopWaitingOn(StopRequestPtr stop) {
  stop_ = std::move(stop);
  manager_ = nullptr;
}

void WorkerSessionCreator::Watch(EventSink& sink) {
  env_.events = &sink;
  manager_ = nullptr;
  options_.scaffold->Watch(sink);
}

std::optional<CreatorTraits> WorkerSessionCreator::traits() const {
  return CreatorTraits{.is_chief = false, .max_wait = options_.max_wait};
}

}  // namespace vigil

// The program `vigil-task`: one task of a job that is played by processes (real_job.h). It is not for people: its
// orders come by standard input, what happens goes out by standard output (task_talk.h).
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/cluster/server/server.h"
#include "vigil/core/env/grpc/grpc_network.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/ops/ops.h"
#include "vigil/properties/planted/campaign.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/real/task_talk.h"
#include "vigil/replays/stage/behaviour.h"
#include "vigil/sim/cluster/chronicle.h"
#include "vigil/sim/cluster/client_costs.h"
#include "vigil/sim/cluster/facts_recorder.h"
#include "vigil/sim/cluster/restore_watch.h"
#include "vigil/sim/cluster/server_watch.h"
#include "vigil/sim/cluster/task_name.h"
#include "vigil/sim/cluster/trainer.h"
#include "vigil/sim/cluster/whole_checkpoints.h"

namespace vigil::cli {
namespace {

using replays::BehaviourOf;
using replays::Recording;
using replays::Scenario;
using replays::TaskOrders;
using replays::TaskWord;

constexpr int kMisuse = 2;

// Tells whoever plays the job. Thread safety: safe.
class WordChronicle final : public sim::Chronicle {
 public:
  WordChronicle(const Env& env, std::string checkpoint_dir) : env_(env), checkpoint_dir_(std::move(checkpoint_dir)) {}
  Time Now() override { return env_.clock->Now(); }
  std::size_t Events() override { return 0; }
  // Another process may be deleting one meanwhile.
  sim::IndexedCheckpoints Checkpoints() override {
    return {.whole = sim::LookAtCheckpoints(*env_.files, checkpoint_dir_).whole, .incomplete = {}};
  }
  std::int64_t DamageMet(std::int64_t) override { return 0; }
  void Add(sim::JobMoment moment) override { Say({.moment = std::move(moment), .facts = std::nullopt}); }
  void Became(const sim::TaskFacts& facts) override { Say({.moment = std::nullopt, .facts = facts}); }

 private:
  void Say(const TaskWord& word) {
    const std::string bytes = replays::PackWord(word);
    const std::lock_guard lock(mutex_);
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const ssize_t wrote = write(STDOUT_FILENO, rest.data(), rest.size());
      if (wrote < 0 && errno != EINTR) _exit(1);  // nobody plays any more
      if (wrote > 0) rest.remove_prefix(static_cast<std::size_t>(wrote));
    }
  }

  const Env env_;
  const std::string checkpoint_dir_;
  std::mutex mutex_;  // a word is written as a whole
};

std::string ReadOrders() {
  std::string orders;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return orders;
    orders.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

// The process ends with its program, whatever else that has started.
[[noreturn]] void End(sim::FactsRecorder& recorder, const absl::Status& status) {
  recorder.Ended(status);
  std::fflush(stderr);
  _exit(0);
}

// Returns only what kept it from training.
absl::Status RunProgram(const TaskOrders& orders, const Scenario& scenario, const Env& env, sim::Chronicle& chronicle,
                        sim::FactsRecorder& recorder) {
  const Time started = env.clock->Monotonic();
  const auto [job, index] = sim::SplitTaskName(orders.task);
  const ClusterSpec::Jobs jobs(orders.cluster.begin(), orders.cluster.end());
  VIGIL_ASSIGN_OR_RETURN(const ClusterSpec cluster, ClusterSpec::Create(jobs));
  env.tasks->SleepUntil(DeadlineAfter(env, orders.boot));
  std::atomic<std::int64_t> calls = (std::int64_t{orders.number} * 1000 + recorder.life()) << 32;
  const auto process = [&](std::string_view server) -> sim::WatchedProcess {
    if (server.empty() || server == orders.task) return {orders.task, recorder.life()};
    return {std::string(server), 0};
  };
  const std::unique_ptr<OpRegistry> ops = sim::WatchServer(
      BuiltinOps(), {.chronicle = chronicle, .process = process, .next_call = [&calls] { return calls++; }});
  std::unique_ptr<Server> server;
  if (job != sim::kEvaluatorJob) {
    VIGIL_ASSIGN_OR_RETURN(server, Server::Create(env, {.cluster = cluster,
                                                        .job_name = job,
                                                        .task_index = index,
                                                        .start_number = static_cast<std::uint64_t>(recorder.life()),
                                                        .ops = ops.get()}));
    recorder.Serving();
  }
  if (job == "ps") {
    server->Join();
    return absl::OkStatus();
  }
  std::shared_ptr<SessionFactory> sessions = std::make_shared<ClusterSessionFactory>(env);
  if (replays::LikeTensorFlow(scenario.behaviour)) {
    sessions = sim::NewCostlyFactory(
        env, std::move(sessions), scenario.job->workload,
        [&env](std::string_view point, const auto& times) { return times[env.random->Draw(point) % times.size()]; });
  }
  const auto factory =
      sim::WatchRestores(std::move(sessions), [&recorder](std::int64_t step) { recorder.Restoring(step); });
  const absl::Status trained = sim::Train({.env = env,
                                           .job = *scenario.job,
                                           .cluster = cluster,
                                           .job_name = job,
                                           .index = index,
                                           .ops = *ops,
                                           .target = server == nullptr       ? ""
                                                     : orders.target.empty() ? server->target()
                                                                             : orders.target,
                                           .factory = factory,
                                           .behaviour = BehaviourOf(scenario.behaviour),
                                           .seed = scenario.seed,
                                           .checkpoint_dir = orders.checkpoint_dir,
                                           .started = started,
                                           .opened = [] {},
                                           .recorder = recorder,
                                           .takes = [](Duration work) { return work; }});
  End(recorder, trained);
}

int Tell(const absl::Status& failed) {
  std::fprintf(stderr, "vigil-task: %s\n", std::string(MessageOf(failed)).c_str());
  return kMisuse;
}

int Run() {
  const absl::StatusOr<TaskOrders> orders = replays::UnpackOrders(ReadOrders());
  if (!orders.ok()) return Tell(orders.status());
  const absl::StatusOr<Recording> recording = replays::ParseRecording(orders->scenario);
  if (!recording.ok()) return Tell(recording.status());
  std::optional<properties::PlantedBugScope> planted;
  if (!orders->plant.empty() && !planted.emplace(orders->plant).known)
    return Tell(UsageError("no planted bug is called " + orders->plant));
  RealEnv real({.log_threshold = Severity::kWarning});
  WordChronicle chronicle(real.env(), orders->checkpoint_dir);
  sim::TaskFacts facts = orders->facts;
  sim::FactsRecorder recorder(orders->task, orders->task, facts, chronicle, nullptr);
  const absl::StatusOr<std::unique_ptr<GrpcNetwork>> network = GrpcNetwork::Create(real.env(), {});
  if (!network.ok()) return Tell(network.status());
  Env env = real.env();
  env.network = network->get();
  env.events = &recorder;
  End(recorder, RunProgram(*orders, recording->scenario, env, chronicle, recorder));
}

}  // namespace
}  // namespace vigil::cli

int main() {
  // What gRPC could not do is told by what is asked of it.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  return vigil::cli::Run();
}

// Everything that a callback may do to the session that calls it: each act from each place, by both behaviours. It
// works or is refused by a status that says why; nothing that is still in use is freed (which a sanitizer sees).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

enum class Place {
  kAfterCreateSession,  // of the session after a recovery: the monitored one is in use already
  kInitFn,
  kQueueRunners,
  kBeforeRun,
  kInspect,
  kAfterRun,
  kEnd,
  kStepFn,
};
constexpr std::string_view kPlaces[] = {"AfterCreateSession", "init_fn", "queue runners", "BeforeRun", "Inspect",
                                        "AfterRun",           "End",     "step function"};

// Calls `act` once, at `place`.
class Acts {
 public:
  Acts(Place place, std::function<void()> act) : place_(place), act_(std::move(act)) {}
  void At(Place place) {
    if (place != place_ || !armed) return;
    armed = false;
    ++acted;
    act_();
  }
  bool armed = false;
  int acted = 0;

 private:
  const Place place_;
  const std::function<void()> act_;
};

class ActingHook : public SessionRunHook {
 public:
  explicit ActingHook(Acts& acts) : acts_(acts) {}
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& given) override {
    coord = given;
    return At(Place::kAfterCreateSession);
  }
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = fetch;
    const absl::Status fails = std::exchange(fails_once, absl::OkStatus());
    VIGIL_RETURN_IF_ERROR(fails);
    return At(Place::kBeforeRun);
  }
  void Inspect(const FetchedValues&) override { At(Place::kInspect).IgnoreError(); }
  absl::Status AfterRun(RunContext&, const RunValues& values) override {
    EXPECT_FALSE(values.results.none());
    return At(Place::kAfterRun);
  }
  absl::Status End(Session*) override { return At(Place::kEnd); }

  Output fetch;
  absl::Status fails_once;
  std::shared_ptr<Coordinator> coord;

 private:
  absl::Status At(Place place) {
    acts_.At(place);
    return absl::OkStatus();
  }
  Acts& acts_;
};

struct Model {
  explicit Model(const Env& env) : graph(BuiltinOps()) {
    Builder b(graph);
    step = *GetOrCreateGlobalStep(env, b);
    train = ops::AssignAdd(b, "train", step, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
    const ops::Queue queue = ops::FifoQueue(b, "queue", 100);
    const NodeId enqueue = ops::EnqueueMany(b, "enqueue", queue, b.Const("some", Tensor::Vector<std::int64_t>({1})));
    EXPECT_TRUE(b.status().ok()) << b.status();
    graph.AddToCollection(kQueueRunners, *QueueRunner::Create(env, {.queue_name = "queue", .enqueue_ops = {enqueue}}));
  }
  Graph graph;
  Output step, train;
};

struct Act {
  std::string name;
  std::function<absl::Status(MonitoredSession&, const Model&, ActingHook&, const std::shared_ptr<Scaffold>&)> play;
};

std::vector<Act> AllActs() {
  using S = MonitoredSession;
  using Pieces = std::shared_ptr<Scaffold>;
  return {
      {"Run", [](S& s, const Model& m, ActingHook&, const Pieces&) { return s.Run(m.train).status(); }},
      {"RunStepFn",
       [](S& s, const Model& m, ActingHook&, const Pieces&) {
         return s.RunStepFn([&m](StepContext& c) { return c.RunWithHooks(m.train).status(); });
       }},
      {"RunWithoutHooks",
       [](S& s, const Model& m, ActingHook&, const Pieces&) { return s.RunWithoutHooks(m.step).status(); }},
      {"ShouldStop", [](S& s, const Model&, ActingHook&, const Pieces&) { return s.ShouldStop().status(); }},
      {"Close", [](S& s, const Model&, ActingHook&, const Pieces&) { return s.Close(); }},
      {"Exit", [](S& s, const Model&, ActingHook&, const Pieces&) { return s.Exit(absl::OkStatus()); }},
      {"stop", [](S&, const Model&, ActingHook& hook,
                  const Pieces&) { return hook.coord == nullptr ? absl::OkStatus() : hook.coord->RequestStop(); }},
      {"a preemption, and ShouldStop",
       [](S& s, const Model&, ActingHook& hook, const Pieces&) {
         hook.coord->RequestStop(MakeStatus(Code::kAborted, "preempted")).IgnoreError();
         return s.ShouldStop().status();
       }},
      {"save",
       [](S& s, const Model&, ActingHook&, const Pieces& scaffold) -> absl::Status {
         if (scaffold->saver() == nullptr) return absl::OkStatus();
         return s.RunStepFn([&](StepContext& c) { return scaffold->saver()->Save(c.session(), "/dir/x", 1).status(); });
       }},
  };
}

// A life with a recovery, runs of both kinds and an end; the place is met after the first run.
void PlayLife(const Act& act, Place place, const Behaviour& behaviour) {
  SCOPED_TRACE(fmt::format("{} from {}, {}", act.name, kPlaces[static_cast<std::size_t>(place)],
                           behaviour.bounded_recovery ? "default" : "tensorflow"));
  fakes::FakeEnv fake;
  EXPECT_TRUE(fake.files.MakeDirectory("/dir").ok());
  Model model(fake.env());
  std::unique_ptr<MonitoredSession> session;
  std::shared_ptr<Scaffold> scaffold;
  std::shared_ptr<ActingHook> hook;
  absl::Status acted;
  Acts acts(place, [&] { acted = act.play(*session, model, *hook, scaffold); });
  hook = std::make_shared<ActingHook>(acts);
  hook->fetch = model.step;
  ScaffoldOptions pieces;
  pieces.behaviour = behaviour;
  pieces.init_fn = [&](Scaffold&, Session&) {
    acts.At(Place::kInitFn);
    return absl::OkStatus();
  };
  scaffold = std::make_shared<Scaffold>(fake.env(), model.graph, pieces);
  auto made = MonitoredSession::Create(
      fake.env(), model.graph,
      {.session_creator = std::make_shared<ChiefSessionCreator>(
           fake.env(), model.graph, ChiefSessionCreatorOptions{.scaffold = scaffold, .behaviour = behaviour}),
       .hooks = {hook},
       .behaviour = behaviour,
       .start_queue_runners = [&](const auto&, const auto&) {
         acts.At(Place::kQueueRunners);
         return absl::OkStatus();
       }});
  ASSERT_TRUE(made.ok()) << made.status();
  session = *std::move(made);
  ASSERT_TRUE(session->Run(model.train).ok());
  acts.armed = true;
  hook->fails_once = MakeStatus(Code::kUnavailable, "lost");
  session->Run(model.train).IgnoreError();
  session
      ->RunStepFn([&](StepContext& context) {
        acts.At(Place::kStepFn);
        return context.RunWithHooks(model.train).status();
      })
      .IgnoreError();
  session->Close().IgnoreError();
  EXPECT_TRUE(session->closed());
  if (place != Place::kInspect || behaviour.nan_stop_saves_nothing) {
    EXPECT_EQ(acts.acted, 1);
  }
  if (acted.ok()) return;
  EXPECT_EQ(CodeOf(acted), Code::kUsage) << acted;
  const std::string why(MessageOf(acted));
  const bool told = why.find("inside of") != std::string::npos || why.find("ShouldStop() before") != std::string::npos;
  EXPECT_TRUE(told) << why;
}

TEST(Reentrance, EveryActFromEveryPlaceWorksOrIsRefused) {
  for (const Act& act : AllActs()) {
    for (std::size_t place = 0; place < std::size(kPlaces); ++place) {
      for (const Behaviour& behaviour : {Behaviour::Default(), Behaviour::TensorFlow()}) {
        PlayLife(act, static_cast<Place>(place), behaviour);
      }
    }
  }
}

TEST(ReentranceDeathTest, ACallbackMustNotDestroyItsSession) {
  fakes::FakeEnv fake;
  Model model(fake.env());
  std::unique_ptr<MonitoredSession> session;
  Acts acts(Place::kAfterRun, [&] { session = nullptr; });
  const auto hook = std::make_shared<ActingHook>(acts);
  hook->fetch = model.step;
  session = *MonitoredSession::Create(
      fake.env(), model.graph,
      {.hooks = {hook}, .start_queue_runners = [](const auto&, const auto&) { return absl::OkStatus(); }});
  acts.armed = true;
  EXPECT_DEATH(session->Run(model.train).IgnoreError(), "calls_ == 0");
  acts.armed = false;
  EXPECT_TRUE(session->Close().ok());
}

}  // namespace
}  // namespace vigil

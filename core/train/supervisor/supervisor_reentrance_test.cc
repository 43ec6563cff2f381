// Everything that a callback may do to the supervisor that calls it: each act from each place, by both behaviours. It
// works or is refused by a status that says why; nothing waits for itself, and nothing that is still in use is freed
// (which a sanitizer sees).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/train/supervisor/testing.h"
#include "vigil/core/train/training_util.h"

namespace vigil {
namespace {

using std::chrono::seconds;

enum class Place { kInitFn, kReadyOp, kSummaryOp, kLoop, kBody };
constexpr std::string_view kPlaces[] = {"init_fn", "the ready op", "the summary op", "a loop", "the body"};

struct World;
struct SupervisorAct {
  std::string name;
  std::function<absl::Status(World&)> play;
};

// One supervisor, and an act that is done once, at one place.
struct World {
  World(Place at, const SupervisorAct& what, const Behaviour& by) : place(at), act(what), behaviour(by) {
    ops.Register(
        {.name = "ActWhenAsked", .output_types = Always({DType::kString}), .compute = [this](KernelContext& c) {
           At(Place::kReadyOp).IgnoreError();
           c.set_output(0, Tensor::Vector<std::string>({}));
           return absl::OkStatus();
         }});
    ops.Register({.name = "ActAndSum", .output_types = Always({DType::kString}), .compute = [this](KernelContext& c) {
                    At(Place::kSummaryOp).IgnoreError();
                    c.set_output(0, Tensor::Scalar<std::string>(""));
                    return absl::OkStatus();
                  }});
  }

  absl::Status At(Place where) {
    if (where != place || done) return absl::OkStatus();
    done = true;
    const Time before = fake.clock.Monotonic();
    acted = act.play(*this);
    took = fake.clock.Monotonic() - before;
    return absl::OkStatus();
  }

  void Play() {
    graph = std::make_unique<Graph>(ops);
    Builder b(*graph);
    step = *CreateGlobalStep(fake.env(), b);
    const Output ready = b.Op("ActWhenAsked", {});
    const Output summary = b.Op("ActAndSum", {});
    ASSERT_TRUE(b.status().ok()) << b.status();
    SupervisorOptions options{.logdir = "/logs", .save_summaries_secs = seconds(10), .stop_grace_secs = seconds(120)};
    options.ready_op = ready;
    options.summary_op = summary;
    options.init_fn = [this](Session&) { return At(Place::kInitFn); };
    options.behaviour = behaviour;
    auto made = Supervisor::Create(fake.env(), *graph, std::move(options));
    ASSERT_TRUE(made.ok()) << made.status();
    supervisor = *std::move(made);
    supervisor
        ->ManagedSession({},
                         [this](const SessionPtr& given) {
                           session = given;
                           const auto loop = supervisor->Loop(seconds(3), [this] { return At(Place::kLoop); });
                           fake.env().tasks->SleepUntil(DeadlineAfter(fake.env(), seconds(30)));
                           return At(Place::kBody);
                         })
        .IgnoreError();
    supervisor = nullptr;
    fake.tasks.EndAll();
  }

  const Place place;
  const SupervisorAct& act;
  const Behaviour behaviour;
  bool done = false;
  absl::Status acted;
  Duration took{0};
  OpRegistry ops = BuiltinOps();
  fakes::FakeEnv fake;
  std::unique_ptr<Graph> graph;
  Output step;
  SessionPtr session;
  std::unique_ptr<Supervisor> supervisor;
};

std::vector<SupervisorAct> SupervisorActs() {
  return {
      {"Stop", [](World& w) { return w.supervisor->Stop(); }},
      {"RequestStop", [](World& w) { return w.supervisor->RequestStop(); }},
      {"RequestStop with an error",
       [](World& w) { return w.supervisor->RequestStop(MakeStatus(Code::kAborted, "lost")); }},
      {"ManagedSession",
       [](World& w) { return w.supervisor->ManagedSession({}, [](const SessionPtr&) { return absl::OkStatus(); }); }},
      {"StartStandardServices",
       [](World& w) {
         return w.session == nullptr ? absl::OkStatus() : w.supervisor->StartStandardServices(w.session).status();
       }},
      {"Loop",
       [](World& w) {
         w.supervisor->Loop(
             seconds(1), [] { return absl::OkStatus(); }, "inner");
         return absl::OkStatus();
       }},
      {"run", [](World& w) { return w.session == nullptr ? absl::OkStatus() : RunFetch(*w.session, w.step).status(); }},
      {"close", [](World& w) { return w.session == nullptr ? absl::OkStatus() : w.session->Close(); }},
      {"save",
       [](World& w) {
         return w.session == nullptr ? absl::OkStatus()
                                     : w.supervisor->saver()->Save(*w.session, "/logs/mine", 1).status();
       }},
  };
}

TEST(SupervisorReentrance, EveryActFromEveryPlaceWorksOrIsRefused) {
  for (const SupervisorAct& act : SupervisorActs()) {
    for (const Place place : {Place::kInitFn, Place::kReadyOp, Place::kSummaryOp, Place::kLoop, Place::kBody}) {
      for (const Behaviour& behaviour : {Behaviour::Default(), Behaviour::TensorFlow()}) {
        World world(place, act, behaviour);
        SCOPED_TRACE(fmt::format("{} from {}, {}", act.name, kPlaces[static_cast<std::size_t>(place)],
                                 behaviour.bounded_recovery ? "default" : "tensorflow"));
        world.Play();
        EXPECT_TRUE(world.done);
        EXPECT_LE(world.took, seconds(60)) << "it waited for itself";
        if (act.name == "Stop" && place == Place::kLoop) {
          EXPECT_EQ(CodeOf(world.acted), Code::kUsage);
          EXPECT_THAT(std::string(MessageOf(world.acted)), testing::HasSubstr("inside of a service or a loop"));
        }
      }
    }
  }
}

// A loop that holds the last reference: the supervisor does not wait for the task that destroys it.
TEST(SupervisorReentrance, ALoopMayDestroyItsSupervisor) {
  fakes::FakeEnv fake;
  Graph graph(BuiltinOps());
  std::unique_ptr<Supervisor> supervisor = *Supervisor::Create(fake.env(), graph, {.stop_grace_secs = seconds(120)});
  Duration took{0};
  const TaskPtr task = supervisor
                           ->Loop(seconds(1),
                                  [&] {
                                    const Time before = fake.clock.Monotonic();
                                    supervisor = nullptr;
                                    took = fake.clock.Monotonic() - before;
                                    return absl::OkStatus();
                                  })
                           ->task();
  EXPECT_TRUE(task->Join(kNever));
  EXPECT_EQ(took, Duration(0));
  fake.tasks.EndAll();
}

}  // namespace
}  // namespace vigil

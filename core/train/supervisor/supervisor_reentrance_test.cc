// Everything that a callback may do to the supervisor that calls it: each act from each place, by both behaviours. It
// works or is refused by a status that says why; nothing waits for itself, and nothing that is still in use is freed
// (which a sanitizer sees).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/train/supervisor/testing.h"
#include "vigil/core/train/training_util.h"

namespace vigil {
namespace {

using std::chrono::seconds;

enum class Place {
  kInitFn,
  kReadyOp,
  kStart,
  kSummaryOp,
  kSummary,
  kLoop,
  kEnqueueOp,
  kCancelOp,
  kBody,
  kStop,
};
constexpr std::string_view kPlaces[] = {
    "init_fn", "the ready op",  "the writer of START", "the summary op", "the writer of a summary",
    "a loop",  "an enqueue op", "a cancel op",         "the body",       "the writer of STOP"};

// Whether a join of the supervisor's coordinator waits for who calls there.
bool IsJoined(Place place) {
  return place == Place::kSummaryOp || place == Place::kSummary || place == Place::kLoop ||
         place == Place::kEnqueueOp || place == Place::kCancelOp;
}

// A writer that somebody listens to.
class HeardWriter final : public SummaryWriter {
 public:
  explicit HeardWriter(std::function<absl::Status(Place)> heard) : heard_(std::move(heard)) {}
  const std::string& logdir() const override { return logdir_; }
  absl::Status AddSummary(const std::string&, std::optional<std::int64_t>) override { return heard_(Place::kSummary); }
  absl::Status AddSessionLog(SessionLogStatus status, std::optional<std::int64_t>, const std::string&) override {
    if (status == SessionLogStatus::kStart) return heard_(Place::kStart);
    return status == SessionLogStatus::kStop ? heard_(Place::kStop) : absl::OkStatus();
  }
  absl::Status AddGraph(const Graph&) override { return absl::OkStatus(); }
  absl::Status AddMetaGraph(const Graph&, std::optional<std::int64_t>) override { return absl::OkStatus(); }
  absl::Status AddRunMetadata(const RunMetadata&, const std::string&, std::optional<std::int64_t>) override {
    return absl::OkStatus();
  }
  absl::Status Flush() override { return absl::OkStatus(); }
  absl::Status Close() override { return absl::OkStatus(); }
  absl::Status Reopen() override { return absl::OkStatus(); }

 private:
  const std::string logdir_ = "/logs";
  const std::function<absl::Status(Place)> heard_;
};

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
    ops.Register({.name = "ActAndEnqueue", .output_types = Always({}), .compute = [this](KernelContext&) {
                    At(Place::kEnqueueOp).IgnoreError();
                    fake.env().tasks->SleepUntil(DeadlineAfter(fake.env(), seconds(7)));
                    return absl::OkStatus();
                  }});
    ops.Register({.name = "ActAndCancel", .output_types = Always({}), .compute = [this](KernelContext&) {
                    return At(Place::kCancelOp);
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
    const NodeId enqueue = b.Op("ActAndEnqueue", {}).node;
    const NodeId cancel = b.Op("ActAndCancel", {}).node;
    ASSERT_TRUE(b.status().ok()) << b.status();
    graph->AddToCollection(
        kQueueRunners,
        *QueueRunner::Create(fake.env(), {.queue_name = "queue", .enqueue_ops = {enqueue}, .cancel_op = cancel}));
    SupervisorOptions options{.logdir = "/logs", .save_summaries_secs = seconds(10), .stop_grace_secs = seconds(120)};
    options.ready_op = ready;
    options.summary_op = summary;
    options.summary_writer = SummaryWriterPtr(std::make_shared<HeardWriter>([this](Place where) { return At(where); }));
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
    for (std::size_t at = 0; at < std::size(kPlaces); ++at) {
      const auto place = static_cast<Place>(at);
      for (const Behaviour& behaviour : {Behaviour::Default(), Behaviour::TensorFlow()}) {
        World world(place, act, behaviour);
        SCOPED_TRACE(fmt::format("{} from {}, {}", act.name, kPlaces[at],
                                 behaviour.bounded_recovery ? "default" : "tensorflow"));
        world.Play();
        EXPECT_TRUE(world.done);
        EXPECT_LE(world.took, seconds(60)) << "it waited for itself";
        if ((act.name == "Stop" || act.name == "ManagedSession") && IsJoined(place)) {
          EXPECT_EQ(CodeOf(world.acted), Code::kUsage);
          EXPECT_THAT(std::string(MessageOf(world.acted)), testing::HasSubstr("inside of a service, a loop"));
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

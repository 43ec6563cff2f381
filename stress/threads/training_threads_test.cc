// A training session on a real disk, with queue runners, a saver, summaries and a counter of steps, while other threads
// ask for stops, read its coordinator and run its raw session; left in each of the ways there are.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/summary/summary_writer_cache.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/stress/testing.h"
#include "vigil/stress/threads/pausing_env.h"
#include "vigil/stress/threads/training.h"

namespace vigil::stress {
namespace {

constexpr int kRounds = 40;
constexpr int kMostRuns = 12;
constexpr int kLookers = 3;

// Tells the other threads of the session's insides, as they are now.
class Window : public SessionRunHook {
 public:
  struct View {
    std::shared_ptr<Session> session;
    std::shared_ptr<Coordinator> coord;
  };

  explicit Window(const Env& env) : mutex_(env.tasks->NewMutex("window")) {}
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>& coord) override {
    MutexLock lock(*mutex_);
    view_ = {session, coord};
    ++sessions_;
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    runs_in_session_ = sessions_.load();
    return absl::OkStatus();
  }
  View view() const {
    MutexLock lock(*mutex_);
    return view_;
  }
  // Whether the session it has now has made a run. (Recoveries in a row wait for each other.)
  bool settled() const { return runs_in_session_ == sessions_; }

 private:
  const std::unique_ptr<Mutex> mutex_;
  View view_;
  std::atomic<int> sessions_{0};
  std::atomic<int> runs_in_session_{0};
};

enum class Wish { kNothing, kStopRequest, kStop, kEndOfInput, kPreemption, kError, kLast };
enum class Leave { kClose, kExit, kExitWithError, kDrop, kLast };

// What has gone wrong may also be seen as what it led to: a queue that is cancelled.
const std::vector<Code> kEnds = {Code::kCancelled, Code::kOutOfRange, Code::kAborted, Code::kInternal};
// And of a run of the raw session's: it is closed.
const std::vector<Code> kEndsOfRawRuns = {Code::kCancelled, Code::kAborted, Code::kUsage};

class TrainingThreadsTest : public testing::Test {
 protected:
  Env env() const { return pausing_.env(); }
  Draws& draws() { return pausing_.draws(); }

  // Asks all that may be asked from any task.
  void Look(const Window& window, Wish wish, StopRequest& stop, const Training& training) {
    const Window::View view = window.view();
    if (view.coord == nullptr) return;
    EXPECT_THAT(view.coord->RequestedError(), OkOr(kEnds));
    if (view.coord->joined()) {
      EXPECT_TRUE(view.coord->ShouldStop());
    }
    EXPECT_FALSE(view.coord->diverged());
    EXPECT_TRUE(view.coord->stragglers().empty());
    view.coord->WaitForStop(std::chrono::microseconds(10));
    const absl::StatusOr<Tensor> step = RunFetch(*view.session, training.step);
    EXPECT_THAT(step.status(), OkOr(kEndsOfRawRuns));
    switch (wish) {
      case Wish::kStopRequest:
        stop.Request("a thread");
        break;
      case Wish::kStop:
        EXPECT_TRUE(view.coord->RequestStop().ok());
        break;
      case Wish::kEndOfInput:
        EXPECT_THAT(view.coord->RequestStop(MakeStatus(Code::kOutOfRange, "no more")), OkOr(kEnds));
        break;
      case Wish::kPreemption:
        if (window.settled()) {
          EXPECT_THAT(view.coord->RequestStop(MakeStatus(Code::kAborted, "gone")), OkOr(kEnds));
        }
        break;
      case Wish::kError:
        EXPECT_THAT(view.coord->RequestStop(MakeStatus(Code::kInternal, "broken")), OkOr(kEnds));
        break;
      case Wish::kNothing:
      case Wish::kLast:
        break;
    }
  }

  absl::Status Train(MonitoredSession& session, const Training& training) {
    for (int run = 0; run < kMostRuns; ++run) {
      VIGIL_ASSIGN_OR_RETURN(const bool stops, session.ShouldStop());
      if (stops) return absl::OkStatus();
      VIGIL_RETURN_IF_ERROR(session.Run(Fetches::Op(training.train.node)).status());
    }
    return absl::OkStatus();
  }

  void End(std::unique_ptr<MonitoredSession> session, Leave how, const absl::Status& trained) {
    switch (how) {
      case Leave::kClose:
        EXPECT_THAT(session->Close(), OkOr(kEnds));
        break;
      case Leave::kExit:
        EXPECT_THAT(session->Exit(trained), OkOr(kEnds));
        break;
      case Leave::kExitWithError:
        EXPECT_THAT(session->Exit(MakeStatus(Code::kInternal, "broken")), OkOr(kEnds));
        break;
      case Leave::kDrop:
      case Leave::kLast:
        break;
    }
    // As often as not by another thread.
    if (draws().Below(2) == 0) {
      const auto task = env().tasks->Spawn("drops", [&session] { session = nullptr; });
      EXPECT_TRUE(task->Join(kNever));
    }
  }

  // One program, from its start to its end.
  void Round() {
    Training training(env());
    const auto window = std::make_shared<Window>(env());
    const auto stop = std::make_shared<StopRequest>(env());
    std::atomic<bool> done{false};
    std::vector<std::unique_ptr<Task>> lookers;
    for (int i = 0; i < kLookers; ++i) {
      const Wish wish = static_cast<Wish>(draws().Below(static_cast<int>(Wish::kLast)));
      lookers.push_back(env().tasks->Spawn("looks", [&, wish, after = draws().Below(20)]() {
        for (int look = 0; !done; ++look) Look(*window, look == after ? wish : Wish::kNothing, *stop, training);
      }));
    }
    auto session = MonitoredTrainingSession(env(), training.graph,
                                            {.checkpoint_dir = folder_.path(),
                                             .hooks = {window},
                                             .save_checkpoint_steps = std::int64_t{3},
                                             .save_summaries_steps = std::int64_t{2},
                                             .log_step_count_steps = 2,
                                             .stop = stop});
    EXPECT_THAT(session.status(), OkOr(kEnds));
    if (session.ok()) {
      const absl::Status trained = Train(**session, training);
      EXPECT_THAT(trained, OkOr(kEnds));
      EXPECT_TRUE((*session)->stragglers().empty());
      End(*std::move(session), static_cast<Leave>(draws().Below(static_cast<int>(Leave::kLast))), trained);
    }
    done = true;
    for (const auto& task : lookers) EXPECT_TRUE(task->Join(kNever));
    const Window::View view = window->view();
    if (view.session == nullptr) return;
    EXPECT_TRUE(view.session->closed());
    EXPECT_TRUE(view.coord->ShouldStop());
  }

  const Folder folder_;
  PausingEnv pausing_;
};

TEST_F(TrainingThreadsTest, WhateverOthersDoItGoesOnWhereItHasSaved) {
  std::int64_t saved = 0;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    Round();
    const std::int64_t step = SavedStep(env(), folder_.path(), true);
    EXPECT_GE(step, saved);
    EXPECT_LE(step, saved + 2 * kMostRuns);
    saved = step;
  }
  EXPECT_GT(saved, 0);
  EXPECT_GT(pausing_.pauses(), 100u);
  EXPECT_TRUE(SummaryWriterCacheClear(env()).ok());
  EXPECT_EQ(CheckEvents(env(), folder_.path()), "OK");
}

}  // namespace
}  // namespace vigil::stress

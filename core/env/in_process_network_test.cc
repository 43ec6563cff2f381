#include "vigil/core/env/in_process_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using testing::ElementsAre;

// Cannot make some tasks, as a process with too many threads.
class ScarceTasks final : public Tasks {
 public:
  explicit ScarceTasks(Tasks& tasks) : tasks_(tasks) {}
  std::unique_ptr<Task> Spawn(std::string_view name, std::function<void()> body) override {
    if (name == refused) throw std::runtime_error("Resource temporarily unavailable");
    return tasks_.Spawn(name, std::move(body));
  }
  void SleepUntil(Time deadline) override { tasks_.SleepUntil(deadline); }
  std::unique_ptr<Mutex> NewMutex(std::string_view name) override { return tasks_.NewMutex(name); }
  std::unique_ptr<Condition> NewCondition(std::string_view name) override { return tasks_.NewCondition(name); }
  std::uint64_t CurrentTask() override { return tasks_.CurrentTask(); }

  std::string refused;

 private:
  Tasks& tasks_;
};

class InProcessNetworkTest : public testing::Test {
 protected:
  InProcessNetworkTest() : tasks_(fake_.tasks), network_(tasks_) {
    // Never answers, but for those who give up.
    listener_ = *network_.Listen("a:1", [this](IncomingCall& call) -> NetworkReply {
      while (!call.cancelled()) fake_.tasks.SleepUntil(fake_.clock.Monotonic() + std::chrono::seconds(1));
      return absl::Cord("late");
    });
  }
  void Start() {
    network_.Start({.to = "a:1",
                    .method = "wait",
                    .body = absl::Cord(""),
                    .deadline = fake_.clock.Monotonic() + std::chrono::seconds(5)},
                   [this](const NetworkReply& reply) { replies_.push_back(fakes::Text(reply.status())); });
    fake_.tasks.RunReady();
  }
  void Wait(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      fake_.clock.Advance(std::chrono::seconds(1));
      fake_.tasks.RunReady();
    }
  }

  fakes::FakeEnv fake_;
  ScarceTasks tasks_;
  InProcessNetwork network_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::string> replies_;
};

TEST_F(InProcessNetworkTest, DeadlinesAreKeptAgainOnceThereAreTasks) {
  tasks_.refused = "network deadlines";
  Start();
  EXPECT_THAT(replies_,
              ElementsAre("RESOURCE_EXHAUSTED: The task network deadlines could not be started: Resource temporarily "
                          "unavailable. Raise the limit of threads, or use fewer of them."));
  tasks_.refused = "";
  Start();
  EXPECT_EQ(replies_.size(), 1u);
  Wait(6);
  ASSERT_EQ(replies_.size(), 2u);
  EXPECT_EQ(replies_[1], "DEADLINE_EXCEEDED: Deadline Exceeded");
}

TEST_F(InProcessNetworkTest, ACallThatNoTaskCanBeMadeForFails) {
  tasks_.refused = "wait";
  Start();
  EXPECT_THAT(replies_,
              ElementsAre("RESOURCE_EXHAUSTED: The task wait could not be started: Resource temporarily unavailable. "
                          "Raise the limit of threads, or use fewer of them."));
  Wait(6);
  EXPECT_EQ(replies_.size(), 1u) << "answered once, although its deadline has passed";
  listener_.reset();
  EXPECT_EQ(replies_.size(), 1u) << "and it is no longer under way";
}

}  // namespace
}  // namespace vigil

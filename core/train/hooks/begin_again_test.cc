// A hook may begin again on the same graph, and then changes nothing in it (session_run_hook.py, SessionRunHook.begin).
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/train/hooks/testing.h"
#include "vigil/core/train/monitored_session.h"

namespace vigil {
namespace {

class BeginAgainTest : public HookTest {
 protected:
  void OneRun(const HookPtr& hook) {
    auto creator =
        std::make_shared<ChiefSessionCreator>(env(), graph_, ChiefSessionCreatorOptions{.scaffold = scaffold_});
    const auto session = MonitoredSession::Create(env(), graph_, {.session_creator = creator, .hooks = {hook}});
    ASSERT_TRUE(session.ok()) << session.status();
    const absl::Status run = (*session)->Run(train_).status();
    EXPECT_TRUE(run.ok()) << run;
    const absl::Status closed = (*session)->Close();
    EXPECT_TRUE(closed.ok()) << closed;
  }

  const std::shared_ptr<Scaffold> scaffold_ = std::make_shared<Scaffold>(env(), graph_);
};

TEST_F(BeginAgainTest, ChangesNothingInTheGraph) {
  for (const auto& [name, hook] : EveryHook(scaffold_)) {
    SCOPED_TRACE(name);
    OneRun(hook);
    const std::string once = ToGraphDef(graph_).DebugString();
    OneRun(hook);
    EXPECT_EQ(ToGraphDef(graph_).DebugString(), once);
  }
}

}  // namespace
}  // namespace vigil

// What the tests of the supervisor share: a small model, ways to prepare and to look, and an events file as lines.
#ifndef VIGIL_CORE_TRAIN_SUPERVISOR_TESTING_H_
#define VIGIL_CORE_TRAIN_SUPERVISOR_TESTING_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/resource.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/supervisor/supervisor.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {

using fakes::Text;

// Direct sessions that may share their variables; remembers what was asked for.
class TestFactory : public SessionFactory {
 public:
  explicit TestFactory(const Env& env, std::shared_ptr<ResourceManager> shared = nullptr);
  absl::StatusOr<std::unique_ptr<Session>> Create(const Graph& graph, const std::string& master,
                                                  const SessionConfig& config) override;
  int created = 0;
  SessionTarget seen;
  std::function<absl::Status()> before_create;

 private:
  const Env env_;
  std::shared_ptr<ResourceManager> shared_;
};

// The model: a global step that `train` counts up.
class SupervisorTest : public testing::Test {
 protected:
  static constexpr char kLogdir[] = "/logs";

  SupervisorTest();
  Env env() { return fake_.env(); }
  double Now() { return ToSeconds(fake_.clock.Monotonic().since_epoch); }
  void SleepUntil(double secs) { env().tasks->SleepUntil({Seconds(secs)}); }
  // A variable of that name and value in the model.
  ops::Variable Variable(const std::string& name, std::int64_t value,
                         CollectionKey<Output> collection = kGlobalVariables);

  std::unique_ptr<Supervisor> Make(SupervisorOptions options);
  SessionPtr Prepare(Supervisor& supervisor, const PrepareSessionOptions& options = {});
  // The value, or the code of the error.
  static std::string Value(Session& session, Output of);
  // "OK", or "CODE: message".

  // Paths of the events files in kLogdir, oldest first.
  std::vector<std::string> EventsFiles();
  // "version", "graph", "meta_graph", "START step=0", "summary step=3 mine=1.5".
  std::vector<std::string> Events(const std::string& path);
  bool Exists(const std::string& name) { return *vigil::Exists(fake_.files, std::string(kLogdir) + "/" + name); }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  Output step_, train_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_SUPERVISOR_TESTING_H_

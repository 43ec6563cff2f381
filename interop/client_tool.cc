// Our client against a master of anybody's, for the scripts of this folder. Standard output has one line for each
// result.
//
//   play TARGET TOLERANCE FILE...   plays what TensorFlow recorded in sessions of that master: "FILE same", or "FILE
//                                   differs: what"
//   talk TARGET PS WORKER           one conversation, in which all that a session can ask is asked, with variables on
//                                   the task PS: a line for each answer
//   train TARGET FOLDER STEP        a monitored training session, to that step: the steps that it saw
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/env/grpc/grpc_network.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/session.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/interop/tool.h"
#include "vigil/replays/graphs/graph_player.h"

namespace vigil::interop {
namespace {

absl::Status Play(const Env& env, const Words& words) {
  for (std::size_t i = 2; i < words.size(); ++i) {
    VIGIL_RETURN_IF_ERROR(ResetCluster(env, words[0]));
    const absl::StatusOr<RecordedPlay> play = ReadPlay(words[i]);
    ClusterSessionFactory sessions(env);
    std::string differs =
        play.ok() ? Differences(env, *play, std::stod(words[1]), &sessions, words[0]) : TextOf(play.status());
    Say(fmt::format("{} {}", words[i], differs.empty() ? "same" : "differs: " + differs));
  }
  return absl::OkStatus();
}

// "double [] 3", its first element after its type and shape.
std::string TextOf(const Tensor& value) {
  return fmt::format("{} {}", value.Describe(), value.num_elements() > 0 ? value.flat<double>()[0] : 0);
}

class Conversation {
 public:
  Conversation(const Env& env, const Words& words) : env_(env), target_(words.at(0)), b_(graph_) {
    {
      const DeviceScope on_ps(b_, words.at(1));
      v_ = ops::MakeVariable(b_, "v", b_.Const("one", Tensor::Scalar<double>(1)));
      queue_ = ops::FifoQueue(b_, "queue", 2);
      late_ = ops::Dequeue(b_, "late", queue_);
    }
    const DeviceScope on_worker(b_, words.at(2));
    x_ = ops::Placeholder(b_, "x", DType::kDouble);
    sum_ = b_.Op("AddV2", {v_.read, x_}, {.name = "sum"});
    add_ = ops::AssignAdd(b_, "add", v_.ref, sum_);
  }

  absl::Status Hold() {
    VIGIL_RETURN_IF_ERROR(b_.status());
    VIGIL_RETURN_IF_ERROR(ResetCluster(env_, target_));
    ClusterSessionFactory sessions(env_);
    // Of which TensorFlow's servers know nothing: who does not answer it is there all the same.
    VIGIL_ASSIGN_OR_RETURN(session_, sessions.Create(graph_, target_, {.keepalive = std::chrono::seconds(1)}));
    Ask("uninitialized", {v_.read});
    Ask("initialized", {}, {}, {v_.initializer});
    Ask("fetched", {v_.read, sum_, v_.read}, {Tensor::Scalar<double>(4)});
    Ask("fed and fetched", {x_}, {Tensor::Scalar<double>(4)});
    Ask("no feed", {sum_});
    Ask("changed", {add_}, {Tensor::Scalar<double>(4)});
    Ask("large", {sum_}, {Tensor(DType::kDouble, {100, 1000})});
    Ask("never", {late_}, {}, {}, {.timeout_in_ms = 2500});
    Trace();
    Grow();
    VIGIL_RETURN_IF_ERROR(Devices());
    Say(fmt::format("closed: {}", CodeName(CodeOf(session_->Close()))));
    Ask("after the close", {v_.read});
    VIGIL_ASSIGN_OR_RETURN(session_, sessions.Create(graph_, target_, {}));
    Ask("of another session", {v_.read});
    VIGIL_RETURN_IF_ERROR(ResetCluster(env_, target_));
    Ask("in a session that is over", {v_.read});
    VIGIL_ASSIGN_OR_RETURN(session_, sessions.Create(graph_, target_, {}));
    Ask("after a reset", {v_.read});
    return session_->Close();
  }

 private:
  void Ask(std::string_view what, std::vector<Output> fetches, const std::vector<Tensor>& fed = {},
           std::vector<NodeId> targets = {}, const RunOptions& options = {}) {
    RunSpec spec{.feeds = {}, .fetches = std::move(fetches), .targets = std::move(targets)};
    if (!fed.empty()) spec.feeds = {x_};
    std::vector<Tensor> out;
    const absl::Status status = session_->Run({.spec = spec, .feed_values = fed, .options = &options}, &out);
    std::string line = fmt::format("{}: {}", what, CodeName(CodeOf(status)));
    if (status.ok()) {
      for (const Tensor& each : out) line += " " + TextOf(each);
    }
    Say(std::move(line));
    // Which words it has is each master's own; that it has some is not.
    if (!status.ok() && MessageOf(status).empty()) Say("it does not say why");
  }

  void Trace() {
    const RunSpec spec{.feeds = {x_}, .fetches = {sum_}};
    const std::vector<Tensor> fed = {Tensor::Scalar<double>(4)};
    const RunOptions options{.trace_level = TraceLevel::kFullTrace};
    RunMetadata metadata;
    std::vector<Tensor> out;
    const absl::Status status =
        session_->Run({.spec = spec, .feed_values = fed, .options = &options, .metadata = &metadata}, &out);
    std::set<std::string> ran;
    for (const NodeStats& stats : metadata.step_stats) {
      if (stats.node_name != "sum" && stats.node_name != "v/read") continue;
      const bool timed = stats.start_ns > 0 && stats.end_ns >= stats.start_ns;
      ran.insert(fmt::format("{} = {} on {}{}", stats.node_name, stats.op, stats.device, timed ? "" : ", at no time"));
    }
    Say(fmt::format("traced: {} {}", CodeName(CodeOf(status)), fmt::join(ran, "; ")));
  }

  void Grow() {
    const Output twice = b_.Op("Mul", {v_.read, b_.Const("two", Tensor::Scalar<double>(2))}, {.name = "twice"});
    Ask("grown", {twice});
    const Output again = b_.Op("Mul", {twice, twice}, {.name = "again"});
    Ask("grown again", {again, v_.read});
  }

  absl::Status Devices() {
    VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<MasterInterface> master, FindMaster(env_, target_, {}));
    VIGIL_ASSIGN_OR_RETURN(const proto::ListDevicesResponse listed, master->ListDevices(""));
    std::set<std::string> devices;
    for (const auto& each : listed.local_device()) devices.insert("local " + each.name());
    for (const auto& each : listed.remote_device()) devices.insert("remote " + each.name());
    Say(fmt::format("devices: {}", fmt::join(devices, ", ")));
    return absl::OkStatus();
  }

  const Env env_;
  const std::string target_;
  Graph graph_{BuiltinOps()};
  Builder b_;
  ops::Variable v_;
  ops::Queue queue_;
  Output x_, sum_, add_, late_;
  std::unique_ptr<Session> session_;
};

absl::Status Train(const Env& env, const Words& words) {
  VIGIL_RETURN_IF_ERROR(ResetCluster(env, words.at(0)));
  Graph graph(BuiltinOps());
  Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env, b));
  const Output train = ops::AssignAdd(b, "train", step, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
  VIGIL_RETURN_IF_ERROR(b.status());
  VIGIL_ASSIGN_OR_RETURN(auto stop, StopAtStepHook::Create(env, {.last_step = std::stoll(words.at(2))}));
  VIGIL_ASSIGN_OR_RETURN(
      auto session,
      MonitoredTrainingSession(
          env, graph,
          {.master = words.at(0), .checkpoint_dir = words.at(1), .hooks = {stop}, .save_checkpoint_steps = 5}));
  return WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    while (true) {
      VIGIL_ASSIGN_OR_RETURN(const bool stops, s.ShouldStop());
      if (stops) return absl::OkStatus();
      VIGIL_ASSIGN_OR_RETURN(const RunResult result, s.Run(train));
      Say(fmt::format("step {}", result.values().scalar<std::int64_t>()));
    }
  });
}

absl::Status Do(const Env& machine, const std::string& command, const Words& words) {
  VIGIL_ASSIGN_OR_RETURN(const std::unique_ptr<GrpcNetwork> network, GrpcNetwork::Create(machine, {}));
  Env env = machine;
  env.network = network.get();
  if (command == "play") return Play(env, words);
  if (command == "talk") return Conversation(env, words).Hold();
  if (command == "train") return Train(env, words);
  return UsageError(fmt::format("there is no command '{}': play, talk and train are known", command));
}

}  // namespace
}  // namespace vigil::interop

int main(int argc, char** argv) { return vigil::interop::RunTool("client_tool", argc, argv, &vigil::interop::Do); }

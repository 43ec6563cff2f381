#include "vigil/interop/record_program.h"

#include <span>
#include <utility>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/saver_meta_graph.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/tensor/tensor_proto.h"

namespace vigil::interop {
namespace {

class Recorder {
 public:
  Recorder(const Env& env, const Graph& graph) : graph_(graph), session_(NewDirectSession(env, graph)) {}

  absl::Status Run(const RunSpec& spec, std::span<const Tensor> feeds) {
    RecordedPlay::Run run;
    run.request.set_session_handle("1");
    for (std::size_t i = 0; i < spec.feeds.size(); ++i) {
      auto* const feed = run.request.add_feed();
      feed->set_name(graph_.NameOf(spec.feeds[i]));
      ToProto(feeds[i], feed->mutable_tensor());
    }
    for (const Output fetch : spec.fetches) run.request.add_fetch(graph_.NameOf(fetch));
    for (const NodeId target : spec.targets) run.request.add_target(graph_.node(target).name);
    std::vector<Tensor> fetched;
    VIGIL_RETURN_IF_ERROR(session_->Run({.spec = spec, .feed_values = feeds}, &fetched));
    for (std::size_t i = 0; i < fetched.size(); ++i) {
      auto* const tensor = run.response.add_tensor();
      tensor->set_name(graph_.NameOf(spec.fetches[i]));
      ToProto(fetched[i], tensor->mutable_tensor());
    }
    runs_.push_back(std::move(run));
    return absl::OkStatus();
  }

  std::vector<RecordedPlay::Run> Take() { return std::move(runs_); }

 private:
  const Graph& graph_;
  const std::unique_ptr<Session> session_;
  std::vector<RecordedPlay::Run> runs_;
};

}  // namespace

absl::StatusOr<RecordedPlay> RecordProgram(const Env& env, Graph& graph, const DrawnProgram& program) {
  RecordedPlay play;
  const std::vector<SaverPtr>& savers = graph.Collection(kSavers);
  VIGIL_ASSIGN_OR_RETURN(play.graph,
                         ExportMetaGraphFile(env, graph, {.saver = savers.empty() ? nullptr : savers[0].get()}));
  Recorder recorder(env, graph);
  VIGIL_RETURN_IF_ERROR(recorder.Run({.targets = {program.init}}, {}));
  const std::size_t n = program.feeds.size();
  for (std::size_t step = 0; step < kSteps; ++step) {
    const std::span<const Tensor> batch = std::span(program.batches).subspan(step * n, n);
    VIGIL_RETURN_IF_ERROR(recorder.Run({.feeds = program.feeds, .fetches = program.values}, batch));
    VIGIL_RETURN_IF_ERROR(recorder.Run({.feeds = program.feeds, .targets = {program.train.node}}, batch));
  }
  VIGIL_RETURN_IF_ERROR(
      recorder.Run({.feeds = program.feeds, .fetches = program.values}, std::span(program.batches).first(n)));
  play.runs = recorder.Take();
  return play;
}

}  // namespace vigil::interop

#include "vigil/replays/graphs/graph_player.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner_def.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/io/record_writer.h"
#include "vigil/core/ops/meta_graph.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/tensor/tensor_proto.h"

namespace vigil {
namespace {

template <typename T>
std::string ValuesDiffer(const Tensor& ours, const Tensor& theirs, double tolerance) {
  const auto a = ours.flat<T>();
  const auto b = theirs.flat<T>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if constexpr (std::is_floating_point_v<T>) {
      const double off = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
      if ((std::isnan(a[i]) && std::isnan(b[i])) ||
          off <= tolerance * std::max(1.0, std::abs(static_cast<double>(b[i]))))
        continue;
    }
    return fmt::format("element {} is {}, not {}", i, a[i], b[i]);
  }
  return "";
}

std::string TensorsDiffer(const Tensor& ours, const Tensor& theirs, double tolerance) {
  if (ours.dtype() != theirs.dtype() || ours.shape() != theirs.shape()) {
    return fmt::format("is {}, not {}", ours.Describe(), theirs.Describe());
  }
  switch (ours.dtype()) {
    case DType::kFloat:
      return ValuesDiffer<float>(ours, theirs, tolerance);
    case DType::kDouble:
      return ValuesDiffer<double>(ours, theirs, tolerance);
    case DType::kString:
      return ValuesDiffer<std::string>(ours, theirs, tolerance);
    case DType::kBool:
      return ValuesDiffer<bool>(ours, theirs, tolerance);
    case DType::kInt32:
      return ValuesDiffer<std::int32_t>(ours, theirs, tolerance);
    case DType::kInt64:
      return ValuesDiffer<std::int64_t>(ours, theirs, tolerance);
    default:
      return ours.bytes() == theirs.bytes() ? "" : "differs";
  }
}

class Player {
 public:
  Player(const Graph& graph, SessionFactory& sessions, std::string master, double tolerance)
      : graph_(graph), sessions_(sessions), master_(std::move(master)), tolerance_(tolerance) {}

  // What differs.
  absl::StatusOr<std::string> Play(const RecordedPlay::Run& run) {
    RunSpec spec;
    std::vector<Tensor> feeds;
    for (const auto& feed : run.request.feed()) {
      const std::optional<Output> output = graph_.FindOutput(feed.name());
      if (!output.has_value()) return fmt::format("there is no {} to feed\n", feed.name());
      spec.feeds.push_back(*output);
      VIGIL_ASSIGN_OR_RETURN(feeds.emplace_back(), FromProto(feed.tensor()));
    }
    for (const std::string& fetch : run.request.fetch()) {
      if (const std::optional<Output> output = graph_.FindOutput(fetch)) {
        spec.fetches.push_back(*output);
      } else {
        spec.unresolved.push_back(fetch);
      }
    }
    for (const std::string& target : run.request.target()) {
      const std::optional<NodeId> node = graph_.Find(target);
      if (!node.has_value()) return fmt::format("there is no {} to run\n", target);
      spec.targets.push_back(*node);
    }
    VIGIL_ASSIGN_OR_RETURN(Session* const session, SessionOf(run.request.session_handle()));
    std::vector<Tensor> fetched;
    const absl::Status status = session->Run({.spec = spec, .feed_values = feeds}, &fetched);
    return Compare(run, status, fetched);
  }

 private:
  absl::StatusOr<Session*> SessionOf(const std::string& handle) {
    std::unique_ptr<Session>& session = open_[handle];
    if (session == nullptr) {
      VIGIL_ASSIGN_OR_RETURN(session, sessions_.Create(graph_, master_, {}));
    }
    return session.get();
  }

  absl::StatusOr<std::string> Compare(const RecordedPlay::Run& run, const absl::Status& status,
                                      const std::vector<Tensor>& fetched) const {
    const auto& theirs = run.response;
    const absl::Status wanted_status(static_cast<absl::StatusCode>(theirs.status_code()), "");
    if (CodeOf(status) != CodeOf(wanted_status)) {
      return fmt::format("{}, not code {} {}\n", status.ToString(), theirs.status_code(),
                         theirs.status_error_message());
    }
    std::string differences;
    for (int i = 0; status.ok() && i < theirs.tensor_size(); ++i) {
      VIGIL_ASSIGN_OR_RETURN(const Tensor wanted, FromProto(theirs.tensor(i).tensor()));
      const std::string how = TensorsDiffer(fetched[static_cast<std::size_t>(i)], wanted, tolerance_);
      if (!how.empty()) differences += fmt::format("{}: {}\n", theirs.tensor(i).name(), how);
    }
    return differences;
  }

  const Graph& graph_;
  SessionFactory& sessions_;
  const std::string master_;
  const double tolerance_;
  std::map<std::string, std::unique_ptr<Session>> open_;
};

}  // namespace

absl::StatusOr<RecordedPlay> ReadPlay(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  RecordReader reader(bytes);
  RecordedPlay play;
  const auto broken = [&path] { return MakeStatus(Code::kDataLoss, fmt::format("{} is no play", path)); };
  const auto read = [&](auto* message) -> absl::StatusOr<bool> {
    VIGIL_ASSIGN_OR_RETURN(const std::optional<std::string_view> record, reader.Next());
    if (!record.has_value()) return false;
    if (!message->ParseFromArray(record->data(), static_cast<int>(record->size()))) return broken();
    return true;
  };
  VIGIL_ASSIGN_OR_RETURN(const bool has_graph, read(&play.graph));
  if (!has_graph) return broken();
  while (true) {
    RecordedPlay::Run run;
    VIGIL_ASSIGN_OR_RETURN(const bool more, read(&run.request));
    if (!more) return play;
    VIGIL_ASSIGN_OR_RETURN(const bool answered, read(&run.response));
    if (!answered) return broken();
    play.runs.push_back(std::move(run));
  }
}

absl::Status WritePlay(Files& files, const std::string& path, const RecordedPlay& play) {
  std::string bytes;
  AppendRecord(play.graph.SerializeAsString(), &bytes);
  for (const RecordedPlay::Run& run : play.runs) {
    AppendRecord(run.request.SerializeAsString(), &bytes);
    AppendRecord(run.response.SerializeAsString(), &bytes);
  }
  return WriteAtomically(files, path, bytes, false);
}

std::string Differences(const Env& env, const RecordedPlay& play, double tolerance, SessionFactory* sessions,
                        const std::string& master) {
  Graph graph(BuiltinOps());
  const auto unread = ImportMetaGraph(play.graph, graph, {.codecs = {QueueRunnerCodec(env)}});
  if (!unread.ok()) return fmt::format("not imported: {}\n", unread.status().ToString());
  graph.Finalize();
  DirectSessionFactory direct(env);
  Player player(graph, sessions == nullptr ? direct : *sessions, master, tolerance);
  std::string differences;
  for (std::size_t i = 0; i < play.runs.size(); ++i) {
    const absl::StatusOr<std::string> run = player.Play(play.runs[i]);
    const std::string text = run.ok() ? *run : run.status().ToString() + "\n";
    if (!text.empty()) differences += fmt::format("run {}: {}", i + 1, text);
  }
  return differences;
}

}  // namespace vigil

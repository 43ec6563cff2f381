#include "vigil/properties/verify/watched_seams.h"

#include <fmt/format.h>

#include <set>

#include "vigil/core/base/code.h"
#include "vigil/properties/verify/findings.h"

namespace vigil {

std::unique_ptr<Task> WatchedTasks::Spawn(std::string_view name, std::function<void()> body) {
  if (evidence_->ended) evidence_->Offend(promise::kAfterEnd, fmt::format("starts the task '{}' after End", name));
  auto done = std::make_shared<bool>(false);
  evidence_->tasks.push_back({std::string(name), done, evidence_->coord});
  return inner().Spawn(name, [body = std::move(body), done] {
    struct AtEnd {
      bool& done;
      ~AtEnd() { done = true; }
    } const at_end{*done};
    body();
  });
}

absl::StatusOr<std::unique_ptr<File>> WatchedFiles::Open(const std::string& path, OpenMode mode) {
  if (mode != OpenMode::kRead) evidence_->Changes(path);
  return inner().Open(path, mode);
}
absl::Status WatchedFiles::Rename(const std::string& from, const std::string& to) {
  evidence_->Changes(from);
  evidence_->Changes(to);
  return inner().Rename(from, to);
}
absl::Status WatchedFiles::Remove(const std::string& path) {
  evidence_->Changes(path);
  return inner().Remove(path);
}
absl::Status WatchedFiles::MakeDirectory(const std::string& path) {
  evidence_->Changes(path);
  return inner().MakeDirectory(path);
}

void WatchedSession::Uses(std::string_view how) {
  if (evidence_->ended) {
    evidence_->Offend(promise::kAfterEnd, fmt::format("{} session {} after End", how, number()));
  } else if (number() != evidence_->session) {
    evidence_->Offend(
        promise::kOldSession,
        fmt::format(
            "{} session {} {}, which was given up{}", how, number(), evidence_->Where(),
            evidence_->session == 0 ? "" : fmt::format(": session {} has taken its place", evidence_->session)));
  }
}

bool WatchedSession::Trains(const RunSpec& spec) const {
  std::set<NodeId> seen;
  std::vector<NodeId> todo = spec.targets;
  for (const Output& fetch : spec.fetches) todo.push_back(fetch.node);
  while (!todo.empty()) {
    const NodeId id = todo.back();
    todo.pop_back();
    if (id == train_.node) return true;
    // The session refuses what is of another graph.
    if (!graph().HasNode(id) || !seen.insert(id).second) continue;
    const Node& node = graph().node(id);
    todo.insert(todo.end(), node.control_inputs.begin(), node.control_inputs.end());
    for (const Output& input : node.inputs) todo.push_back(input.node);
  }
  return false;
}

absl::Status WatchedSession::Run(const RunCall& call, std::vector<Tensor>* fetched) {
  Uses("runs");
  if (!evidence_->options->may_run_train_op && Trains(call.spec)) {
    evidence_->Offend(promise::kTrainOp, fmt::format("runs the train op {}", evidence_->Where()));
  }
  absl::Status status = inner_->Run(call, fetched);
  if (!status.ok()) evidence_->own_failures.push_back(CodeOf(status));
  return status;
}

absl::Status WatchedSession::Close() {
  evidence_->Offend(promise::kClosesSession, fmt::format("closes session {} {}", number(), evidence_->Where()));
  return inner_->Close();
}

}  // namespace vigil

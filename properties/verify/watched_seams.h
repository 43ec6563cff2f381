// The seams and the session that a hook under verification is given: they pass everything on and note what it has no
// right to.
//
// Thread safety: none of their own; tasks of a world take turns.
#ifndef VIGIL_PROPERTIES_VERIFY_WATCHED_SEAMS_H_
#define VIGIL_PROPERTIES_VERIFY_WATCHED_SEAMS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/env/forwarding.h"
#include "vigil/core/session/session.h"
#include "vigil/properties/verify/evidence.h"

namespace vigil {

class WatchedTasks : public ForwardingTasks {
 public:
  WatchedTasks(Tasks& inner, EvidencePtr evidence) : ForwardingTasks(inner), evidence_(std::move(evidence)) {}
  std::unique_ptr<Task> Spawn(std::string_view name, std::function<void()> body) override;

 private:
  const EvidencePtr evidence_;
};

class WatchedFiles : public ForwardingFiles {
 public:
  WatchedFiles(Files& inner, EvidencePtr evidence) : ForwardingFiles(inner), evidence_(std::move(evidence)) {}
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status MakeDirectory(const std::string& path) override;

 private:
  const EvidencePtr evidence_;
};

class WatchedSession : public Session {
 public:
  // `graph` and `train` as the model's: what the train op is a part of is training.
  WatchedSession(std::shared_ptr<Session> inner, Output train, EvidencePtr evidence)
      : inner_(std::move(inner)), train_(train), evidence_(std::move(evidence)) {}
  std::int64_t number() const override { return inner_->number(); }
  const Graph& graph() const override { return inner_->graph(); }
  bool closed() const override { return inner_->closed(); }
  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) override;
  absl::Status Close() override;

 private:
  // Says so if the session is no longer there to be used.
  void Uses(std::string_view how);
  bool Trains(const RunSpec& spec) const;

  const std::shared_ptr<Session> inner_;
  const Output train_;
  const EvidencePtr evidence_;
};

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_WATCHED_SEAMS_H_

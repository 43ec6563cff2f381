// The values that a saver saves, as they were in a session at some moment: written without that session, whatever
// becomes of it.
//
// Tensors share their elements until somebody writes, so taking the values copies none: a variable that is changed
// afterwards leaves them as they are. Part of Saver (saver.h).
#ifndef VIGIL_CORE_CHECKPOINT_CAPTURED_VALUES_H_
#define VIGIL_CORE_CHECKPOINT_CAPTURED_VALUES_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/session/plan.h"
#include "vigil/core/session/session.h"

namespace vigil {

// A session in which nothing but `outputs` has a value: runs what needs no other, in this process. It keeps the graph's
// nodes.
// Thread safety: one task at a time.
class CapturedValues : public Session {
 public:
  // One run of `session`; its errors.
  static absl::StatusOr<std::unique_ptr<CapturedValues>> Take(const Env& env, Session& session,
                                                              std::vector<Output> outputs);

  // Plans a run of `spec` now, while the graph stays as it is. Errors: what is wrong with the spec.
  absl::Status Prepare(const RunSpec& spec) const;

  std::int64_t number() const override { return number_; }  // of the session that they are from
  const Graph& graph() const override { return *graph_; }
  bool closed() const override { return false; }
  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) override;
  absl::Status Close() override { return absl::OkStatus(); }

 private:
  CapturedValues(const Env& env, const Session& session, std::vector<Output> outputs);
  absl::StatusOr<const Plan*> PlanOf(const RunSpec& spec) const;

  const Env env_;
  const std::shared_ptr<const Graph> graph_;
  const std::int64_t number_;
  const std::vector<Output> outputs_;
  std::vector<Tensor> values_;  // of the outputs
};

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_CAPTURED_VALUES_H_

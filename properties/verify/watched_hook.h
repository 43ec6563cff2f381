// The hook under verification, with somebody who looks over its shoulder: what a session gets in its place.
//
// Everything is passed on; the hook's fetches are joined by the global step, so that its decisions have a time.
// Thread safety: as SessionRunHook.
#ifndef VIGIL_PROPERTIES_VERIFY_WATCHED_HOOK_H_
#define VIGIL_PROPERTIES_VERIFY_WATCHED_HOOK_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/train/session_run_hook.h"
#include "vigil/properties/verify/evidence.h"
#include "vigil/properties/verify/hook_world.h"
#include "vigil/properties/verify/watched_seams.h"

namespace vigil {

class WatchedHook : public SessionRunHook {
 public:
  // `world` must outlive it.
  WatchedHook(HookPtr hook, const HookWorld& world, EvidencePtr evidence);

  std::string_view name() const override { return hook_->name().empty() ? "verified" : hook_->name(); }
  absl::Status Begin(BeginContext& context) override;
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>& coord) override;
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override;
  void Inspect(const FetchedValues& values) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session* session) override;

 private:
  // A run as the hook sees it; kept after it, to see whether the hook keeps it too.
  struct Shadow {
    Fetches fetches;
    Feeds feeds;
    std::unique_ptr<RunContext> context;
    bool stop_seen = false;
    bool over = false;
  };

  // Calls the hook; `body` returns a status.
  template <typename Body>
  absl::Status Call(std::string_view method, Body body);
  void NoteContexts();
  void NoteStop(RunContext& real);
  void NoteFeeds(const RunContext& context, const RunArgs& args);
  FetchedValues OwnResults(const FetchedValues& values) const;

  HookPtr hook_;
  const HookWorld& world_;
  const EvidencePtr evidence_;
  std::shared_ptr<WatchedSession> session_;
  std::vector<std::unique_ptr<Shadow>> shadows_;  // all: a kept context must not be gone
  bool fetches_own_ = false;                      // the hook itself asked for something
};

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_WATCHED_HOOK_H_

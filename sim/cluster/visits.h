// Sessions beside the training, of the same process and at the same master: as a dashboard, a script that looks in, or
// a thread that serves what is trained has them. Each visit makes one of its own, asks the parameter servers for
// something that has nothing to do with the model, and leaves nothing behind, however it ends:
//   - it is given up while the master of another task makes it;
//   - two tasks ask for the same at once, then both let go of the session without closing it;
//   - it is closed while another task asks for something new, or waits for what never comes;
//   - it is idle for a while, used again (which the recorder is told) and closed;
//   - its runs are given up in the middle, again and again, and each time it is used again.
// What a visit comes to is nobody's error.
//
// Thread safety: as Train(). Ownership: as Train(); the tasks of visits hold it.
#ifndef VIGIL_SIM_CLUSTER_VISITS_H_
#define VIGIL_SIM_CLUSTER_VISITS_H_

#include <cstdint>
#include <memory>

#include "vigil/core/env/notification.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/session/session.h"
#include "vigil/sim/cluster/trainer.h"

namespace vigil::sim {

class Visits : public std::enable_shared_from_this<Visits> {
 public:
  // Null if the workload has none.
  static std::shared_ptr<Visits> Start(const TrainerParts& parts);
  explicit Visits(const TrainerParts& parts);
  // The visit under way is the last one, and is over: its calls have time limits.
  void End();

 private:
  void Run();
  void Visit();
  void LetGo(const std::shared_ptr<Session>& session);
  void CloseAsItAsks(const std::shared_ptr<Session>& session);
  void CloseAsItWaits(const std::shared_ptr<Session>& session);
  void ComeBack(Session& session);
  void GiveUpAgainAndAgain(Session& session);

  std::unique_ptr<Task> AskBeside(const std::shared_ptr<Session>& session, bool waits);
  // DATA_LOSS: the answers are wrong.
  absl::Status Ask(Session& session, const RunOptions& options = {});
  absl::Status Take(Session& session, const RunOptions& options = {});
  // Gives up what asks, or waits for what never comes; then the session is used again. OK: that was not too soon.
  absl::Status GiveUpAnAnswer(Session& session, const RunOptions& hasty);
  absl::Status GiveUpAWait(Session& session, const RunOptions& hasty);
  Duration Drawn(Duration most) const;  // anything up to that
  void Sleep(Duration most);

  const TrainerParts& parts_;
  const Env env_;
  Process numbers_;  // of their sessions: those of the training count for themselves
  Graph graph_;
  RunSpec asks_;
  RunSpec waits_;
  RunSpec puts_;
  Notification over_;
  std::unique_ptr<Task> task_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_VISITS_H_

// A file that a program writes for itself on its own disk, beside what the library writes: a piece every so often, now
// and then synced, as measurements are. What an earlier process has left is looked at first; the recorder is told of
// that, and of each sync. It ends with the first error of a file.
//
// Thread safety: as Train(). Ownership: as Train(); its task holds it.
#ifndef VIGIL_SIM_CLUSTER_DIARY_H_
#define VIGIL_SIM_CLUSTER_DIARY_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "vigil/core/env/notification.h"
#include "vigil/sim/cluster/trainer.h"

namespace vigil::sim {

class Diary {
 public:
  // Null if the workload has none.
  static std::shared_ptr<Diary> Start(const TrainerParts& parts);
  explicit Diary(const TrainerParts& parts);
  // Nothing is written any more.
  void End();

 private:
  absl::Status Write();

  const TrainerParts& parts_;
  const Env env_;
  Notification over_;
  std::unique_ptr<Task> task_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_DIARY_H_

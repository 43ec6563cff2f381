// When a session is created again, and when that has no more sense.
//
// TensorFlow tries again at once and for ever: a failure that is there to stay becomes a busy loop without an error. Here every
// new attempt waits, 1 s at first and twice as long each time up to 60 s, with up to a quarter more by chance, so that the
// replicas of a job do not come back all at once. After 30 minutes without a completed run it is given up with the history.
// Time that a worker spends waiting for its chief does not count: max_wait_secs bounds that.
// Thread safety: the task that uses the session only.
#ifndef VIGIL_CORE_TRAIN_RECOVERY_POLICY_H_
#define VIGIL_CORE_TRAIN_RECOVERY_POLICY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/env/env.h"

namespace vigil {

class RecoveryPolicy {
 public:
  static constexpr Duration kFirstWait = std::chrono::seconds(1);
  static constexpr Duration kLongestWait = std::chrono::seconds(60);
  static constexpr Duration kGiveUpAfter = std::chrono::minutes(30);

  // Time counts from now on.
  explicit RecoveryPolicy(const Env& env);

  // A run was completed: everything before is forgotten.
  void Completed();
  // Waits for the next attempt. DEADLINE_EXCEEDED with the history when it is time to give up. `not_counted`: how long, since
  // this object was made, the attempts waited for others.
  absl::Status BeforeNextAttempt(const absl::Status& why, Duration not_counted);

 private:
  std::string History() const;

  struct Failure {
    Duration after{0};  // since the last completed run
    std::string text;
  };

  const Env env_;
  Time start_;
  Duration not_counted_at_start_{0};
  Duration last_not_counted_{0};
  Duration wait_ = kFirstWait;
  int failures_ = 0;
  std::vector<Failure> first_;  // the first few
  std::vector<Failure> last_;   // the last few
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_RECOVERY_POLICY_H_

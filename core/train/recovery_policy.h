// When a session is created again, and when that has no more sense.
//
// TensorFlow tries again at once and for ever: a failure that is there to stay becomes a busy loop without an error.
// Here every new attempt waits, 1 s at first and twice as long each time up to 60 s, with up to a quarter more by
// chance, so that the replicas of a job do not come back all at once. After 30 minutes (or what is said) of failing it
// is given up with the history. Failing begins with the first failure after a completed run. What does not count: time
// that a worker spends waiting for its chief (max_wait_secs bounds that), and time that the caller spends outside of
// the session's calls.
// Thread safety: the task that uses the session only.
#ifndef VIGIL_CORE_TRAIN_RECOVERY_POLICY_H_
#define VIGIL_CORE_TRAIN_RECOVERY_POLICY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/stop_request.h"

namespace vigil {

class RecoveryPolicy {
 public:
  static constexpr Duration kFirstWait = std::chrono::seconds(1);
  static constexpr Duration kLongestWait = std::chrono::seconds(60);
  static constexpr Duration kGiveUpAfter = std::chrono::minutes(30);

  // `give_up_after` Duration::max(): never. `stop` (may be null) ends the pauses.
  explicit RecoveryPolicy(const Env& env, Duration give_up_after = kGiveUpAfter, StopRequestPtr stop = nullptr);

  // A call of the session's begins, and ends. They may nest.
  // Time outside of calls does not count as failing.
  void CallBegins();
  void CallEnds();

  // A run was completed: everything before is forgotten.
  void Completed();
  // Waits for the next attempt. DEADLINE_EXCEEDED with the history when it is time to give up, CANCELLED when a stop is
  // requested. `not_counted`: how long, since this object was made, the attempts waited for others.
  absl::Status BeforeNextAttempt(const absl::Status& why, Duration not_counted);

 private:
  std::string History() const;

  struct Failure {
    Duration after{0};  // since the first one
    std::string text;
  };

  const Env env_;
  const Duration give_up_after_;
  const StopRequestPtr stop_;
  int calls_ = 0;             // in progress
  std::optional<Time> left_;  // when the last one ended, if it did while failing
  // Since the last completed run:
  int failures_ = 0;
  Time first_failure_;  // later by the time that the caller spent elsewhere
  Duration not_counted_at_first_{0};
  Duration wait_ = kFirstWait;
  std::vector<Failure> first_;  // the first few
  std::vector<Failure> last_;   // the last few
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_RECOVERY_POLICY_H_

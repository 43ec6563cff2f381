#include "vigil/core/train/recovery_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/saturating.h"
#include "vigil/core/train/session_manager.h"

namespace vigil {
namespace {

constexpr std::size_t kShownFailures = 4;  // at the beginning, and as many at the end

}  // namespace

RecoveryPolicy::RecoveryPolicy(const Env& env, Duration give_up_after, StopRequestPtr stop)
    : env_(env), give_up_after_(give_up_after), stop_(std::move(stop)) {}

void RecoveryPolicy::CallBegins() {
  if (calls_++ > 0 || !left_.has_value()) return;
  first_failure_ = first_failure_ + (env_.clock->Monotonic() - *left_);
  left_.reset();
}

void RecoveryPolicy::CallEnds() {
  if (--calls_ == 0 && failures_ > 0) left_ = env_.clock->Monotonic();
}

void RecoveryPolicy::Completed() {
  if (failures_ == 0) return;
  wait_ = kFirstWait;
  failures_ = 0;
  first_.clear();
  last_.clear();
}

absl::Status RecoveryPolicy::BeforeNextAttempt(const absl::Status& why, Duration not_counted) {
  const Time now = env_.clock->Monotonic();
  if (failures_ == 0) {
    first_failure_ = now;
    not_counted_at_first_ = not_counted;
  }
  const Duration elapsed = now - first_failure_ - (not_counted - not_counted_at_first_);
  ++failures_;
  const Failure failure{elapsed, fmt::format("{}: {}", CodeName(CodeOf(why)), MessageOf(why))};
  if (first_.size() < kShownFailures) {
    first_.push_back(failure);
  } else {
    last_.push_back(failure);
    if (last_.size() > kShownFailures) last_.erase(last_.begin());
  }
  if (elapsed >= give_up_after_) return MakeStatus(Code::kDeadlineExceeded, History());
  // Only the bits that make a fraction of 2^-53 exactly: the same on every machine.
  const double chance = static_cast<double>(env_.random->Draw("recovery jitter") >> 11) * 0x1.0p-53;
  const Duration jitter(static_cast<Duration::rep>(static_cast<double>(wait_.count()) * chance / 4));
  const Duration pause = std::min(wait_ + jitter, SaturatingSubtract(give_up_after_, elapsed));
  if (SleepFor(env_, pause, stop_.get())) {
    return StoppedWhile(*stop_, fmt::format("recovering from {}", failure.text));
  }
  wait_ = std::min(2 * wait_, kLongestWait);
  return absl::OkStatus();
}

std::string RecoveryPolicy::History() const {
  std::string text = fmt::format(
      "Gave up after {} failed attempts: no run was completed for {:g} minutes. Look at the first error below; if it "
      "is "
      "not transient, remove its cause and start again (the newest checkpoint will be restored). History (seconds "
      "since "
      "the first failure):",
      failures_, ToSeconds(give_up_after_) / 60);
  const auto add = [&text](const Failure& failure) {
    text += fmt::format("\n  {:.0f} s {}", ToSeconds(failure.after), failure.text);
  };
  std::for_each(first_.begin(), first_.end(), add);
  const std::size_t shown = first_.size() + last_.size();
  if (static_cast<std::size_t>(failures_) > shown) {
    text += fmt::format("\n  ... {} more ...", static_cast<std::size_t>(failures_) - shown);
  }
  std::for_each(last_.begin(), last_.end(), add);
  return text;
}

}  // namespace vigil

#include "vigil/replays/real/stalls.h"

#include <algorithm>
#include <utility>

namespace vigil::replays {

using sim::JobMoment;

Stalls::Stalls(Clock& clock, Files& files, std::string path) : clock_(clock), files_(files), path_(std::move(path)) {}

void Stalls::Look() {
  if (file_ == nullptr) {
    if (absl::StatusOr<std::unique_ptr<File>> file = files_.Open(path_, OpenMode::kTruncate); file.ok())
      file_ = *std::move(file);
  }
  if (file_ != nullptr && file_->Append(".").ok()) file_->Sync().IgnoreError();
  const Time now = clock_.Now();
  if (looked_.has_value() && now - *looked_ >= kBetweenLooks + kLeast)
    stalls_.push_back({.from = *looked_ + kBetweenLooks, .to = now});
  looked_ = now;
}

Duration Stalls::Within(Time from, Time to) const {
  Duration sum{0};
  for (const Stall& stall : stalls_)
    sum += std::max(Duration::zero(), std::min(to, stall.to) - std::max(from, stall.from));
  return sum;
}

Duration StillInLongestRun(const Stalls& stalls, const sim::JobHistory& history, std::string_view task) {
  Time started;
  Time from;
  Time to;
  for (const JobMoment& moment : history) {
    if (moment.task != task) continue;
    if (moment.kind == JobMoment::Kind::kRunStarted) started = moment.at;
    if (moment.kind != JobMoment::Kind::kRunReturned || moment.at - started <= to - from) continue;
    from = started;
    to = moment.at;
  }
  return stalls.Within(from, to);
}

}  // namespace vigil::replays

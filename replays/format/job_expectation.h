// What real TensorFlow clusters did in several plays of one scenario, as sets and ranges, and in some play by play. A
// play is held against it by job_comparison.h, many plays by frequencies.h.
//
// Thread safety: data. Source: replays/cluster/README.md.
#ifndef VIGIL_REPLAYS_FORMAT_JOB_EXPECTATION_H_
#define VIGIL_REPLAYS_FORMAT_JOB_EXPECTATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"

namespace vigil::replays {

template <typename T>
struct Span {
  T least{};
  T most{};
  friend bool operator==(const Span&, const Span&) = default;
};

struct TaskExpectation {
  std::vector<std::string> outcome;
  Span<std::int64_t> sessions;
  std::vector<Code> run_failed;
  Span<std::int64_t> run_failed_times;
  std::vector<Code> create_failed;
  Span<std::int64_t> create_failed_times;
  Span<std::int64_t> step_back_silent_times;
  std::optional<Span<std::int64_t>> step_back_silent;
  Span<std::int64_t> step_back_recovered_times;
  std::optional<Span<std::int64_t>> step_back_recovered;
  Span<double> longest_run_s;
  std::optional<Span<double>> opened_after_s;  // absent: it never opened one
  std::optional<Span<std::int64_t>> last_step;
  Span<std::int64_t> hook_end;
  std::vector<std::string> texts;  // for reading only
  friend bool operator==(const TaskExpectation&, const TaskExpectation&) = default;
};

// What a task did in one play, in all its lives.
struct TaskPlay {
  std::string outcome;
  std::int64_t sessions = 0;
  std::vector<Code> run_failed;
  std::vector<Code> create_failed;
  std::vector<std::int64_t> step_back_silent;
  std::vector<std::int64_t> step_back_recovered;
  double longest_run_s = 0;
  std::optional<double> opened_after_s;
  std::optional<std::int64_t> last_step;
  std::int64_t hook_end = 0;
  std::string text;  // of the error that it ended with: for reading only
  friend bool operator==(const TaskPlay&, const TaskPlay&) = default;
};

struct JobPlay {
  std::map<std::string, TaskPlay, std::less<>> tasks;
  std::optional<std::int64_t> newest_checkpoint;
  friend bool operator==(const JobPlay&, const JobPlay&) = default;
};

struct JobExpectation {
  std::map<std::string, TaskExpectation, std::less<>> tasks;
  std::optional<Span<std::int64_t>> newest_checkpoint;  // null: there was none
  std::int64_t repeats = 0;
  std::vector<JobPlay> plays;  // each by itself, where it was kept: how often each way was taken (frequencies.h)
  friend bool operator==(const JobExpectation&, const JobExpectation&) = default;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_JOB_EXPECTATION_H_

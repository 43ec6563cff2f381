// tf.train.LoggingTensorHook: logs values of tensors every so many runs or seconds, or at the end.
//
// Counts runs of this session life (reset by Begin), not global steps; the first run is always logged, unless only the
// end is wanted. Tensors are fetched with the run that is logged, at the end by a run of their own (so none of them
// should train or take input). The line is "tag = value, ...", from the second on with " (1.234 sec)"; values look as
// numpy prints them, arrays on one line.
// Thread safety: as SessionRunHook. Source: basic_session_run_hooks.py; recorded.
#ifndef VIGIL_CORE_TRAIN_HOOKS_LOGGING_TENSOR_HOOK_H_
#define VIGIL_CORE_TRAIN_HOOKS_LOGGING_TENSOR_HOOK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/train/hooks/second_or_step_timer.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

// A tensor, or the name of one ("loss:0"; "loss" if the op has only one output), looked up in Begin.
using TensorOrName = std::variant<Output, std::string>;
// By tag: logged in the order of the tags.
using TaggedTensors = std::map<std::string, TensorOrName>;
// Logged in this order, each under its name.
using ListedTensors = std::vector<TensorOrName>;

struct LoggingTensorHookOptions {
  std::variant<TaggedTensors, ListedTensors> tensors;
  // At most one of the two; one, unless at_end.
  std::optional<std::int64_t> every_n_iter;  // > 0
  std::optional<Duration> every_n_secs;
  bool at_end = false;
  // Makes the whole line of the values, a map by tag. Null: the line above.
  std::function<std::string(const FetchedValues& values)> formatter;
};

class LoggingTensorHook : public SessionRunHook {
 public:
  // USAGE "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.", "invalid
  // every_n_iter=0."
  static absl::StatusOr<std::shared_ptr<LoggingTensorHook>> Create(const Env& env, LoggingTensorHookOptions options);

  // USAGE for a tensor that is not in the graph.
  absl::Status Begin(BeginContext& context) override;
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session* session) override;

 private:
  LoggingTensorHook(const Env& env, LoggingTensorHookOptions options, std::optional<SecondOrStepTimer> timer);
  absl::Status LogTensors(const FetchedValues& values);

  const Env env_;
  const LoggingTensorHookOptions options_;
  std::optional<SecondOrStepTimer> timer_;  // nullopt: at the end only
  // Since Begin:
  Fetches fetches_;
  std::vector<std::string> tags_;  // in the order of the line
  std::int64_t iteration_ = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_LOGGING_TENSOR_HOOK_H_

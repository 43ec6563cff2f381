// What rules want to know of a run with hooks, and of built-in hooks, beside the events of the layers: details
// (core/base/event.h).
//
// Nothing is emitted where nobody watches, and nothing of what nobody asked for. Thread safety: the task that uses the
// session.
#ifndef VIGIL_CORE_TRAIN_RUN_EVENTS_H_
#define VIGIL_CORE_TRAIN_RUN_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "vigil/core/base/event.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/session/session.h"
#include "vigil/core/train/fetches.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

class RunEvents {
 public:
  explicit RunEvents(const Env& env) : events_(env.events) {}

  // The caller's own feeds and options, before any hook is asked.
  void CallerGives(const Graph& graph, const Feeds& feeds, const RunOptions& options);
  void HookAsks(std::size_t hook, const Graph& graph, const RunArgs& asked);
  // What the session is about to run with.
  void SessionGets(const Graph& graph, const RunSpec& spec, std::span<const Tensor> fed, const RunOptions& options);
  // What AfterRun of a hook is about to see of the values that a run of `spec` returned.
  void HookSees(std::size_t hook, const Graph& graph, const RunSpec& spec, std::span<const Tensor> returned,
                const FetchedValues& seen);

 private:
  void Emit(RunPart part, std::int32_t whose, std::string_view subject, std::optional<double> value = std::nullopt);
  void EmitFeed(std::int32_t whose, const Graph& graph, Output tensor, const Tensor& value);
  void EmitOptions(std::int32_t whose, const RunOptions& options);
  void AddName(const Graph& graph, Output tensor);  // to text_

  EventSink* events_;
  // Reused by each run.
  std::string text_;
  RunSpec asked_;
};

// A built-in hook says what it goes by, in a call of its own.
inline void EmitHookDetail(EventSink* events, HookDetail what, std::optional<double> value = std::nullopt,
                           std::int32_t index = -1, Code code = Code::kOk) {
  if (events == nullptr) return;
  events->Emit({.kind = EventKind::kHookDetail,
                .code = code,
                .call = static_cast<std::uint8_t>(what),
                .has_value = value.has_value(),
                .index = index,
                .value = value.value_or(0)});
}

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_RUN_EVENTS_H_

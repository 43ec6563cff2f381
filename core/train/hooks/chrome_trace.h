// A traced run in Chrome's trace format, which a browser's trace viewer (chrome://tracing, Perfetto) opens.
//
// One row for each device with a box for each node that ran; arrows where a tensor went from one row to another; on
// request a row with the tensors of each device and a curve of the bytes that they hold. Times are microseconds of the
// session's clock. This header is for core/train/hooks itself. Thread safety: a pure function.
// Source: timeline.py; the format: "Trace Event Format" of the catapult project.
#ifndef VIGIL_CORE_TRAIN_HOOKS_CHROME_TRACE_H_
#define VIGIL_CORE_TRAIN_HOOKS_CHROME_TRACE_H_

#include <string>

#include "vigil/core/graph/graph.h"
#include "vigil/core/session/run_options.h"

namespace vigil {

struct ChromeTraceOptions {
  bool show_dataflow = true;
  bool show_memory = false;
};

// `graph` is the one that ran: inputs and devices are looked up there.
std::string ChromeTrace(const Graph& graph, const RunMetadata& metadata, const ChromeTraceOptions& options);

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_CHROME_TRACE_H_

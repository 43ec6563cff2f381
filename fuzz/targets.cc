#include "vigil/fuzz/targets.h"

#include <google/protobuf/stubs/logging.h>

#include <array>

#include "vigil/core/env/tasks.h"

namespace vigil::fuzz {

std::span<const Target> Targets() {
  static constexpr auto kTargets = std::to_array<Target>({
      {"bundle", Form::kParts, FuzzBundle, BundleSeeds},
      {"csv", Form::kText, FuzzCsv, CsvSeeds},
      {"device", Form::kText, FuzzDevice, DeviceSeeds},
      {"events", Form::kRecords, FuzzEvents, EventsSeeds},
      {"example", Form::kMessage, FuzzExample, ExampleSeeds},
      {"graph_def", Form::kMessage, FuzzGraphDef, GraphSeeds},
      {"graph_run", Form::kMessage, FuzzGraphRun, GraphSeeds},
      {"meta_graph", Form::kMessage, FuzzMetaGraph, MetaGraphSeeds},
      {"meta_text", Form::kText, FuzzMetaText, MetaTextSeeds},
      {"saver_def", Form::kMessage, FuzzSaverDef, SaverDefSeeds},
      {"scenario", Form::kText, FuzzScenario, ScenarioSeeds},
      {"state", Form::kText, FuzzState, StateSeeds},
      {"tensor", Form::kMessage, FuzzTensor, TensorSeeds},
      {"trace", Form::kRecords, FuzzTrace, TraceSeeds},
      {"wire", Form::kParts, FuzzWire, WireSeeds},
  });
  return kTargets;
}

int RunTarget(const Target& target, Bytes bytes) {
  google::protobuf::SetLogHandler(nullptr);  // it writes a line for every text that is no UTF-8
  try {
    return target.run(bytes);
  } catch (const TaskKilled&) {
    return 0;
  }
}

}  // namespace vigil::fuzz

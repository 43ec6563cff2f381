// placeholder (not committed)
#ifndef VIGIL_CORE_GRAPH_GRAPH_DEF_H_
#define VIGIL_CORE_GRAPH_GRAPH_DEF_H_
#include <string>

#include "absl/status/status.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
namespace vigil {
inline absl::Status WriteGraphText(const Env&, const Graph&, const std::string&, const std::string&) {
  return absl::OkStatus();
}
}  // namespace vigil
#endif

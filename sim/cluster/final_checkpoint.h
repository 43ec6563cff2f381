// What a job leaves behind: the newest checkpoint that is whole, and how good the parameters in it are.
//
// Thread safety: a pure function of the files.
#ifndef VIGIL_SIM_CLUSTER_FINAL_CHECKPOINT_H_
#define VIGIL_SIM_CLUSTER_FINAL_CHECKPOINT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "vigil/core/env/files.h"

namespace vigil::sim {

struct FinalCheckpoint {
  std::optional<std::int64_t> step;  // none: there is no checkpoint that is whole
  std::optional<double> loss;        // of its parameters, if it is one of a regression
};

// `seed`: of the job's data.
FinalCheckpoint ReadNewestCheckpoint(Files& files, const std::string& dir, std::uint64_t seed);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_FINAL_CHECKPOINT_H_

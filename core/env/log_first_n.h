// Log lines that a process writes a limited number of times (tf.logging.log_first_n).
// Thread safety: safe from any task of the process.
#ifndef VIGIL_CORE_ENV_LOG_FIRST_N_H_
#define VIGIL_CORE_ENV_LOG_FIRST_N_H_

#include <string_view>

#include "vigil/core/env/env.h"

namespace vigil {

// Writes `line` if fewer than `n` calls with that `place` were made before in this process. `place` names the place in
// the code (TensorFlow: file and line).
void LogFirstN(const Env& env, std::string_view place, int n, Severity severity, std::string_view line);

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_LOG_FIRST_N_H_

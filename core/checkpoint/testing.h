// What the tests of this folder share.
#ifndef VIGIL_CORE_CHECKPOINT_TESTING_H_
#define VIGIL_CORE_CHECKPOINT_TESTING_H_

#include <string>

#include "absl/status/status.h"
#include "vigil/core/base/code.h"

namespace vigil {

// "OK", or "USAGE: the message".
inline std::string Text(const absl::Status& status) {
  return status.ok() ? "OK" : std::string(CodeName(CodeOf(status))) + ": " + std::string(MessageOf(status));
}

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_TESTING_H_

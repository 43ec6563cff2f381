// What came of something, as one line to compare with.
//
// Thread safety: a pure function.
#ifndef VIGIL_FAKES_STATUS_TEXT_H_
#define VIGIL_FAKES_STATUS_TEXT_H_

#include <string>

#include "absl/status/status.h"
#include "vigil/core/base/code.h"

namespace vigil::fakes {

// "OK", or "USAGE: the message".
inline std::string Text(const absl::Status& status) {
  return status.ok() ? "OK" : std::string(CodeName(CodeOf(status))) + ": " + std::string(MessageOf(status));
}

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_STATUS_TEXT_H_

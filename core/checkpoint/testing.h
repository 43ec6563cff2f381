// What the tests of this folder share.
#ifndef VIGIL_CORE_CHECKPOINT_TESTING_H_
#define VIGIL_CORE_CHECKPOINT_TESTING_H_

#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/env/files.h"
#include "vigil/fakes/status_text.h"

namespace vigil {

using fakes::Text;

// The checkpoints whose index is in a folder, without their endings.
inline std::vector<std::string> CheckpointsIn(Files& files, const std::string& folder) {
  constexpr std::string_view kEnding = ".index";
  std::vector<std::string> out;
  const std::vector<std::string> names = *files.List(folder);
  for (const std::string& name : names) {
    if (name.ends_with(kEnding)) out.push_back(name.substr(0, name.size() - kEnding.size()));
  }
  return out;
}

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_TESTING_H_

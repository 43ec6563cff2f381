#include "vigil/sim/cluster/whole_checkpoints.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "vigil/core/env/files.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/sim/cluster/job.h"
#include "vigil/sim/node_files.h"

namespace vigil::sim {

std::vector<std::int64_t> WholeCheckpoints(World& world) {
  constexpr std::string_view kBefore = "model.ckpt-";
  constexpr std::string_view kAfter = ".index";
  std::vector<std::int64_t> whole;
  Files& files = world.shared_disk().files;
  const absl::StatusOr<std::vector<std::string>> names = files.List(kCheckpoints);
  if (!names.ok()) return whole;
  for (const std::string& name : *names) {
    if (!name.starts_with(kBefore) || !name.ends_with(kAfter)) continue;
    std::int64_t step = 0;
    const char* const digits = name.data() + kBefore.size();
    if (std::from_chars(digits, name.data() + name.size(), step).ec != std::errc()) continue;
    const std::string prefix = JoinPath(kCheckpoints, name.substr(0, name.size() - kAfter.size()));
    if (VerifyBundle(files, prefix).ok()) whole.push_back(step);
  }
  std::ranges::sort(whole);
  return whole;
}

}  // namespace vigil::sim

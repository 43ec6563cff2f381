#include "vigil/fakes/summary/summary_of.h"

#include "vigil/core/io/summary.pb.h"

namespace vigil::fakes {

std::string SummaryOf(const std::vector<std::pair<std::string, float>>& values) {
  proto::Summary summary;
  for (const auto& [tag, value] : values) {
    proto::Summary::Value* const added = summary.add_value();
    added->set_tag(tag);
    added->set_simple_value(value);
  }
  return summary.SerializeAsString();
}

}  // namespace vigil::fakes

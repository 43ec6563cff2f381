#include "vigil/core/summary/summary_writer.h"

#include "vigil/core/io/summary.pb.h"

namespace vigil {

absl::Status SummaryWriter::AddScalar(std::string_view tag, double value, std::optional<std::int64_t> global_step) {
  proto::Summary summary;
  proto::Summary::Value& only = *summary.add_value();
  only.set_tag(std::string(tag));
  only.set_simple_value(static_cast<float>(value));
  return AddSummary(summary.SerializeAsString(), global_step);
}

}  // namespace vigil

// What a run is given beyond its feed: nested fetches and options.
#include <charconv>

#include "fmt/format.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/parse_parts.h"

namespace vigil::replays {
namespace {

constexpr std::int64_t kMostPools = 100;

void ReadNested(Reading& reading, const Field& field, int depth, FetchSpec& out) {
  if (!field.present()) return;
  if (depth > kMaxBodyDepth) return field.Fail(fmt::format("fetches are nested deeper than {}", kMaxBodyDepth));
  const auto item = [&](Json value, const Place& place) {
    ReadNested(reading, Field(reading, value, place), depth + 1, out.items.emplace_back());
  };
  switch (field.value().kind()) {
    case JsonKind::kArray:
      out.kind = FetchSpec::Kind::kList;
      return field.Each(item);
    case JsonKind::kObject:
      out.kind = FetchSpec::Kind::kMap;
      return field.EachMember([&](Json member, const Place& place) {
        out.keys.emplace_back(member.key());
        item(member, place);
      });
    default:
      return field.OneOf({"step", "train", "fed", "loss", "base", "train_op", "missing"}, out.name);
  }
}

// "node:slot"
void ReadWatch(const Field& field, DebugTensorWatch& out) {
  std::string text;
  field.Name(text);
  if (!field.reading().ok()) return;
  const std::size_t colon = text.rfind(':');
  const char* const end = text.data() + text.size();
  const char* const digits = colon == text.npos ? end : text.data() + colon + 1;
  const auto [rest, error] = std::from_chars(digits, end, out.output_slot);
  if (colon == text.npos || colon == 0 || error != std::errc() || rest != end || out.output_slot < 0)
    return field.Fail("a watch is NODE:SLOT");
  out.node_name = text.substr(0, colon);
}

}  // namespace

void ReadFetch(Reading& reading, const Field& field, std::optional<FetchSpec>& out) {
  if (field.present()) ReadNested(reading, field, 0, out.emplace());
}

void ReadRunOptions(Reading& reading, const Field& field, std::optional<RunOptions>& out) {
  if (!field.present()) return;
  out.emplace();
  Fields fields(reading, field.value(), field.place());
  fields.Optional("trace_level").Enum(kTraceLevels, "trace level", out->trace_level);
  fields.Optional("timeout_in_ms").Integer(kSteps, out->timeout_in_ms);
  std::int64_t pool = 0;
  fields.Optional("inter_op_thread_pool").Integer({0, kMostPools}, pool);
  out->inter_op_thread_pool = static_cast<std::int32_t>(pool);
  fields.Optional("output_partition_graphs").Bool(out->output_partition_graphs);
  fields.Optional("report_tensor_allocations_upon_oom").Bool(out->report_tensor_allocations_upon_oom);
  fields.Optional("reset_disk_byte_usage").Bool(out->reset_disk_byte_usage);
  fields.Optional("watches").Each([&](Json item, const Place& place) {
    ReadWatch(Field(reading, item, place), out->debug_tensor_watch_opts.emplace_back());
  });
  fields.Finish();
}

}  // namespace vigil::replays

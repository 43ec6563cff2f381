// A trace taken apart, to be looked at, changed and put together again.
//
// Whoever includes it links GoogleTest: what cannot be read is a failure of the test. Thread safety: none.
#ifndef VIGIL_FAKES_TRACES_TRACE_PARTS_H_
#define VIGIL_FAKES_TRACES_TRACE_PARTS_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/event.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/io/record_writer.h"
#include "vigil/core/io/trace.pb.h"

namespace vigil::fakes {

struct TraceParts {
  // An empty file has neither a header nor events.
  explicit TraceParts(std::string_view bytes) {
    RecordReader reader(bytes);
    for (bool first = true;; first = false) {
      const absl::StatusOr<std::optional<std::string_view>> next = reader.Next();
      EXPECT_TRUE(next.ok()) << next.status();
      if (!next.ok() || !next->has_value()) return;
      google::protobuf::MessageLite* const part =
          first ? static_cast<google::protobuf::MessageLite*>(&header) : &events.emplace_back();
      EXPECT_TRUE(part->ParseFromArray((*next)->data(), static_cast<int>((*next)->size())));
    }
  }

  std::string Bytes() const {
    std::string out;
    AppendRecord(header.SerializeAsString(), &out);
    for (const proto::TraceEvent& event : events) AppendRecord(event.SerializeAsString(), &out);
    return out;
  }

  // Where the `n`-th event of that kind is, from 1.
  std::size_t Find(EventKind kind, int n = 1, int call = -1) const {
    for (std::size_t i = 0; i < events.size(); ++i) {
      const bool fits = !events[i].end() && events[i].kind() == static_cast<std::uint32_t>(kind) &&
                        (call < 0 || events[i].call() == static_cast<std::uint32_t>(call));
      if (fits && --n == 0) return i;
    }
    ADD_FAILURE() << "no such event";
    return 0;
  }
  void Erase(std::size_t i) { events.erase(events.begin() + static_cast<std::ptrdiff_t>(i)); }

  proto::TraceHeader header;
  std::vector<proto::TraceEvent> events;
};

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_TRACES_TRACE_PARTS_H_

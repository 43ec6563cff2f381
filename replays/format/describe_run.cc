// What a run is given beyond its feed: nested fetches and options.
#include <charconv>
#include <string>

#include "fmt/format.h"
#include "vigil/replays/format/objects.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/value_types.h"

namespace vigil::replays {
namespace {

constexpr std::int64_t kMostPools = 100;
constexpr std::string_view kFetchNames[] = {"step", "train", "fed", "loss", "base", "train_op", "missing"};

class NestedFetch : public Typed<FetchSpec> {
 public:
  explicit NestedFetch(int depth = 0) : depth_(depth) {}
  void Read(const Field& field, FetchSpec& out) const override {
    if (depth_ > kMaxBodyDepth) return field.Fail(fmt::format("fetches are nested deeper than {}", kMaxBodyDepth));
    const auto item = [&](Json value, const Place& place) {
      NestedFetch(depth_ + 1).Read(Field(field.reading(), value, place), out.items.emplace_back());
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
        return OneOfType(kFetchNames).Read(field, out.name);
    }
  }
  void Print(JsonWriter& w, const FetchSpec& fetch) const override {
    if (fetch.kind == FetchSpec::Kind::kName) return kText.Print(w, fetch.name);
    const bool map = fetch.kind == FetchSpec::Kind::kMap;
    w.Open(map ? '{' : '[');
    for (std::size_t i = 0; i < fetch.items.size(); ++i) {
      if (map) w.Key(fetch.keys[i]);
      Print(w, fetch.items[i]);
    }
    w.Close(map ? '}' : ']');
  }
  std::string Words() const override { return OneOfType(kFetchNames).Words() + ", or a list or an object of such"; }

 private:
  int depth_;
};

// "node:slot"
class WatchType : public Typed<DebugTensorWatch> {
 public:
  void Read(const Field& field, DebugTensorWatch& out) const override {
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
  void Print(JsonWriter& w, const DebugTensorWatch& watch) const override {
    w.String(watch.node_name + ":" + std::to_string(watch.output_slot));
  }
  std::string Words() const override { return "NODE:SLOT"; }
};

class PoolType : public Typed<std::int32_t> {
 public:
  void Read(const Field& field, std::int32_t& out) const override {
    std::int64_t pool = 0;
    kPools.Read(field, pool);
    out = static_cast<std::int32_t>(pool);
  }
  void Print(JsonWriter& w, const std::int32_t& value) const override { w.Integer(value); }
  std::string Words() const override { return kPools.Words(); }

 private:
  static inline const IntegerType kPools{{0, kMostPools}};
};

class RunOptionsObject : public Object<RunOptions> {
  void Describe(Described<RunOptions>& f) const override {
    f.Optional("trace_level", &RunOptions::trace_level, EnumType<TraceLevel>(kTraceLevels, "trace level"),
               "what is noted of each op");
    f.Optional("timeout_in_ms", &RunOptions::timeout_in_ms, kStepNumber, "of the whole run; 0 = none");
    f.Optional("inter_op_thread_pool", &RunOptions::inter_op_thread_pool, PoolType(), "which pool");
    f.Optional("output_partition_graphs", &RunOptions::output_partition_graphs, kFlag, "the graphs come back, too");
    f.Optional("report_tensor_allocations_upon_oom", &RunOptions::report_tensor_allocations_upon_oom, kFlag,
               "as in TensorFlow");
    f.Optional("reset_disk_byte_usage", &RunOptions::reset_disk_byte_usage, kFlag, "as in TensorFlow");
    f.Optional("watches", &RunOptions::debug_tensor_watch_opts, WatchType(), "tensors for a debugger");
  }
};

}  // namespace

const Typed<FetchSpec>& FetchType() {
  static const NestedFetch fetch;
  return fetch;
}

const Typed<RunOptions>& RunOptionsType() {
  static const RunOptionsObject options;
  return options;
}

void AppendRunObjects(std::vector<DocumentedObject>& objects) {
  objects.push_back({"options", WalkObject<RunOptionsObject, RunOptions>});
}

}  // namespace vigil::replays

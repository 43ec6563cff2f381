#include "vigil/replays/show/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "vigil/replays/format/json_writer.h"

namespace vigil::replays {
namespace {

std::string_view MessageName(sim::LoggedMessage::Kind kind) {
  using Kind = sim::LoggedMessage::Kind;
  switch (kind) {
    case Kind::kRequest:
      return "request";
    case Kind::kReply:
      return "reply";
    case Kind::kRefusal:
      return "refusal";
    case Kind::kCancel:
      return "cancel";
    case Kind::kClosed:
      return "closed";
    case Kind::kReset:
      return "reset";
  }
  return "?";
}

class PerfettoWriter {
 public:
  explicit PerfettoWriter(const Timeline& timeline) : timeline_(timeline) { PlaceInstants(); }

  std::string Text() {
    w_.Open('{').Key("displayTimeUnit").String("ms").Key("traceEvents").Open('[');
    Name("process_name", 0, 0, "the plan");
    for (std::size_t i = 0; i < timeline_.nodes.size(); ++i) {
      Name("process_name", Pid(timeline_.nodes[i]), 0, timeline_.nodes[i]);
      if (!timeline_.arrows.empty()) Name("thread_name", Pid(timeline_.nodes[i]), 0, "network");
    }
    for (std::size_t i = 0; i < timeline_.lanes.size(); ++i) {
      const TimelineLane& lane = timeline_.lanes[i];
      for (int depth = 0; depth < (Overlaps(lane) ? lane.depth : 1); ++depth) {
        Name("thread_name", Pid(lane.node), Tid(i, depth), lane.name);
        Begin('M', "thread_sort_index", Pid(lane.node), Tid(i, depth)).Key("args").Open('{').Key("sort_index");
        w_.Natural(i).Close('}').Close('}');
      }
    }
    for (const TimelineMark& mark : timeline_.marks) AddMark(mark);
    for (const TimelineArrow& arrow : timeline_.arrows) AddArrow(arrow);
    w_.Newline().Close(']').Close('}');
    return w_.Take() + "\n";
  }

 private:
  std::size_t Pid(const std::string& node) const {
    const auto found = std::ranges::find(timeline_.nodes, node);
    return found == timeline_.nodes.end() ? 0 : static_cast<std::size_t>(found - timeline_.nodes.begin()) + 1;
  }
  // Slices of one thread lie within each other or apart. Sessions and faults need not: each depth of theirs is a
  // thread.
  static bool Overlaps(const TimelineLane& lane) { return lane.node.empty() || lane.name == "sessions"; }
  std::size_t Tid(std::size_t lane, int depth) const {
    return lane + 1 + (Overlaps(timeline_.lanes[lane]) ? static_cast<std::size_t>(depth) * timeline_.lanes.size() : 0);
  }
  static double Micros(Duration time) { return ToSeconds(time) * 1e6; }

  // When each thing is drawn: at its time, but a microsecond behind the one before.
  void PlaceInstants() {
    std::map<std::size_t, Duration> times;
    for (const TimelineMark& mark : timeline_.marks) {
      times.emplace(mark.place, mark.at);
      if (mark.until.has_value()) times.emplace(mark.until_place, *mark.until);
    }
    double last = -1;
    for (const auto& [place, time] : times) drawn_[place] = last = std::max(last + 1, Micros(time));
  }

  JsonWriter& Begin(char phase, std::string_view name, std::size_t pid, std::size_t tid) {
    return w_.Newline()
        .Open('{')
        .Key("ph")
        .String(std::string_view(&phase, 1))
        .Key("name")
        .String(name)
        .Key("pid")
        .Natural(pid)
        .Key("tid")
        .Natural(tid);
  }

  void Name(std::string_view what, std::size_t pid, std::size_t tid, std::string_view name) {
    Begin('M', what, pid, tid).Key("args").Open('{').Key("name").String(name).Close('}').Close('}');
  }

  void AddMark(const TimelineMark& mark) {
    const double at = drawn_[mark.place];
    const bool lasts = mark.until.has_value();
    Begin(lasts ? 'X' : 'i', mark.text, Pid(timeline_.lanes[mark.lane].node), Tid(mark.lane, mark.depth));
    w_.Key("cat").String(MarkKindName(mark.kind)).Key("ts").Seconds(at);
    if (lasts) {
      w_.Key("dur").Seconds(drawn_[mark.until_place] - at);
    } else {
      w_.Key("s").String("t");
    }
    if (mark.failed) w_.Key("cname").String("terrible");
    w_.Key("args").Open('{').Key("virtual_s").Seconds(ToSeconds(mark.at)).Close('}').Close('}');
  }

  void AddEnd(char phase, std::string_view name, std::size_t node, Duration time) {
    constexpr std::size_t kNetwork = 0;
    // An arrow holds on to a slice.
    Begin('X', name, node + 1, kNetwork).Key("cat").String("message").Key("ts").Seconds(Micros(time)).Key("dur");
    w_.Integer(1).Close('}');
    if (phase == ' ') return;
    Begin(phase, "message", node + 1, kNetwork).Key("cat").String("message").Key("id").Integer(flows_);
    w_.Key("ts").Seconds(Micros(time));
    if (phase == 'f') w_.Key("bp").String("e");
    w_.Close('}');
  }

  void AddArrow(const TimelineArrow& arrow) {
    const std::string what =
        fmt::format("{}{}{}", arrow.method, arrow.method.empty() ? "" : " ", MessageName(arrow.kind));
    const bool lost = !arrow.arrived.has_value();
    AddEnd(lost ? ' ' : 's', fmt::format("{} to {}{}", what, timeline_.nodes[arrow.to], lost ? ", lost" : ""),
           arrow.from, arrow.sent);
    if (lost) return;
    AddEnd('f', fmt::format("{} from {}", what, timeline_.nodes[arrow.from]), arrow.to, *arrow.arrived);
    ++flows_;
  }

  const Timeline& timeline_;
  std::map<std::size_t, double> drawn_;  // by place
  std::int64_t flows_ = 1;
  JsonWriter w_;
};

}  // namespace

std::string PerfettoJson(const Timeline& timeline) { return PerfettoWriter(timeline).Text(); }

}  // namespace vigil::replays

#include "vigil/replays/show/timeline_page.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/replays/format/json_writer.h"

namespace vigil::replays {
namespace {

constexpr std::string_view kPlaceOfData = "@@TIMELINE@@";

// Each text once.
class Texts {
 public:
  std::int64_t Number(std::string_view text) {
    const auto [it, added] = numbers_.try_emplace(std::string(text), std::ssize(texts_));
    if (added) texts_.push_back(&it->first);
    return it->second;
  }
  void Write(JsonWriter& w) const {
    w.Open('[');
    for (const std::string* const text : texts_) w.String(*text);
    w.Close(']');
  }

 private:
  std::map<std::string, std::int64_t, std::less<>> numbers_;
  std::vector<const std::string*> texts_;
};

void WriteMoment(JsonWriter& w, const std::optional<Duration>& moment) {
  if (moment.has_value()) {
    w.Seconds(ToSeconds(*moment));
  } else {
    w.Null();
  }
}

void WriteNumber(JsonWriter& w, const std::optional<std::size_t>& number) {
  if (number.has_value()) {
    w.Natural(*number);
  } else {
    w.Null();
  }
}

std::int64_t NumberOf(const std::vector<std::string>& nodes, std::string_view node) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] == node) return static_cast<std::int64_t>(i);
  }
  return -1;
}

void WriteMarks(JsonWriter& w, const Timeline& timeline, Texts& texts) {
  w.Key("marks").Open('[');
  for (const TimelineMark& mark : timeline.marks) {
    w.Newline().Open('[').Natural(mark.lane).Integer(mark.depth).Integer(static_cast<int>(mark.kind));
    w.Integer(mark.failed ? 1 : 0);
    WriteMoment(w, mark.at);
    WriteMoment(w, mark.until);
    w.Natural(mark.place).Natural(mark.until_place).Integer(texts.Number(mark.text)).Close(']');
  }
  w.Close(']');
}

void WriteArrows(JsonWriter& w, const Timeline& timeline, Texts& texts) {
  w.Key("arrows").Open('[');
  for (const TimelineArrow& arrow : timeline.arrows) {
    w.Newline().Open('[').Natural(arrow.from).Natural(arrow.to).Integer(static_cast<int>(arrow.kind));
    w.Integer(texts.Number(arrow.method));
    WriteMoment(w, arrow.sent);
    WriteMoment(w, arrow.arrived);
    w.Close(']');
  }
  w.Close(']').Key("left_out").Natural(timeline.arrows_left_out);
}

void WriteFindings(JsonWriter& w, const Timeline& timeline) {
  w.Key("findings").Open('[');
  for (const TimelineFinding& finding : timeline.findings) {
    w.Newline().Open('{').Key("rule").String(finding.rule).Key("text").String(finding.text).Key("witness").Open('[');
    for (const std::size_t mark : finding.witness) w.Natural(mark);
    w.Close(']').Key("why").Open('[');
    for (const TimelineCause& cause : finding.why) {
      w.Open('[').Seconds(ToSeconds(cause.at)).String(cause.kind).String(cause.text);
      WriteNumber(w, cause.mark);
      WriteNumber(w, cause.arrow);
      w.Close(']');
    }
    w.Close(']').Close('}');
  }
  w.Close(']');
}

}  // namespace

std::string TimelineJson(const Timeline& timeline) {
  JsonWriter w;
  Texts texts;
  w.Open('{').Key("id").String(timeline.id).Key("title").String(timeline.title).Key("end").String(timeline.end);
  w.Key("nodes").Open('[');
  for (const std::string& node : timeline.nodes) w.String(node);
  w.Close(']').Key("kinds").Open('[');
  for (int kind = 0; kind < kMarkKinds; ++kind) w.String(MarkKindName(static_cast<MarkKind>(kind)));
  w.Close(']').Key("lanes").Open('[');
  for (const TimelineLane& lane : timeline.lanes) {
    w.Open('[').Integer(NumberOf(timeline.nodes, lane.node)).String(lane.name).Integer(lane.depth).Close(']');
  }
  w.Close(']');
  WriteFindings(w, timeline);
  WriteMarks(w, timeline, texts);
  WriteArrows(w, timeline, texts);
  w.Key("texts");
  texts.Write(w);
  w.Close('}');
  return w.Take();
}

std::string TimelinePage(const Timeline& timeline) {
  const std::string_view page = TimelineTemplate();
  const std::size_t place = page.find(kPlaceOfData);
  VIGIL_CHECK(place != page.npos);
  std::string out(page.substr(0, place));
  // Outside of strings JSON has no '<'; inside of them this is the same character. Nothing can end the element.
  for (const char c : TimelineJson(timeline)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  out += page.substr(place + kPlaceOfData.size());
  return out;
}

}  // namespace vigil::replays

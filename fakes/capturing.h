// Doubles that keep what they were given: log lines and events.
//
// Thread safety: none of their own; see fake_tasks.h.
#ifndef VIGIL_FAKES_CAPTURING_H_
#define VIGIL_FAKES_CAPTURING_H_

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/event.h"
#include "vigil/core/env/log.h"

namespace vigil::fakes {

class CapturingLog final : public Log {
 public:
  struct Line {
    Severity severity;
    std::string text;
    friend bool operator==(const Line&, const Line&) = default;
  };
  void Write(Severity severity, std::string_view line) override { lines_.push_back({severity, std::string(line)}); }
  const std::vector<Line>& lines() const { return lines_; }
  void Clear() { lines_.clear(); }

 private:
  std::vector<Line> lines_;
};

class CapturingSink final : public EventSink {
 public:
  void Emit(const Event& event) override {
    Event& kept = events_.emplace_back(event);
    kept.subject = subjects_.emplace_back(event.subject);
  }
  // Their subjects live until Clear().
  const std::vector<Event>& events() const { return events_; }
  void Clear() {
    events_.clear();
    subjects_.clear();
  }

 private:
  std::vector<Event> events_;
  std::deque<std::string> subjects_;
};

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_CAPTURING_H_

#include "vigil/sim/course.h"

#include <fmt/format.h>

#include <utility>

namespace vigil::sim {

void Course::At(const FaultPoint& point, std::function<void()> what) { waiting_.emplace(point, std::move(what)); }

void Course::Pass(const Kind kind, CoursePoint point) {
  point.at = {kind, ++counts_[static_cast<std::size_t>(kind)]};
  point.time = scheduler_.now();
  const FaultPoint at = point.at;
  if (log_ != nullptr) log_->push_back(std::move(point));
  if (waiting_.empty()) return;
  scheduler_.Touch(NamedObject("course", {}), Access::kWrite);
  const auto [first, last] = waiting_.equal_range(at);
  std::vector<std::function<void()>> called;
  for (auto it = first; it != last; ++it) called.push_back(std::move(it->second));
  waiting_.erase(first, last);
  for (const auto& what : called) what();
}

void Course::Sent(std::string_view from, std::string_view to, std::string_view method, bool request) {
  CoursePoint point;
  if (logs()) {
    point = {
        .at = {}, .task = std::string(from), .peer = std::string(to), .what = std::string(method), .request = request};
    if (request) point.number = ++requests_[{point.task, point.peer}];
  }
  Pass(Kind::kSent, std::move(point));
}

void Course::Delivered(std::string_view to, std::string_view from, std::string_view method, bool request) {
  CoursePoint point;
  if (logs())
    point = {
        .at = {}, .task = std::string(to), .peer = std::string(from), .what = std::string(method), .request = request};
  Pass(Kind::kDelivered, std::move(point));
}

void Course::FileOp(std::string_view task, std::string_view op, std::string_view path) {
  CoursePoint point;
  if (logs()) point = {.at = {}, .task = std::string(task), .what = fmt::format("{} {}", op, path)};
  Pass(Kind::kFileOp, std::move(point));
}

}  // namespace vigil::sim

// A log that also notes, in order with the events, the lines that recordings have (Note::kLog).
//
// Those are lines of LoggingTensor, StepCounter, NanTensor, FinalOps and of the supervisor, and the warnings that only
// this library gives, told by how they begin. They are cut as recordings cut them: before the first ". ", before four
// spaces, at 120 characters; a path shows as DIR.
// Thread safety: as the log's and the sink's.
#ifndef VIGIL_REPLAYS_STAGE_LOG_NOTES_H_
#define VIGIL_REPLAYS_STAGE_LOG_NOTES_H_

#include <optional>
#include <string>
#include <string_view>

#include "vigil/core/base/event.h"
#include "vigil/core/env/log.h"

namespace vigil::replays {

// The line as recordings have it; nullopt if they do not.
std::optional<std::string> RecordedLine(std::string_view line, std::string_view directory);

class NotingLog : public Log {
 public:
  // All must outlive the log. `directory` is what shows as DIR.
  NotingLog(Log& inner, EventSink& events, std::string_view directory)
      : inner_(inner), events_(events), directory_(directory) {}
  void Write(Severity severity, std::string_view line) override;

 private:
  Log& inner_;
  EventSink& events_;
  const std::string directory_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_LOG_NOTES_H_

#include "vigil/replays/play/player_server.h"

#include <fmt/format.h>

#include <optional>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/play/runner.h"

namespace vigil::replays {
namespace {

std::string AnswerTo(const PlayRequest& request, Runner& runner, JsonDocument& scratch) {
  const absl::StatusOr<Recording> recording = ParseRecording(request.scenario, "scenario", 1, scratch);
  if (!recording.ok()) return PrintCannot(request.id, MessageOf(recording.status()));
  const Scenario& scenario = recording->scenario;
  if (scenario.job.has_value()) return PrintCannot(request.id, "clusters need our own core");
  const Outcome outcome = runner.Run(scenario, {.random_schedule = request.random});
  std::string answer = PrintAnswer(request.id, scenario, outcome, outcome);
  if (answer.size() < kMaxRecordBytes) return answer;
  return PrintCannot(request.id, fmt::format("more than {} MiB of events", kMaxRecordBytes >> 20U));
}

}  // namespace

Greeting OwnGreeting(std::string_view version) {
  return {.name = "vigil",
          .version = std::string(version),
          .kinds = {"monitored", "singular", "training", "supervisor", "unit"},
          .hooks = std::nullopt,
          .faults = std::nullopt,
          .behaviours = {"tensorflow", "default", "switches"},
          .typed = true,
          .details = {"run_part", "hook_detail", "saver_detail", "coordinator_detail", "queue_detail"},
          .choices = true};
}

absl::Status ServePlays(const ChunkSource& questions, const std::string& version,
                        const std::function<absl::Status(const std::string&)>& answer) {
  LineReader lines(questions);
  Runner runner;
  JsonDocument scratch;
  while (true) {
    VIGIL_ASSIGN_OR_RETURN(const std::optional<LineReader::Line> line, lines.Next());
    if (!line.has_value()) return absl::OkStatus();
    VIGIL_ASSIGN_OR_RETURN(const std::optional<PlayRequest> request, ParseRequest(line->text));
    VIGIL_RETURN_IF_ERROR(answer(
        (request.has_value() ? AnswerTo(*request, runner, scratch) : PrintGreeting(OwnGreeting(version))) + "\n"));
  }
}

}  // namespace vigil::replays

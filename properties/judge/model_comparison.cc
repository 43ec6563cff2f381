#include "vigil/properties/judge/model_comparison.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/properties/model/model.h"
#include "vigil/replays/judge/compare.h"
#include "vigil/replays/judge/result.h"

namespace vigil::properties {

ModelComparison CompareWithModel(const replays::Scenario& scenario, const replays::PlainOutcome& outcome) {
  ModelComparison says;
  absl::StatusOr<model::Prediction> predicted = model::Predict(scenario);
  if (!predicted.ok()) {
    says.refused = MessageOf(predicted.status());
    return says;
  }
  // How far a run gets that is cut off is not predicted, only that it is.
  if (predicted->runaway && outcome.verdict == replays::Verdict::kRunaway) return says;
  replays::FinalState final = outcome.final;
  final.events_files.reset();
  const bool ended = !predicted->runaway && outcome.verdict == replays::Verdict::kPlayed;
  if (ended && predicted->lines == outcome.events && predicted->final == final) return says;

  says.expect.events = std::move(predicted->lines);
  says.expect.final = std::move(predicted->final);
  const replays::Difference difference = replays::Compare(outcome, says.expect);
  says.report = difference.report;
  if (difference.first_event.has_value()) {
    says.disagreement =
        fmt::format("the reference model says something else: event {} differs", difference.first_event->event);
  } else if (difference.final_differs) {
    says.disagreement = "the reference model says something else: the final state differs";
  } else {
    says.disagreement = fmt::format("the reference model says that it {}, it was {}",
                                    predicted->runaway ? "runs away" : "ends", replays::VerdictName(outcome.verdict));
  }
  return says;
}

}  // namespace vigil::properties

#include "vigil/replays/format/print.h"

#include "vigil/replays/format/json_writer.h"
#include "vigil/replays/format/objects.h"

namespace vigil::replays {

std::string PrintRecord(const Scenario& scenario, const Expectation* expect) {
  JsonWriter w;
  w.Open('{');
  RecordObject().PrintFields(w, scenario, Turn::kInOrder);
  if (scenario.unit.has_value()) {
    UnitObject().PrintFields(w, *scenario.unit, Turn::kInOrder);
  } else if (scenario.job.has_value()) {
    JobObject().PrintFields(w, *scenario.job, Turn::kInOrder);
  } else {
    SessionScenarioObject().PrintFields(w, scenario, Turn::kInOrder);
  }
  RecordObject().PrintFields(w, scenario, Turn::kLast);
  if (expect != nullptr) {
    w.Key("expect");
    expect->job != nullptr ? JobExpectationObject().Print(w, *expect->job) : ExpectationObject().Print(w, *expect);
  }
  w.Close('}');
  return w.Take();
}

std::string PrintJobExpectation(const JobExpectation& expectation) {
  JsonWriter w;
  JobExpectationObject().Print(w, expectation);
  return w.Take();
}

}  // namespace vigil::replays

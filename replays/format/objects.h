// The objects of a scenario's file: see description.h. The parser begins with these, and so do the printer and the
// document; what is in them is described beside them.
//
// Thread safety: constants. Not part of the interface of replays/: used in this folder only.
#ifndef VIGIL_REPLAYS_FORMAT_OBJECTS_H_
#define VIGIL_REPLAYS_FORMAT_OBJECTS_H_

#include <optional>
#include <string_view>
#include <vector>

#include "vigil/replays/format/description.h"
#include "vigil/replays/format/job_expectation.h"
#include "vigil/sim/cluster/job_spec.h"

namespace vigil::replays {

const Object<Scenario>& RecordObject();           // what every record has
const Object<Scenario>& SessionScenarioObject();  // ... one of a session besides
const Object<UnitSpec>& UnitObject();             // ... of a unit
const Object<sim::JobSpec>& JobObject();          // ... of a cluster

const Object<Expectation>& ExpectationObject();
const Object<JobExpectation>& JobExpectationObject();

const Typed<HookSpec>& HookType();
const Typed<Fault>& FaultType();
const Typed<std::vector<Statement>>& StatementsType(SessionKind kind);
const Typed<FetchSpec>& FetchType();
const Typed<RunOptions>& RunOptionsType();

// Every object, for the document: what it is called there, and what walks over it.
struct DocumentedObject {
  std::string_view title;
  void (*walk)(FieldWalk& walk);
};
void AppendSessionObjects(std::vector<DocumentedObject>& objects);
void AppendHookObjects(std::vector<DocumentedObject>& objects);
void AppendStatementObjects(std::vector<DocumentedObject>& objects);
void AppendRunObjects(std::vector<DocumentedObject>& objects);
void AppendUnitObjects(std::vector<DocumentedObject>& objects);
void AppendJobObjects(std::vector<DocumentedObject>& objects);
void AppendExpectationObjects(std::vector<DocumentedObject>& objects);

// Of an object that needs nothing to be made.
template <typename O, typename S>
void WalkObject(FieldWalk& walk) {
  S value{};
  O().Go(walk, value);
}

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_OBJECTS_H_

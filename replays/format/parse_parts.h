// The parts of the parser. Each reads one value of a record into its struct; errors go to the Reading.
//
// Not part of the interface of replays/: used by parse*.cc only.
#ifndef VIGIL_REPLAYS_FORMAT_PARSE_PARTS_H_
#define VIGIL_REPLAYS_FORMAT_PARSE_PARTS_H_

#include <functional>
#include <span>

#include "vigil/replays/format/fields.h"
#include "vigil/replays/format/job_expectation.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/format/schema.h"

namespace vigil::replays {

// Asks `fields` for every argument of the table.
void ReadArgs(Fields& fields, std::span<const ArgSpec> specs, Args& out);
// An object that has the arguments of the table and nothing else.
void ReadArgsObject(Reading& reading, const Field& field, std::span<const ArgSpec> specs, Args& out);

// A run's nested fetches, and its options.
void ReadFetch(Reading& reading, const Field& field, std::optional<FetchSpec>& out);
void ReadRunOptions(Reading& reading, const Field& field, std::optional<RunOptions>& out);
void ReadHook(Reading& reading, Json value, const Place& place, HookSpec& out);
void ReadFault(Reading& reading, Json value, const Place& place, Fault& out);
// The statements of a body (`drive`, `after`) of a session or a supervisor.
void ReadStatements(Reading& reading, const Field& field, SessionKind kind, std::vector<Statement>& out);
// The fields of a unit recording besides those that every record has.
void ReadUnit(Reading& reading, Fields& fields, const Field& unit, UnitSpec& out);
// The fields of a cluster besides those that every record has.
void ReadJob(Reading& reading, Fields& fields, const Field& cluster, sim::JobSpec& out);
void ReadJobExpectation(Reading& reading, const Field& field, JobExpectation& out);
void ReadExpectation(Reading& reading, const Field& field, Expectation& out);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_PARSE_PARTS_H_

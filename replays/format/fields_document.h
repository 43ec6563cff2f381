// docs/scenario_fields.md, made from the description of the fields (description.h).
//
// Thread safety: a pure function.
#ifndef VIGIL_REPLAYS_FORMAT_FIELDS_DOCUMENT_H_
#define VIGIL_REPLAYS_FORMAT_FIELDS_DOCUMENT_H_

#include <string>

namespace vigil::replays {

std::string FieldsDocument();

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_FIELDS_DOCUMENT_H_

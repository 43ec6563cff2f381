// docs/rules.md, made from the rules themselves.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_RULES_DOCUMENT_H_
#define VIGIL_PROPERTIES_RULES_DOCUMENT_H_

#include <string>

namespace vigil::properties {

std::string RulesDocument();

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_RULES_DOCUMENT_H_

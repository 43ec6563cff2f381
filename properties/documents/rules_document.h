// The rules for people and programs, made from the rules themselves: docs/rules.md, and what `vigil rules` prints.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_DOCUMENTS_RULES_DOCUMENT_H_
#define VIGIL_PROPERTIES_DOCUMENTS_RULES_DOCUMENT_H_

#include <span>
#include <string>
#include <vector>

namespace vigil::properties {

std::string RulesDocument();

enum class RulesShown { kList, kInFull, kJson };

// The rules and invariants of these ids, all if there are none; each line with its newline. In full: with an example of
// a run that breaks it. Ids that there are not go to `missing`.
std::string RulesText(std::span<const std::string> ids, RulesShown how, std::vector<std::string>* missing);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_DOCUMENTS_RULES_DOCUMENT_H_

// Parts of the documents that are made from code.
//
// Thread safety: a pure function.
#ifndef VIGIL_PROPERTIES_DOCUMENTS_MARKDOWN_H_
#define VIGIL_PROPERTIES_DOCUMENTS_MARKDOWN_H_

#include <string>
#include <string_view>

namespace vigil::properties {

// An item of a list: words of `text`, broken into lines of at most 120 columns that hang by two.
std::string MarkdownItem(std::string_view text);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_DOCUMENTS_MARKDOWN_H_

#include "vigil/properties/documents/markdown.h"

#include <cstddef>

namespace vigil::properties {
namespace {

constexpr std::size_t kMarkdownWidth = 120;

}  // namespace

std::string MarkdownItem(std::string_view text) {
  std::string lines = "-";
  std::size_t column = 1;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    if (column + 1 + word.size() > kMarkdownWidth) {
      lines += "\n ";
      column = 1;
    }
    lines += " " + std::string(word);
    column += 1 + word.size();
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines + "\n";
}

}  // namespace vigil::properties

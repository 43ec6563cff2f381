// Text from files (ids, titles, event lines) on its way to a terminal, a JSON or XML document or a shell line.
//
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_FORMAT_ESCAPE_H_
#define VIGIL_REPLAYS_FORMAT_ESCAPE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace vigil::replays {

// Control characters (C0, DEL, C1) and bytes that are not UTF-8 as \n, \t, \x1b; everything else as it is. What a
// terminal shows is then exactly what was in the file, on one line.
std::string Escaped(std::string_view text);

// The length of the character at the start of `text` (1 to 4), 0 if it is not valid UTF-8. REQUIRES: not empty.
std::size_t CharacterSize(std::string_view text);

inline constexpr std::size_t kLongestPointer = 300;  // bytes of a JSON pointer in a message

// The same, cut (between characters) after about `limit` bytes, with "..." where something is left out.
std::string Shortened(std::string_view text, std::size_t limit);

// Shortened to 60 bytes, in single quotes: for messages that quote a file.
std::string Quoted(std::string_view text);

// A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
void AppendJsonString(std::string& out, std::string_view text);

// One word of a POSIX shell line: as it is where that is safe, else in single quotes.
std::string ShellWord(std::string_view text);

// Text inside an XML element or an attribute in double quotes. What XML 1.0 cannot hold (bytes that are not UTF-8, most
// control characters) becomes U+FFFD; line feeds and tabs stay in elements and are references in attributes.
std::string XmlText(std::string_view text);
std::string XmlAttribute(std::string_view text);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_ESCAPE_H_

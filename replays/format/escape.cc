#include "vigil/replays/format/escape.h"

#include "fmt/format.h"

namespace vigil::replays {
namespace {

constexpr std::size_t kQuotedBytes = 60;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

bool IsControl(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;  // C1
}

void AppendEscapedByte(std::string& out, char c) {
  switch (c) {
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Not in XML 1.0, although it is UTF-8.
bool IsForbidden(std::string_view character) {
  if (character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF") return true;
  if (character.size() != 1) return false;
  const auto c = static_cast<unsigned char>(character[0]);
  return c < 0x20 && c != '\t' && c != '\n';  // a carriage return would be read as a line feed
}

std::string Xml(std::string_view text, bool attribute) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = CharacterSize(text);
    const std::string_view character = text.substr(0, size == 0 ? 1 : size);
    if (size == 0 || IsForbidden(character)) {
      out += kReplacement;
    } else if (character == "<") {
      out += "&lt;";
    } else if (character == ">") {
      out += "&gt;";
    } else if (character == "&") {
      out += "&amp;";
    } else if (attribute && character == "\"") {
      out += "&quot;";
    } else if (attribute && (character == "\n" || character == "\t")) {
      out += character == "\n" ? "&#10;" : "&#9;";
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace

std::size_t CharacterSize(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;  // overlong; surrogates
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;  // overlong; above U+10FFFF
  return size;
}

std::string Escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = CharacterSize(text);
    const std::string_view character = text.substr(0, size == 0 ? 1 : size);
    if (size == 0 || IsControl(character)) {
      for (const char c : character) AppendEscapedByte(out, c);
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string Shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return Escaped(text);
  while (limit > 0 && IsContinuation(text[limit])) --limit;
  return Escaped(text.substr(0, limit)) + "...";
}

std::string Quoted(std::string_view text) { return "'" + Shortened(text, kQuotedBytes) + "'"; }

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t size = CharacterSize(text);
    const char c = text[0];
    if (size == 0) {
      out += "\xEF\xBF\xBD";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (size == 1 && (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  out += '"';
}

std::string ShellWord(std::string_view text) {
  constexpr std::string_view kSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=@%+";
  if (!text.empty() && text.find_first_not_of(kSafe) == text.npos) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string XmlText(std::string_view text) { return Xml(text, false); }
std::string XmlAttribute(std::string_view text) { return Xml(text, true); }

}  // namespace vigil::replays

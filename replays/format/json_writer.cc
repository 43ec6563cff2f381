#include "vigil/replays/format/json_writer.h"

#include <iterator>

#include "fmt/format.h"
#include "vigil/replays/format/escape.h"

namespace vigil::replays {

std::string& JsonWriter::Next() {
  if (comma_) text_ += ',';
  if (newline_) text_ += '\n';
  comma_ = true;
  newline_ = false;
  return text_;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Next() += bracket;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  if (newline_) text_ += '\n';
  newline_ = false;
  text_ += bracket;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  AppendJsonString(Next(), name);
  text_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Null() {
  Next() += "null";
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  Next() += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Integer(std::int64_t value) {
  fmt::format_to(std::back_inserter(Next()), "{}", value);
  return *this;
}

JsonWriter& JsonWriter::Natural(std::uint64_t value) {
  fmt::format_to(std::back_inserter(Next()), "{}", value);
  return *this;
}

JsonWriter& JsonWriter::Seconds(double value) {
  fmt::format_to(std::back_inserter(Next()), "{}", value);
  return *this;
}

JsonWriter& JsonWriter::Double(double value) {
  const std::size_t start = Next().size();
  fmt::format_to(std::back_inserter(text_), "{}", value);
  if (text_.find_first_of(".e", start) == text_.npos) text_ += ".0";
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view value) {
  AppendJsonString(Next(), value);
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Next() += json;
  return *this;
}

JsonWriter& JsonWriter::Newline() {
  newline_ = true;
  return *this;
}

}  // namespace vigil::replays

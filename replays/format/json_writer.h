// Writes compact JSON, a value at a time; knows where commas go.
//
//   JsonWriter w;
//   w.Open('{').Key("id").String("x").Key("calls").Open('[').Integer(1).Close(']').Close('}');
//
// Thread safety: belongs to one thread.
#ifndef VIGIL_REPLAYS_FORMAT_JSON_WRITER_H_
#define VIGIL_REPLAYS_FORMAT_JSON_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace vigil::replays {

class JsonWriter {
 public:
  JsonWriter& Open(char bracket);   // '{' or '['
  JsonWriter& Close(char bracket);  // '}' or ']'
  JsonWriter& Key(std::string_view name);
  JsonWriter& Null();
  JsonWriter& Bool(bool value);
  JsonWriter& Integer(std::int64_t value);
  JsonWriter& Natural(std::uint64_t value);
  JsonWriter& Seconds(double value);  // shortest: 1.0 is written 1
  JsonWriter& Double(double value);   // shortest that is not an integer: 1.0 stays 1.0
  JsonWriter& String(std::string_view value);
  JsonWriter& Raw(std::string_view json);  // a whole value
  JsonWriter& Newline();                   // for people; before the next value or bracket

  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  std::string& Next();

  std::string text_;
  bool comma_ = false;
  bool newline_ = false;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_JSON_WRITER_H_

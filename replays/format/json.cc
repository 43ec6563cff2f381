#include "vigil/replays/format/json.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "fmt/format.h"
#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/replays/format/escape.h"

namespace vigil::replays {
namespace {

// What nlohmann says is wrong, without its brackets, its position and the text it read so far (up to megabytes).
std::string_view PlainReason(std::string_view what) {
  if (const auto dash = what.find(" - "); dash != what.npos) {
    what.remove_prefix(dash + 3);
  } else if (const auto bracket = what.find("] "); bracket != what.npos) {
    what.remove_prefix(bracket + 2);
  }
  return what.substr(0, std::min(what.find("; last read: '"), std::size_t{160}));
}

std::string Position(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const auto newline = before.rfind('\n');
  const std::size_t column =
      std::max<std::size_t>(1, newline == before.npos ? before.size() : before.size() - newline - 1);
  if (text.find('\n') == text.npos) return fmt::format("column {}", column);
  return fmt::format("line {}, column {}", lines + 1, column);
}

}  // namespace

// Receives nlohmann's SAX events. Each method returns false to stop; `error` then says why.
class JsonBuilder {
 public:
  using number_integer_t = std::int64_t;

  JsonBuilder(JsonDocument& document, std::string_view text) : document_(document), source_(text) {}

  bool null() { return Add(JsonKind::kNull) != nullptr; }
  bool boolean(bool value) {
    JsonDocument::Node* node = Add(JsonKind::kBool);
    if (node != nullptr) node->boolean = value;
    return node != nullptr;
  }
  bool number_integer(std::int64_t value) {
    JsonDocument::Node* node = Add(JsonKind::kInteger);
    if (node != nullptr) node->integer = value;
    return node != nullptr;
  }
  bool number_unsigned(std::uint64_t value) {
    if (value <= static_cast<std::uint64_t>(INT64_MAX)) return number_integer(static_cast<std::int64_t>(value));
    JsonDocument::Node* node = Add(JsonKind::kUnsigned);
    if (node != nullptr) node->natural = value;
    return node != nullptr;
  }
  bool number_float(double value, const std::string&) {
    JsonDocument::Node* node = Add(JsonKind::kNumber);
    if (node != nullptr) node->number = value;
    return node != nullptr;
  }
  bool string(const std::string& value) {
    JsonDocument::Node* node = Add(JsonKind::kString);
    if (node != nullptr) node->string = Store(value);
    return node != nullptr;
  }
  bool binary(const std::vector<std::uint8_t>&) { return false; }  // never in text
  bool start_object(std::size_t) { return Open(JsonKind::kObject); }
  bool start_array(std::size_t) { return Open(JsonKind::kArray); }
  bool key(const std::string& name) {
    open_.back().key = Store(name);
    return true;
  }
  bool end_object() {
    const std::uint32_t object = open_.back().node;
    Close();
    return KeysDiffer(object);
  }
  bool end_array() {
    Close();
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& what) {
    return Fail(PlaceOf(document_.nodes_.size()),
                fmt::format("not JSON at {}: {}", Position(source_, position), PlainReason(what.what())));
  }

  absl::Status error;

 private:
  bool Fail(std::string_view pointer, std::string_view what) {
    const std::string place = pointer.empty() ? "" : Shortened(pointer, kLongestPointer) + ": ";
    error = MakeStatus(Code::kInvalidArgument, place + Escaped(what));
    return false;
  }

  JsonDocument::Text Store(const std::string& value) {
    const JsonDocument::Text text{static_cast<std::uint32_t>(document_.text_.size()),
                                  static_cast<std::uint32_t>(value.size())};
    document_.text_ += value;
    return text;
  }

  JsonDocument::Node* Add(JsonKind kind) {
    std::vector<JsonDocument::Node>& nodes = document_.nodes_;
    if (nodes.size() == kMaxValues) {
      Fail(PlaceOf(nodes.size()), fmt::format("more than {} values in one record", kMaxValues));
      return nullptr;
    }
    JsonDocument::Node& node = nodes.emplace_back();
    node.kind = kind;
    node.next = static_cast<std::uint32_t>(nodes.size());
    if (!open_.empty()) node.key = open_.back().key;
    return &node;
  }

  bool Open(JsonKind kind) {
    if (open_.size() == kMaxDepth) {
      return Fail(PlaceOf(document_.nodes_.size()), fmt::format("nested deeper than {} levels", kMaxDepth));
    }
    const std::size_t index = document_.nodes_.size();
    if (Add(kind) == nullptr) return false;
    open_.push_back({static_cast<std::uint32_t>(index), {0, 0}});
    return true;
  }

  void Close() {
    document_.nodes_[open_.back().node].next = static_cast<std::uint32_t>(document_.nodes_.size());
    open_.pop_back();
  }

  bool KeysDiffer(std::uint32_t object) {
    const std::vector<JsonDocument::Node>& nodes = document_.nodes_;
    keys_.clear();
    for (std::uint32_t i = object + 1; i < nodes[object].next; i = nodes[i].next)
      keys_.push_back(document_.View(nodes[i].key));
    std::sort(keys_.begin(), keys_.end());
    const auto twice = std::adjacent_find(keys_.begin(), keys_.end());
    if (twice == keys_.end()) return true;
    std::string pointer = PlaceOf(object);  // the object is closed already
    AppendPointer(pointer, *twice);
    return Fail(pointer, "duplicate key");
  }

  // The pointer of the node `index`, which is in the innermost open container (or is the next to come there).
  std::string PlaceOf(std::size_t index) {
    const std::vector<JsonDocument::Node>& nodes = document_.nodes_;
    std::string pointer;
    for (std::size_t level = 0; level < open_.size(); ++level) {
      const std::uint32_t container = open_[level].node;
      if (nodes[container].kind == JsonKind::kArray) {
        const std::size_t inside = level + 1 < open_.size() ? open_[level + 1].node : index;
        std::size_t position = 0;
        for (std::size_t i = container + 1; i < inside; i = nodes[i].next) ++position;
        AppendPointer(pointer, position);
      } else if (open_[level].key.size > 0) {
        AppendPointer(pointer, document_.View(open_[level].key));
      }
    }
    return pointer;
  }

  JsonDocument& document_;
  std::string_view source_;
  struct Level {
    std::uint32_t node;
    JsonDocument::Text key;  // the last one read
  };
  std::vector<Level> open_;  // containers that are not closed, from outside
  std::vector<std::string_view> keys_;
};

absl::Status JsonDocument::Parse(std::string_view text) {
  nodes_.clear();
  text_.clear();
  if (text.size() > kMaxRecordBytes) {
    return MakeStatus(Code::kInvalidArgument, fmt::format("longer than {} MiB", kMaxRecordBytes >> 20));
  }
  // nlohmann takes a NUL byte for the end of the text.
  if (const void* nul = std::memchr(text.data(), 0, text.size()); nul != nullptr) {
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(nul) - text.data());
    return MakeStatus(Code::kInvalidArgument, fmt::format("not JSON at {}: a NUL byte", Position(text, offset + 1)));
  }
  JsonBuilder builder(*this, text);
  const bool read = nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &builder);
  VIGIL_CHECK(read == builder.error.ok());
  return builder.error;
}

Json JsonDocument::root() const { return Json(this, 0); }

double Json::number() const {
  switch (kind()) {
    case JsonKind::kInteger:
      return static_cast<double>(integer());
    case JsonKind::kUnsigned:
      return static_cast<double>(natural());
    default:
      return node().number;
  }
}

std::string Json::Describe() const {
  switch (kind()) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return boolean() ? "true" : "false";
    case JsonKind::kInteger:
      return fmt::format("{}", integer());
    case JsonKind::kUnsigned:
      return fmt::format("{}", natural());
    case JsonKind::kNumber: {
      std::string text = fmt::format("{}", number());
      if (text.find_first_of(".e") == text.npos) text += ".0";
      return text;
    }
    case JsonKind::kString:
      return Quoted(string());
    case JsonKind::kArray:
      return "a list";
    case JsonKind::kObject:
      return "an object";
  }
  return "";
}

void AppendPointer(std::string& pointer, std::string_view key) {
  pointer += '/';
  for (const char c : key) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
}

void AppendPointer(std::string& pointer, std::size_t index) { pointer += fmt::format("/{}", index); }

}  // namespace vigil::replays

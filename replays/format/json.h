// A strict JSON reader into a small flat document.
//
// Stricter than most: a duplicate key, text that is not UTF-8, anything behind the value, NaN, Infinity, numbers that
// do not fit, a NUL byte, nesting deeper than kMaxDepth, more than kMaxRecordBytes bytes or kMaxValues values are
// errors. An error is INVALID_ARGUMENT and starts with the JSON pointer (RFC 6901) of the place, if that is not the
// root: "/hooks/0: ...".
//
// Thread safety: a document belongs to one thread. It keeps its memory from one Parse to the next: reuse it.
#ifndef VIGIL_REPLAYS_FORMAT_JSON_H_
#define VIGIL_REPLAYS_FORMAT_JSON_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace vigil::replays {

inline constexpr std::size_t kMaxRecordBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxValues = 1'000'000;  // objects, lists and scalars of one record together
inline constexpr int kMaxDepth = 64;

enum class JsonKind : std::uint8_t {
  kNull,
  kBool,
  kInteger,   // fits std::int64_t
  kUnsigned,  // an integer above that, up to 2^64 - 1
  kNumber,    // written with a fraction or an exponent (1.0 too), or an integer beyond 64 bits
  kString,
  kArray,
  kObject,
};

class Json;

class JsonDocument {
 public:
  // Replaces the content. REQUIRES: root() is used only after an OK.
  absl::Status Parse(std::string_view text);
  Json root() const;

 private:
  friend class Json;
  friend class JsonBuilder;

  struct Text {
    std::uint32_t offset;  // in text_
    std::uint32_t size;
  };
  struct Node {
    JsonKind kind = JsonKind::kNull;
    Text key = {0, 0};       // of a member of an object
    std::uint32_t next = 0;  // the node behind this one and all it contains
    union {
      bool boolean;
      std::int64_t integer = 0;
      std::uint64_t natural;
      double number;
      Text string;
    };
  };
  std::string_view View(Text text) const { return std::string_view(text_).substr(text.offset, text.size); }

  std::vector<Node> nodes_;  // in the order of the file: a container, then what it contains
  std::string text_;         // keys and strings
};

// One value of a document; cheap to copy. Valid until the document's next Parse.
class Json {
 public:
  JsonKind kind() const { return node().kind; }
  bool is_null() const { return kind() == JsonKind::kNull; }
  bool is_natural() const { return kind() == JsonKind::kUnsigned || (kind() == JsonKind::kInteger && integer() >= 0); }
  // REQUIRES: the kind fits.
  bool boolean() const { return node().boolean; }
  std::int64_t integer() const { return node().integer; }
  std::uint64_t natural() const { return node().natural; }  // REQUIRES: is_natural()
  double number() const;                                    // of any of the three kinds of numbers
  std::string_view string() const { return document_->View(node().string); }
  // Of a member of an object: its name.
  std::string_view key() const { return document_->View(node().key); }

  // Items of an array, members of an object, in the order of the file:  for (Json item : list) ...
  class Iterator {
   public:
    Json operator*() const { return Json(document_, index_); }
    Iterator& operator++() {
      index_ = document_->nodes_[index_].next;
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    friend class Json;
    Iterator(const JsonDocument* document, std::uint32_t index) : document_(document), index_(index) {}
    const JsonDocument* document_;
    std::uint32_t index_;
  };
  Iterator begin() const { return {document_, index_ + 1}; }
  Iterator end() const { return {document_, node().next}; }

  // For messages: "a list", "an object", "null", "true", "1.5", "'text'" (shortened).
  std::string Describe() const;

 private:
  friend class JsonDocument;
  Json(const JsonDocument* document, std::uint32_t index) : document_(document), index_(index) {}
  const JsonDocument::Node& node() const { return document_->nodes_[index_]; }

  const JsonDocument* document_;
  std::uint32_t index_;
};

// Appends "/key" with '~' and '/' escaped, or "/index".
void AppendPointer(std::string& pointer, std::string_view key);
void AppendPointer(std::string& pointer, std::size_t index);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_JSON_H_

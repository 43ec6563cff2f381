// Reads the fields of one JSON object strictly: each is asked for by name and type; Finish() then refuses what nobody
// asked for and what is missing. The first error wins and is kept by the Reading; everything after it is read as
// missing.
//
//   Fields f(reading, value, place);
//   f.Required("max").Integer(kCounts, out.max);   // out.max keeps its value if the field is missing
//   f.Finish();
//
// Thread safety: belongs to one thread. Not part of the interface of replays/: used by parse*.cc only.
#ifndef VIGIL_REPLAYS_FORMAT_FIELDS_H_
#define VIGIL_REPLAYS_FORMAT_FIELDS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "vigil/core/base/code.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/format/names.h"

namespace vigil::replays {

// The way from the root to a value, as a chain on the stack.
struct Place {
  const Place* parent = nullptr;
  std::string_view key;     // of a member
  std::int64_t index = -1;  // of an item, if not negative
  std::string Pointer() const;
};

class Reading {
 public:
  // Keeps the first error: "POINTER: what".
  void Fail(const Place& place, std::string_view what);
  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  absl::Status status_;
};

template <typename T>
struct Range {
  T least;
  T most;
};

// One value that was asked for; all readers do nothing if it is missing, or if something has failed before.
class Field {
 public:
  Field(Reading& reading, std::optional<Json> value, Place place) : reading_(reading), value_(value), place_(place) {}

  bool present() const { return value_.has_value() && reading_.ok(); }
  const Json& value() const { return *value_; }
  const Place& place() const { return place_; }
  Reading& reading() const { return reading_; }
  void Fail(std::string_view what) const { reading_.Fail(place_, what); }
  // "expected `type`, got ..."
  void WrongType(std::string_view type) const;

  void Bool(bool& out) const;
  void Integer(Range<std::int64_t> range, std::int64_t& out) const;
  void Natural(std::uint64_t& out) const;
  void Number(Range<double> range, double& out) const;
  void String(std::string& out) const;
  // Not empty, without control characters, at most 200 bytes: what goes into a line of text.
  void Name(std::string& out) const;
  // "" is passed over where the names are listed.
  void OneOf(std::span<const std::string_view> known, std::string_view what, std::string& out) const;
  void ErrorCode(std::optional<Code>& out) const;    // any but OK
  void Calls(std::vector<std::int64_t>& out) const;  // a number, or a list of numbers that is not empty

  template <typename E>
  void Enum(std::span<const Named<E>> table, std::string_view what, E& out) const {
    const std::optional<std::string_view> name = Text();
    if (!name.has_value()) return;
    if (const std::optional<E> found = FromName(table, *name)) {
      out = *found;
      return;
    }
    std::string known;
    for (const Named<E>& entry : table) AppendKnown(known, entry.name);
    Unknown(what, *name, known);
  }

  // `read(item, place)` for each item of a list.
  template <typename Read>
  void Each(Read&& read) const {
    if (!present()) return;
    if (value_->kind() != JsonKind::kArray) return WrongType("a list");
    std::int64_t index = 0;
    for (const Json item : *value_) {
      if (!reading_.ok()) return;
      read(item, Place{&place_, "", index++});
    }
  }
  // `read(member, place)` for each member of an object of any names.
  template <typename Read>
  void EachMember(Read&& read) const {
    if (!present()) return;
    if (value_->kind() != JsonKind::kObject) return WrongType("an object");
    for (const Json member : *value_) {
      if (!reading_.ok()) return;
      read(member, Place{&place_, member.key(), -1});
    }
  }

  static void AppendKnown(std::string& known, std::string_view name);
  void Unknown(std::string_view what, std::string_view got, std::string_view known) const;

 private:
  std::optional<std::string_view> Text() const;

  Reading& reading_;
  std::optional<Json> value_;
  Place place_;
};

class Fields {
 public:
  // Fails unless `object` is an object. `place` must outlive this.
  Fields(Reading& reading, Json object, const Place& place);

  Field Optional(std::string_view name);
  Field Required(std::string_view name);
  // A field that decides which others there are: fails at once if it is missing.
  Field Deciding(std::string_view name);
  // Refuses members that were not asked for, then required ones that are missing.
  void Finish();

 private:
  static constexpr std::size_t kMostFields = 32;

  Reading& reading_;
  const Place& place_;
  std::optional<Json> object_;
  std::array<std::string_view, kMostFields> known_;
  std::size_t known_count_ = 0;
  std::string_view missing_;
};

// A field of an object that is looked at beside the reading of its fields: it does not become known to that.
Field MemberOf(const Field& object, std::string_view name);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_FIELDS_H_

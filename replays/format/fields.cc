#include "vigil/replays/format/fields.h"

#include <algorithm>

#include "fmt/format.h"
#include "vigil/core/base/check.h"
#include "vigil/replays/format/escape.h"

namespace vigil::replays {
namespace {

constexpr std::size_t kLongestName = 200;
constexpr Range<std::int64_t> kCallNumbers = {1, 1'000'000};

}  // namespace

std::string Place::Pointer() const {
  if (parent == nullptr) return "";
  std::string pointer = parent->Pointer();
  if (index >= 0) {
    AppendPointer(pointer, static_cast<std::size_t>(index));
  } else {
    AppendPointer(pointer, key);
  }
  return pointer;
}

void Reading::Fail(const Place& place, std::string_view what) {
  if (!status_.ok()) return;
  std::string text = Shortened(place.Pointer(), kLongestPointer);
  if (!text.empty()) text += ": ";
  text += what;
  status_ = MakeStatus(Code::kInvalidArgument, text);
}

void Field::WrongType(std::string_view type) const {
  Fail(fmt::format("expected {}, got {}", type, value_->Describe()));
}

void Field::AppendKnown(std::string& known, std::string_view name) {
  if (!known.empty()) known += ", ";
  known += name;
}

void Field::Unknown(std::string_view what, std::string_view got, std::string_view known) const {
  Fail(fmt::format("unknown {} {}; known: {}", what, Quoted(got), known));
}

std::optional<std::string_view> Field::Text() const {
  if (!present()) return std::nullopt;
  if (value_->kind() == JsonKind::kString) return value_->string();
  WrongType("a string");
  return std::nullopt;
}

void Field::Bool(bool& out) const {
  if (!present()) return;
  if (value_->kind() != JsonKind::kBool) return WrongType("true or false");
  out = value_->boolean();
}

void Field::Integer(Range<std::int64_t> range, std::int64_t& out) const {
  if (!present()) return;
  const JsonKind kind = value_->kind();
  if (kind != JsonKind::kInteger && kind != JsonKind::kUnsigned) return WrongType("an integer");
  if (kind == JsonKind::kUnsigned || value_->integer() < range.least || value_->integer() > range.most) {
    return Fail(fmt::format("{} is not in {}..{}", value_->Describe(), range.least, range.most));
  }
  out = value_->integer();
}

void Field::Natural(std::uint64_t& out) const {
  if (!present()) return;
  const JsonKind kind = value_->kind();
  if (kind != JsonKind::kInteger && kind != JsonKind::kUnsigned) return WrongType("an integer");
  if (kind == JsonKind::kInteger && value_->integer() < 0) {
    return Fail(fmt::format("{} is not in 0..{}", value_->Describe(), UINT64_MAX));
  }
  out = value_->natural();
}

void Field::Number(Range<double> range, double& out) const {
  if (!present()) return;
  const JsonKind kind = value_->kind();
  if (kind != JsonKind::kInteger && kind != JsonKind::kUnsigned && kind != JsonKind::kNumber)
    return WrongType("a number");
  const double number = value_->number();
  if (number < range.least || number > range.most) {
    return Fail(fmt::format("{} is not in {}..{}", value_->Describe(), range.least, range.most));
  }
  out = number;
}

void Field::String(std::string& out) const {
  if (const std::optional<std::string_view> text = Text()) out = *text;
}

void Field::Name(std::string& out) const {
  const std::optional<std::string_view> text = Text();
  if (!text.has_value()) return;
  if (text->empty()) return Fail("may not be empty");
  if (text->size() > kLongestName) return Fail(fmt::format("{} is longer than {} bytes", Quoted(*text), kLongestName));
  if (Escaped(*text) != *text) return Fail(fmt::format("{} has control characters", Quoted(*text)));
  out = *text;
}

void Field::OneOf(std::span<const std::string_view> known, std::string_view what, std::string& out) const {
  const std::optional<std::string_view> text = Text();
  if (!text.has_value()) return;
  if (std::find(known.begin(), known.end(), *text) == known.end()) {
    std::string names;
    for (const std::string_view name : known) {
      if (!name.empty()) AppendKnown(names, name);
    }
    return Unknown(what, *text, names);
  }
  out = *text;
}

void Field::ErrorCode(std::optional<Code>& out) const {
  const std::optional<std::string_view> text = Text();
  if (!text.has_value()) return;
  const std::optional<Code> code = CodeFromName(*text);
  if (code.has_value() && *code != Code::kOk) {
    out = *code;
    return;
  }
  std::string names;
  for (int i = 1; i <= static_cast<int>(Code::kNanLoss); ++i) AppendKnown(names, CodeName(static_cast<Code>(i)));
  Unknown("code", *text, names);
}

void Field::Calls(std::vector<std::int64_t>& out) const {
  if (!present()) return;
  if (value_->kind() != JsonKind::kArray) {
    std::int64_t call = 0;
    if (value_->kind() != JsonKind::kInteger) return WrongType("a number or a list of numbers");
    Integer(kCallNumbers, call);
    out.assign(1, call);
    return;
  }
  out.clear();
  Each([&](Json item, const Place& place) {
    std::int64_t call = 0;
    Field(reading_, item, place).Integer(kCallNumbers, call);
    out.push_back(call);
  });
  if (out.empty()) Fail("a list of calls may not be empty");
}

Fields::Fields(Reading& reading, Json object, const Place& place) : reading_(reading), place_(place) {
  if (!reading.ok()) return;
  if (object.kind() != JsonKind::kObject) {
    Field(reading, object, place).WrongType("an object");
    return;
  }
  object_ = object;
}

Field Fields::Optional(std::string_view name) {
  const auto end = known_.begin() + static_cast<std::ptrdiff_t>(known_count_);
  if (std::find(known_.begin(), end, name) == end) {
    VIGIL_CHECK(known_count_ < kMostFields);
    known_[known_count_++] = name;
  }
  const Place place{&place_, name, -1};
  if (object_.has_value()) {
    for (const Json member : *object_) {
      if (member.key() == name) return Field(reading_, member, place);
    }
  }
  return Field(reading_, std::nullopt, place);
}

Field Fields::Required(std::string_view name) {
  Field field = Optional(name);
  if (object_.has_value() && !field.present() && missing_.empty()) missing_ = name;
  return field;
}

Field Fields::Deciding(std::string_view name) {
  Field field = Required(name);
  if (missing_ == name) reading_.Fail(place_, fmt::format("missing field '{}'", name));
  return field;
}

void Fields::Finish() {
  if (!object_.has_value() || !reading_.ok()) return;
  const auto end = known_.begin() + static_cast<std::ptrdiff_t>(known_count_);
  for (const Json member : *object_) {
    if (std::find(known_.begin(), end, member.key()) != end) continue;
    std::string names;
    for (auto name = known_.begin(); name != end; ++name) Field::AppendKnown(names, *name);
    return reading_.Fail(Place{&place_, member.key(), -1}, fmt::format("unknown field; known here: {}", names));
  }
  if (!missing_.empty()) reading_.Fail(place_, fmt::format("missing field '{}'", missing_));
}

Field MemberOf(const Field& object, std::string_view name) {
  return Fields(object.reading(), object.value(), object.place()).Optional(name);
}

}  // namespace vigil::replays

// The types of the values of fields: see description.h. Each is read, printed and put into words here and nowhere else.
//
// Thread safety: constants.
#ifndef VIGIL_REPLAYS_FORMAT_VALUE_TYPES_H_
#define VIGIL_REPLAYS_FORMAT_VALUE_TYPES_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/time.h"
#include "vigil/replays/format/description.h"
#include "vigil/replays/format/names.h"

namespace vigil::replays {

// Bounds that protect what plays a scenario: far above anything useful.
inline constexpr Range<std::int64_t> kCountRange = {0, 1'000'000};
inline constexpr Range<double> kSecondRange = {0, 1e6};

class BoolType : public Typed<bool> {
 public:
  void Read(const Field& field, bool& out) const override { field.Bool(out); }
  void Print(JsonWriter& w, const bool& value) const override { w.Bool(value); }
  std::string Words() const override { return "true or false"; }
};

class IntegerType : public Typed<std::int64_t> {
 public:
  explicit constexpr IntegerType(Range<std::int64_t> range) : range_(range) {}
  void Read(const Field& field, std::int64_t& out) const override { field.Integer(range_, out); }
  void Print(JsonWriter& w, const std::int64_t& value) const override { w.Integer(value); }
  std::string Words() const override;

 private:
  Range<std::int64_t> range_;
};

// Any number up to 2^64 - 1.
class NaturalType : public Typed<std::uint64_t> {
 public:
  void Read(const Field& field, std::uint64_t& out) const override { field.Natural(out); }
  void Print(JsonWriter& w, const std::uint64_t& value) const override { w.Natural(value); }
  std::string Words() const override { return "integer, up to 2^64 - 1"; }
};

// With or without a fraction; 1.0 is printed as 1.
class NumberType : public Typed<double> {
 public:
  explicit constexpr NumberType(Range<double> range) : range_(range) {}
  void Read(const Field& field, double& out) const override { field.Number(range_, out); }
  void Print(JsonWriter& w, const double& value) const override { w.Seconds(value); }
  std::string Words() const override;

 private:
  Range<double> range_;
};

// Seconds as a number.
class DurationType : public Typed<Duration> {
 public:
  explicit constexpr DurationType(Range<double> range = kSecondRange) : range_(range) {}
  void Read(const Field& field, Duration& out) const override;
  void Print(JsonWriter& w, const Duration& value) const override { w.Seconds(ToSeconds(value)); }
  std::string Words() const override { return NumberType(range_).Words(); }

 private:
  Range<double> range_;
};

class StringType : public Typed<std::string> {
 public:
  void Read(const Field& field, std::string& out) const override { field.String(out); }
  void Print(JsonWriter& w, const std::string& value) const override { w.String(value); }
  std::string Words() const override { return "text"; }
};

class NameType : public StringType {
 public:
  void Read(const Field& field, std::string& out) const override { field.Name(out); }
  std::string Words() const override { return "name"; }
};

// Of a list of texts; errors call it `what`.
class OneOfType : public StringType {
 public:
  explicit constexpr OneOfType(std::span<const std::string_view> known, std::string_view what = "value")
      : known_(known), what_(what) {}
  void Read(const Field& field, std::string& out) const override { field.OneOf(known_, what_, out); }
  std::string Words() const override;

 private:
  std::span<const std::string_view> known_;
  std::string_view what_;
};

template <typename E>
class EnumType : public Typed<E> {
 public:
  explicit constexpr EnumType(std::span<const Named<E>> table, std::string_view what = "value")
      : table_(table), what_(what) {}
  void Read(const Field& field, E& out) const override { field.Enum(table_, what_, out); }
  void Print(JsonWriter& w, const E& value) const override { w.String(NameOf(table_, value)); }
  std::string Words() const override {
    std::string words;
    for (const Named<E>& entry : table_) Field::AppendKnown(words, "`" + std::string(entry.name) + "`");
    return words;
  }

 private:
  std::span<const Named<E>> table_;
  std::string_view what_;
};

// Any but OK, which stands for a missing one.
class CodeType : public Typed<Code> {
 public:
  void Read(const Field& field, Code& out) const override;
  void Print(JsonWriter& w, const Code& value) const override;
  std::string Words() const override { return "code"; }
};

// Numbers of calls: one, or a list of them; none is null.
class CallsType : public Typed<std::vector<std::int64_t>> {
 public:
  enum class Of { kSome, kSomeOrAll, kOne };
  explicit constexpr CallsType(Of of) : of_(of) {}
  void Read(const Field& field, std::vector<std::int64_t>& out) const override;
  void Print(JsonWriter& w, const std::vector<std::int64_t>& calls) const override;
  std::string Words() const override;

 private:
  Of of_;
};

template <typename T>
class MapOf : public Typed<std::map<std::string, T, std::less<>>> {
 public:
  using Map = std::map<std::string, T, std::less<>>;
  explicit constexpr MapOf(const Typed<T>& type) : type_(type) {}
  virtual void CheckKey(const Field& /*member*/, std::string_view /*key*/) const {}
  void Read(const Field& field, Map& out) const override {
    field.EachMember([&](Json member, const Place& place) {
      const Field value(field.reading(), member, place);
      CheckKey(value, member.key());
      if (value.present()) type_.Read(value, out[std::string(member.key())]);
    });
  }
  void Print(JsonWriter& w, const Map& values) const override {
    w.Open('{');
    for (const auto& [name, value] : values) type_.Print(w.Key(name), value);
    w.Close('}');
  }
  std::string Words() const override { return "object of any names: " + type_.Words(); }

 private:
  const Typed<T>& type_;
};

// The arguments of a table, and no other.
class ArgsType : public Typed<Args> {
 public:
  explicit constexpr ArgsType(std::span<const ArgSpec> specs) : specs_(specs) {}
  void Read(const Field& field, Args& out) const override;
  void Print(JsonWriter& w, const Args& args) const override;
  std::string Words() const override;

 private:
  std::span<const ArgSpec> specs_;
};

// The name of an entry of a table, or `also`.
class SchemaNameType : public StringType {
 public:
  constexpr SchemaNameType(std::span<const Schema> schemas, std::string_view what, std::string_view also = "")
      : schemas_(schemas), what_(what), also_(also) {}
  void Read(const Field& field, std::string& out) const override;
  std::string Words() const override { return Known("`"); }

 private:
  std::string Known(std::string_view quote) const;

  std::span<const Schema> schemas_;
  std::string_view what_;
  std::string_view also_;
};

inline const BoolType kFlag;
inline const IntegerType kCount(kCountRange);
inline const IntegerType kCall({1, 1'000'000});
inline const IntegerType kStepNumber({0, 1'000'000'000});
inline const IntegerType kValue({-1'000'000'000, 1'000'000'000});
inline const NumberType kSecs(kSecondRange);
inline const StringType kText;
inline const NameType kName;
inline const CodeType kErrorCode;

// What an argument of a table may be: "integer, 0 to 10, or null".
std::string WordsOf(const ArgSpec& spec);
void ReadArgs(Fields& fields, std::span<const ArgSpec> specs, Args& out);
void PrintArgs(JsonWriter& w, const Args& args);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_VALUE_TYPES_H_

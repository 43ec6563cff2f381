// The one description of a scenario's fields, and what walks over it: the reader, the printer, and the writer of
// docs/scenario_fields.md. An object of the file is a class derived from Object<S> that lists the fields of S:
//
//   class LimitsObject : public Object<Limits> {
//     void Describe(Described<Limits>& f) const override {
//       f.Optional("events", &Limits::events, IntegerType({1, 10'000'000}), "lines that the caller's task may show");
//     }
//   };
//
// A line names the field, the member, the type of its value (value_types.h) and says in one sentence what it is. What a
// field is when it is missing, the struct itself says: such fields are not printed. What no single field can say (that
// one needs another) is in Complete().
//
// Thread safety: constants. Not part of the interface of replays/: used in this folder only.
#ifndef VIGIL_REPLAYS_FORMAT_DESCRIPTION_H_
#define VIGIL_REPLAYS_FORMAT_DESCRIPTION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/replays/format/fields.h"
#include "vigil/replays/format/json_writer.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/format/schema.h"

namespace vigil::replays {

// What the values of a field are, whatever their type in C++: how they are read, printed and described.
class ValueType {
 public:
  virtual ~ValueType() = default;
  virtual void ReadAny(const Field& field, void* out) const = 0;
  virtual void PrintAny(JsonWriter& w, const void* value) const = 0;
  virtual bool MissingAny(const void* value, const void* missing) const = 0;
  // For people: "a number, 0 to 10".
  virtual std::string Words() const = 0;
};

template <typename T>
class Typed : public ValueType {
 public:
  // REQUIRES: the field is present.
  virtual void Read(const Field& field, T& out) const = 0;
  virtual void Print(JsonWriter& w, const T& value) const = 0;
  // Whether the value is what a missing field means.
  virtual bool Missing(const T& value, const T& missing) const { return value == missing; }

  void ReadAny(const Field& field, void* out) const final { Read(field, *static_cast<T*>(out)); }
  void PrintAny(JsonWriter& w, const void* value) const final { Print(w, *static_cast<const T*>(value)); }
  bool MissingAny(const void* value, const void* missing) const final {
    return Missing(*static_cast<const T*>(value), *static_cast<const T*>(missing));
  }
};

// A value that may be missing.
template <typename T>
class Maybe : public Typed<std::optional<T>> {
 public:
  explicit Maybe(const Typed<T>& type) : type_(type) {}
  void Read(const Field& field, std::optional<T>& out) const override { type_.Read(field, out.emplace()); }
  void Print(JsonWriter& w, const std::optional<T>& value) const override {
    if (value.has_value()) type_.Print(w, *value);
  }
  std::string Words() const override { return type_.Words(); }

 private:
  const Typed<T>& type_;
};

template <typename T>
class ListOf : public Typed<std::vector<T>> {
 public:
  explicit ListOf(const Typed<T>& type) : type_(type) {}
  void Read(const Field& field, std::vector<T>& out) const override {
    field.Each(
        [&](Json item, const Place& place) { type_.Read(Field(field.reading(), item, place), out.emplace_back()); });
  }
  void Print(JsonWriter& w, const std::vector<T>& values) const override {
    w.Open('[');
    for (const T& value : values) type_.Print(w, value);
    w.Close(']');
  }
  std::string Words() const override { return "list: " + type_.Words(); }

 private:
  const Typed<T>& type_;
};

enum class How : std::uint8_t {
  kOptional,
  kRequired,  // and so printed in any case
  kDeciding,  // required, and decides which others there are
};

// When a field is printed; it is read where it stands.
enum class Turn : std::uint8_t { kFirst, kInOrder, kLast };

struct FieldInfo {
  std::string_view name;
  std::string_view text;  // for people: one sentence
  std::string_view of;    // for people: when the object has this field; "" = always
  How how = How::kOptional;
  Turn turn = Turn::kInOrder;
  bool shown = false;   // printed though it is as if it were missing
  bool listed = false;  // errors list it as known where the object does not have it, too
};

class FieldWalk {
 public:
  virtual ~FieldWalk() = default;
  // `applies`: this object has the field.
  virtual void Visit(const FieldInfo& info, bool applies, const ValueType& type, void* value, const void* missing) = 0;
  // What a table says that there is (schema.h).
  virtual void VisitArgs(const FieldInfo& info, bool applies, std::span<const ArgSpec> specs, Args& args) = 0;
};

// One struct on a walk. When(), First(), ... give the same with a condition for the fields that are named with it.
template <typename S>
class Described {
 public:
  Described(FieldWalk& walk, S& value) : walk_(walk), value_(value) {}

  // What was read so far, or is printed.
  const S& value() const { return value_; }

  Described When(bool applies, std::string_view of) const {
    Described changed = *this;
    changed.applies_ = applies;
    changed.info_.of = of;
    return changed;
  }
  Described First() const { return With(&FieldInfo::turn, Turn::kFirst); }
  Described Last() const { return With(&FieldInfo::turn, Turn::kLast); }
  Described Shown(bool shown = true) const { return With(&FieldInfo::shown, shown); }
  Described Listed() const { return With(&FieldInfo::listed, true); }

  // NAME, MEMBER (or none: the type is one of the whole struct), TYPE (of the member, or of what is in it if that is an
  // optional or a list), TEXT.
  template <typename... Line>
  void Optional(std::string_view name, const Line&... line) const {
    Add(How::kOptional, name, line...);
  }
  template <typename... Line>
  void Required(std::string_view name, const Line&... line) const {
    Add(How::kRequired, name, line...);
  }
  template <typename... Line>
  void Deciding(std::string_view name, const Line&... line) const {
    Add(How::kDeciding, name, line...);
  }
  void Arguments(std::span<const ArgSpec> specs, Args S::*member) const {
    walk_.VisitArgs(info_, applies_, specs, value_.*member);
  }

 private:
  template <typename T>
  Described With(T FieldInfo::*flag, T value) const {
    Described changed = *this;
    changed.info_.*flag = value;
    return changed;
  }
  static const S& None() {
    static const S none{};
    return none;
  }
  void Add(How how, std::string_view name, const ValueType& type, void* value, const void* missing,
           std::string_view text) const {
    FieldInfo info = info_;
    info.how = how;
    info.name = name;
    info.text = text;
    walk_.Visit(info, applies_, type, value, missing);
  }
  template <typename T>
  void Add(How how, std::string_view name, T S::*member, const Typed<T>& type, std::string_view text) const {
    Add(how, name, type, &(value_.*member), &(None().*member), text);
  }
  template <typename T>
  void Add(How how, std::string_view name, std::optional<T> S::*member, const Typed<T>& type,
           std::string_view text) const {
    Add(how, name, member, static_cast<const Typed<std::optional<T>>&>(Maybe<T>(type)), text);
  }
  template <typename T>
  void Add(How how, std::string_view name, std::vector<T> S::*member, const Typed<T>& type,
           std::string_view text) const {
    Add(how, name, member, static_cast<const Typed<std::vector<T>>&>(ListOf<T>(type)), text);
  }
  void Add(How how, std::string_view name, const Typed<S>& type, std::string_view text) const {
    Add(how, name, type, &value_, &None(), text);
  }

  FieldWalk& walk_;
  S& value_;
  FieldInfo info_;
  bool applies_ = true;
};

class ReadingWalk : public FieldWalk {
 public:
  explicit ReadingWalk(Fields& fields) : fields_(fields) {}
  void Visit(const FieldInfo& info, bool applies, const ValueType& type, void* value, const void* missing) override;
  void VisitArgs(const FieldInfo& info, bool applies, std::span<const ArgSpec> specs, Args& args) override;

 private:
  Fields& fields_;
};

class PrintingWalk : public FieldWalk {
 public:
  PrintingWalk(JsonWriter& w, Turn turn) : w_(w), turn_(turn) {}
  void Visit(const FieldInfo& info, bool applies, const ValueType& type, void* value, const void* missing) override;
  void VisitArgs(const FieldInfo& info, bool applies, std::span<const ArgSpec> specs, Args& args) override;

 private:
  JsonWriter& w_;
  Turn turn_;
};

// Whether anything would be printed.
class EmptinessWalk : public FieldWalk {
 public:
  void Visit(const FieldInfo& info, bool applies, const ValueType& type, void* value, const void* missing) override;
  void VisitArgs(const FieldInfo& info, bool applies, std::span<const ArgSpec> specs, Args& args) override;
  bool empty() const { return empty_; }

 private:
  bool empty_ = true;
};

template <typename S>
class Object : public Typed<S> {
 public:
  virtual void Describe(Described<S>& f) const = 0;
  // After all fields were read without an error: what must hold of them together, and what follows from them.
  virtual void Complete(const Field& /*object*/, S& /*value*/) const {}

  // Only the fields, of an object that others have fields of, too.
  void ReadFields(Fields& fields, S& out) const {
    ReadingWalk walk(fields);
    Go(walk, out);
  }
  void PrintFields(JsonWriter& w, const S& value, Turn turn) const {
    PrintingWalk walk(w, turn);
    Go(walk, const_cast<S&>(value));  // which a printer does not change
  }
  void Go(FieldWalk& walk, S& value) const {
    Described<S> described(walk, value);
    Describe(described);
  }

  void Read(const Field& field, S& out) const override {
    Fields fields(field.reading(), field.value(), field.place());
    ReadFields(fields, out);
    fields.Finish();
    if (field.reading().ok()) Complete(field, out);
  }
  void Print(JsonWriter& w, const S& value) const override {
    w.Open('{');
    for (const Turn turn : {Turn::kFirst, Turn::kInOrder, Turn::kLast}) PrintFields(w, value, turn);
    w.Close('}');
  }
  bool Missing(const S& value, const S& /*missing*/) const override {
    EmptinessWalk walk;
    Go(walk, const_cast<S&>(value));  // the same
    return walk.empty();
  }
  std::string Words() const override { return "object"; }
};

// Whether the object that was read has such a field: null counts.
bool HasMember(const Json& object, std::string_view name);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_DESCRIPTION_H_

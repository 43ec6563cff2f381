#include "vigil/replays/format/value_types.h"

#include <optional>
#include <utility>
#include <variant>

#include "fmt/format.h"

namespace vigil::replays {
namespace {

// 1000000 as 1,000,000.
std::string Grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t sign = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string Grouped(double number) {
  const auto whole = static_cast<std::int64_t>(number);
  return static_cast<double>(whole) == number ? Grouped(whole) : fmt::format("{}", number);
}

const NumberType kAnyNumber({-1e9, 1e9});
constexpr std::string_view kLoggedTensors[] = {"step", "fed"};
constexpr std::string_view kTensorNames[] = {"step", "fed", "loss"};

void ReadTensors(const Field& field, ArgValue& out) {
  std::vector<std::string> names;
  ListOf<std::string>(OneOfType(kLoggedTensors)).Read(field, names);
  if (names.empty()) field.Fail("a list of tensors may not be empty");
  out = std::move(names);
}

template <typename T>
void ReadAs(const Typed<T>& type, const Field& field, ArgValue& out) {
  T value{};
  type.Read(field, value);
  out = std::move(value);
}

void ReadArg(const Field& field, ArgType type, ArgValue& out) {
  switch (type) {
    case ArgType::kInteger:
      return ReadAs(kValue, field, out);
    case ArgType::kNumber:
      if (field.value().kind() == JsonKind::kInteger) return ReadAs(kValue, field, out);
      return ReadAs(kAnyNumber, field, out);
    case ArgType::kBool:
      return ReadAs(kFlag, field, out);
    case ArgType::kString:
      return ReadAs(kName, field, out);
    case ArgType::kCode: {
      Code code = Code::kOk;
      kErrorCode.Read(field, code);
      out = std::string(CodeName(code));
      return;
    }
    case ArgType::kTensor:
      return ReadAs(OneOfType(kTensorNames), field, out);
    case ArgType::kTensors:
      return ReadTensors(field, out);
    case ArgType::kStrings:
      return ReadAs(ListOf<std::string>(kName), field, out);
  }
}

std::string TypeWords(ArgType type) {
  switch (type) {
    case ArgType::kInteger:
      return kValue.Words();
    case ArgType::kNumber:
      return kAnyNumber.Words();
    case ArgType::kBool:
      return kFlag.Words();
    case ArgType::kString:
      return kName.Words();
    case ArgType::kCode:
      return kErrorCode.Words();
    case ArgType::kTensor:
      return OneOfType(kTensorNames).Words();
    case ArgType::kTensors:
      return "list: " + OneOfType(kLoggedTensors).Words();
    case ArgType::kStrings:
      return "list: " + kName.Words();
  }
  return "";
}

// Numbers that were written with a fraction stay so: in an argument, 1 and 1.0 are told apart when printed, not when
// played.
struct ArgPrinter {
  JsonWriter& w;
  void operator()(std::monostate) const { w.Null(); }
  void operator()(bool value) const { w.Bool(value); }
  void operator()(std::int64_t value) const { w.Integer(value); }
  void operator()(double value) const { w.Double(value); }
  void operator()(const std::string& value) const { w.String(value); }
  void operator()(const std::vector<std::string>& values) const { ListOf<std::string>(kText).Print(w, values); }
};

}  // namespace

std::string IntegerType::Words() const {
  return fmt::format("integer, {} to {}", Grouped(range_.least), Grouped(range_.most));
}

std::string NumberType::Words() const {
  return fmt::format("number, {} to {}", Grouped(range_.least), Grouped(range_.most));
}

void DurationType::Read(const Field& field, Duration& out) const {
  double seconds = 0;
  field.Number(range_, seconds);
  out = Seconds(seconds);
}

std::string OneOfType::Words() const {
  std::string words;
  for (const std::string_view name : known_) {
    if (!name.empty()) Field::AppendKnown(words, fmt::format("`{}`", name));
  }
  return words;
}

void CodeType::Read(const Field& field, Code& out) const {
  std::optional<Code> code;
  field.ErrorCode(code);
  out = code.value_or(Code::kOk);
}

void CodeType::Print(JsonWriter& w, const Code& value) const {
  if (value != Code::kOk) w.String(CodeName(value));
}

void CallsType::Read(const Field& field, std::vector<std::int64_t>& out) const {
  if (of_ == Of::kOne) return kCall.Read(field, out.emplace_back());
  if (of_ != Of::kSomeOrAll || !field.value().is_null()) field.Calls(out);
}

void CallsType::Print(JsonWriter& w, const std::vector<std::int64_t>& calls) const {
  if (calls.size() > 1) return ListOf<std::int64_t>(kCall).Print(w, calls);
  calls.empty() ? w.Null() : w.Integer(calls[0]);
}

std::string CallsType::Words() const {
  if (of_ == Of::kOne) return kCall.Words();
  return of_ == Of::kSome ? "integer or list of them, from 1" : "integer or list of them, from 1, or null: all";
}

void ArgsType::Read(const Field& field, Args& out) const {
  Fields fields(field.reading(), field.value(), field.place());
  ReadArgs(fields, specs_, out);
  fields.Finish();
}

void ArgsType::Print(JsonWriter& w, const Args& args) const {
  w.Open('{');
  PrintArgs(w, args);
  w.Close('}');
}

std::string ArgsType::Words() const {
  std::string words;
  for (const ArgSpec& spec : specs_) Field::AppendKnown(words, fmt::format("`{}` ({})", spec.name, WordsOf(spec)));
  return "object: " + words;
}

void SchemaNameType::Read(const Field& field, std::string& out) const {
  field.String(out);
  const bool is_also = !also_.empty() && out == also_;
  if (!field.present() || is_also || FindSchema(schemas_, out) != nullptr) return;
  field.Unknown(what_, out, Known(""));
}

std::string SchemaNameType::Known(std::string_view quote) const {
  std::string known;
  if (!also_.empty()) Field::AppendKnown(known, fmt::format("{0}{1}{0}", quote, also_));
  for (const Schema& schema : schemas_) Field::AppendKnown(known, fmt::format("{0}{1}{0}", quote, schema.name));
  return known;
}

std::string WordsOf(const ArgSpec& spec) { return TypeWords(spec.type) + (spec.nullable ? ", or null" : ""); }

void ReadArgs(Fields& fields, std::span<const ArgSpec> specs, Args& out) {
  for (const ArgSpec& spec : specs) {
    const Field field = spec.required ? fields.Required(spec.name) : fields.Optional(spec.name);
    if (!field.present()) continue;
    ArgValue value;
    if (!(spec.nullable && field.value().is_null())) ReadArg(field, spec.type, value);
    out.emplace(spec.name, std::move(value));
  }
}

void PrintArgs(JsonWriter& w, const Args& args) {
  for (const auto& [name, value] : args) std::visit(ArgPrinter{w.Key(name)}, value);
}

}  // namespace vigil::replays

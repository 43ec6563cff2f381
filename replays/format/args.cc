#include "vigil/replays/format/args.h"

#include <variant>

namespace vigil::replays {
namespace {

// The value if it is given and of that type.
template <typename T>
const T* Get(const Args& args, std::string_view name) {
  const auto it = args.find(name);
  return it == args.end() ? nullptr : std::get_if<T>(&it->second);
}

}  // namespace

ArgValue::ArgValue() = default;
ArgValue::ArgValue(const ArgValue& other) = default;
ArgValue::ArgValue(ArgValue&& other) noexcept = default;
ArgValue& ArgValue::operator=(const ArgValue& other) = default;
ArgValue& ArgValue::operator=(ArgValue&& other) noexcept = default;
ArgValue::~ArgValue() = default;

bool IsGiven(const Args& args, std::string_view name) { return args.contains(name); }

std::optional<std::int64_t> IntegerArg(const Args& args, std::string_view name, std::optional<std::int64_t> missing) {
  if (!IsGiven(args, name)) return missing;
  const auto* const value = Get<std::int64_t>(args, name);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<Duration> SecondsArg(const Args& args, std::string_view name, std::optional<Duration> missing) {
  if (!IsGiven(args, name)) return missing;
  if (const auto* const whole = Get<std::int64_t>(args, name)) return Seconds(static_cast<double>(*whole));
  const auto* const value = Get<double>(args, name);
  return value != nullptr ? std::optional(Seconds(*value)) : std::nullopt;
}

bool BoolArg(const Args& args, std::string_view name, bool missing) {
  const auto* const value = Get<bool>(args, name);
  return value != nullptr ? *value : missing;
}

std::string StringArg(const Args& args, std::string_view name, std::string_view missing) {
  const auto* const value = Get<std::string>(args, name);
  return value != nullptr ? *value : std::string(missing);
}

std::vector<std::string> ListArg(const Args& args, std::string_view name) {
  const auto* const value = Get<std::vector<std::string>>(args, name);
  return value != nullptr ? *value : std::vector<std::string>();
}

}  // namespace vigil::replays

#include "vigil/properties/model/arguments.h"

namespace vigil::properties::model {

bool IsGivenArgument(const replays::Args& args, std::string_view name) { return args.find(name) != args.end(); }

std::optional<double> NumberArgument(const replays::Args& args, std::string_view name) {
  const auto found = args.find(name);
  if (found == args.end()) return std::nullopt;
  if (const auto* const integer = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*integer);
  if (const auto* const real = std::get_if<double>(&found->second)) return *real;
  return std::nullopt;
}

bool FlagArgument(const replays::Args& args, std::string_view name, bool missing) {
  const auto found = args.find(name);
  if (found == args.end()) return missing;
  const bool* const flag = std::get_if<bool>(&found->second);
  return flag != nullptr && *flag;
}

}  // namespace vigil::properties::model

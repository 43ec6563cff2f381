// Reading the arguments that a scenario gives to a hook, a session or a unit. Null in the file is "passed as none";
// what is not given at all is `missing`. The parser has checked the types.
//
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_FORMAT_ARGS_H_
#define VIGIL_REPLAYS_FORMAT_ARGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

bool IsGiven(const Args& args, std::string_view name);  // also as null
std::optional<std::int64_t> IntegerArg(const Args& args, std::string_view name,
                                       std::optional<std::int64_t> missing = std::nullopt);
std::optional<Duration> SecondsArg(const Args& args, std::string_view name,
                                   std::optional<Duration> missing = std::nullopt);
bool BoolArg(const Args& args, std::string_view name, bool missing = false);
std::string StringArg(const Args& args, std::string_view name, std::string_view missing = "");
std::vector<std::string> ListArg(const Args& args, std::string_view name);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_ARGS_H_

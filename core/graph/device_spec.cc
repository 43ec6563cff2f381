#include "vigil/core/graph/device_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {
namespace {

constexpr std::array<std::string_view, 5> kShortTypes = {"CPU", "GPU", "TPU", "CUSTOM", "EPU"};

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

absl::StatusOr<std::int64_t> ParseNumber(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  std::int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || stop != end) {
    return UsageError(fmt::format("invalid literal for int() with base 10: '{}'", text));
  }
  return number;
}

absl::Status SetDevice(std::string_view whole, std::string type, std::string_view index, DeviceSpec& spec) {
  if (spec.device_type.has_value()) {
    return UsageError(fmt::format("Multiple device types are not allowed while parsing the device spec: {}.", whole));
  }
  // Lower case is understood for these two only, for the sake of old programs.
  spec.device_type = type == "cpu" || type == "gpu" ? Upper(type) : std::move(type);
  if (index == "*") return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(spec.device_index, ParseNumber(index));
  return absl::OkStatus();
}

// One part between slashes. `whole` is for messages.
absl::Status ParsePart(std::string_view whole, std::string_view part, DeviceSpec& spec) {
  const std::vector<std::string_view> words = Split(part, ':');
  const std::string_view name = words[0];
  if (words.size() == 2 && name == "job") {
    spec.job = words[1];
    return absl::OkStatus();
  }
  if (words.size() == 2 && (name == "replica" || name == "task")) {
    VIGIL_ASSIGN_OR_RETURN((name == "task" ? spec.task : spec.replica), ParseNumber(words[1]));
    return absl::OkStatus();
  }
  if (words.size() <= 2 && std::ranges::find(kShortTypes, Upper(name)) != kShortTypes.end()) {
    return SetDevice(whole, Upper(name), words.size() == 2 ? words[1] : "*", spec);
  }
  if (words.size() == 3 && name == "device") return SetDevice(whole, std::string(words[1]), words[2], spec);
  if (name.empty()) return absl::OkStatus();
  return UsageError(
      fmt::format("Unknown attribute '{}' is encountered while parsing the device spec: '{}'.", name, whole));
}

}  // namespace

absl::StatusOr<DeviceSpec> DeviceSpec::Parse(std::string_view text) {
  DeviceSpec spec;
  for (const std::string_view part : Split(text, '/')) VIGIL_RETURN_IF_ERROR(ParsePart(text, part, spec));
  return spec;
}

DeviceSpec DeviceSpec::MergedWith(const DeviceSpec& inner) const {
  DeviceSpec merged = inner;
  if (!merged.job.has_value()) merged.job = job;
  if (!merged.replica.has_value()) merged.replica = replica;
  if (!merged.task.has_value()) merged.task = task;
  if (!merged.device_type.has_value()) merged.device_type = device_type;
  if (!merged.device_index.has_value()) merged.device_index = device_index;
  return merged;
}

std::string DeviceSpec::ToString() const {
  std::string text;
  if (job.has_value()) text += "/job:" + *job;
  if (replica.has_value()) text += fmt::format("/replica:{}", *replica);
  if (task.has_value()) text += fmt::format("/task:{}", *task);
  if (device_type.has_value()) {
    text += fmt::format("/device:{}:{}", *device_type, device_index ? fmt::to_string(*device_index) : "*");
  }
  return text;
}

}  // namespace vigil

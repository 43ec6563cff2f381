#include "vigil/replays/format/edits.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "vigil/core/base/code.h"

namespace vigil::replays {
namespace {

using Tree = nlohmann::ordered_json;
using Pointer = Tree::json_pointer;

// They say which scenario it is, and how it is to be played and judged.
bool StaysAsItIs(const Pointer& place) {
  constexpr std::string_view kNames[] = {"/id",     "/title",  "/format", "/seed",   "/behaviour",
                                         "/limits", "/expect", "/heal_s", "/limit_s"};
  const std::string text = place.to_string();
  return std::ranges::any_of(kNames, [&text](std::string_view name) { return text == name; });
}

// Calls `visit(place, value)` for the tree's values, outer ones first; nothing below what stays as it is.
template <typename Visit>
void Walk(const Tree& value, const Pointer& place, const Visit& visit) {
  if (StaysAsItIs(place)) return;
  visit(place, value);
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) Walk(member, place / key, visit);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) Walk(value[i], place / i, visit);
  }
}

bool InChoices(const Pointer& place) { return place.to_string().starts_with("/choices"); }

std::vector<double> SmallerThan(const Tree& number) {
  const double value = number.get<double>();
  std::vector<double> smaller;
  const auto offer = [&](double candidate) {
    if (std::abs(candidate) < std::abs(value) && std::ranges::find(smaller, candidate) == smaller.end())
      smaller.push_back(candidate);
  };
  if (value > 1) offer(1);
  offer(0);
  if (value < 0) offer(-1);
  offer(std::trunc(value / 2));
  offer(std::trunc(value));  // no fraction
  if (number.is_number_integer()) offer(value > 0 ? value - 1 : value + 1);
  return smaller;
}

bool Has(const Tree& entry, const char* key, std::string_view value) {
  return entry.is_object() && entry.contains(key) && entry[key].is_string() && entry[key].get<std::string>() == value;
}

// The numbers of the calls that a fault is for; none: it is not known by numbers.
std::vector<std::int64_t> CallNumbersOf(const Tree& fault) {
  const Tree calls = fault.value("call", Tree());
  if (calls.is_number_integer()) return {calls.get<std::int64_t>()};
  std::vector<std::int64_t> numbers;
  for (const Tree& call : calls) {
    if (call.is_number_integer()) numbers.push_back(call.get<std::int64_t>());
  }
  return numbers;
}

Tree WithoutMember(Tree entry, const char* key) {
  entry.erase(key);
  return entry;
}

enum class Likeness { kNone, kFaults, kProbes, kRuns };
Likeness LikenessOf(const Tree& first, const Tree& second, bool adjacent) {
  if (!first.is_object() || !second.is_object()) return Likeness::kNone;
  const bool at = first.contains("at") && second.contains("at") && first["at"] == second["at"];
  if (at && !CallNumbersOf(first).empty() && !CallNumbersOf(second).empty()) return Likeness::kFaults;
  if (Has(first, "hook", "probe") && Has(second, "hook", "probe")) return Likeness::kProbes;
  const bool runs = Has(first, "op", "run") && WithoutMember(first, "times") == WithoutMember(second, "times");
  return adjacent && runs ? Likeness::kRuns : Likeness::kNone;
}

}  // namespace

struct EditedText::Tree {
  nlohmann::ordered_json root;
};

absl::StatusOr<EditedText> EditedText::Of(std::string_view text) {
  auto tree = std::make_shared<Tree>();
  tree->root = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!tree->root.is_object()) return MakeStatus(Code::kInvalidArgument, "a scenario is a JSON object");
  return EditedText(std::move(tree));
}

std::vector<EditedText::List> EditedText::Lists() const {
  std::vector<List> lists;
  std::vector<List> choices;
  Walk(tree_->root, Pointer(), [&](const Pointer& place, const nlohmann::ordered_json& value) {
    if ((!value.is_array() && !value.is_object()) || value.empty()) return;
    const bool of_choices = InChoices(place);
    (of_choices ? choices : lists).push_back({place.to_string(), value.size(), value.is_object(), of_choices});
  });
  lists.insert(lists.end(), choices.begin(), choices.end());
  return lists;
}

EditedText EditedText::Without(const List& list, std::size_t from, std::size_t count) const {
  auto tree = std::make_shared<Tree>(*tree_);
  nlohmann::ordered_json& value = tree->root[Pointer(list.place)];
  nlohmann::ordered_json left = list.members ? nlohmann::ordered_json::object() : nlohmann::ordered_json::array();
  std::size_t at = 0;
  for (auto& [key, entry] : value.items()) {
    const bool stays = at < from || at >= from + count;
    ++at;
    if (!stays) continue;
    if (list.members) {
      left[key] = std::move(entry);
    } else {
      left.push_back(std::move(entry));
    }
  }
  value = std::move(left);
  return EditedText(std::move(tree));
}

std::vector<std::string> EditedText::Bodies() const {
  std::vector<std::string> places;
  Walk(tree_->root, Pointer(), [&](const Pointer& place, const nlohmann::ordered_json& value) {
    if (value.is_object() && value.contains("body") && value["body"].is_array() && !place.empty())
      places.push_back(place.to_string());
  });
  return places;
}

EditedText EditedText::Unwrapped(const std::string& place) const {
  auto tree = std::make_shared<Tree>(*tree_);
  const Pointer pointer(place);
  nlohmann::ordered_json& list = tree->root[pointer.parent_pointer()];
  const auto at = static_cast<std::size_t>(std::stoull(pointer.back()));
  nlohmann::ordered_json spliced = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i != at) {
      spliced.push_back(list[i]);
      continue;
    }
    const bool step = Has(list[i], "op", "step");
    for (nlohmann::ordered_json inner : list[i]["body"]) {
      if (step && Has(inner, "op", "run_with_hooks")) {
        inner["op"] = "run";
        inner.erase("on_call");
      }
      spliced.push_back(std::move(inner));
    }
  }
  list = std::move(spliced);
  return EditedText(std::move(tree));
}

EditedText EditedText::AsRun(const std::string& place) const {
  auto tree = std::make_shared<Tree>(*tree_);
  tree->root[Pointer(place)] = {{"op", "run"}};
  return EditedText(std::move(tree));
}

std::vector<EditedText::Twins> EditedText::Mergeable() const {
  std::vector<Twins> twins;
  Walk(tree_->root, Pointer(), [&](const Pointer& place, const nlohmann::ordered_json& list) {
    if (!list.is_array() || InChoices(place)) return;
    for (std::size_t first = 0; first < list.size(); ++first) {
      for (std::size_t second = first + 1; second < list.size(); ++second) {
        const Likeness likeness = LikenessOf(list[first], list[second], second == first + 1);
        if (likeness != Likeness::kNone) twins.push_back({place.to_string(), first, second});
      }
    }
  });
  return twins;
}

EditedText EditedText::Merged(const Twins& twins) const {
  auto tree = std::make_shared<Tree>(*tree_);
  nlohmann::ordered_json& list = tree->root[Pointer(twins.list)];
  nlohmann::ordered_json& into = list[twins.first];
  const nlohmann::ordered_json& from = list[twins.second];
  switch (LikenessOf(into, from, twins.second == twins.first + 1)) {
    case Likeness::kNone:
      break;
    case Likeness::kFaults: {
      std::vector<std::int64_t> calls = CallNumbersOf(into);
      for (const std::int64_t call : CallNumbersOf(from)) calls.push_back(call);
      std::ranges::sort(calls);
      calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
      into["call"] = calls;
      break;
    }
    case Likeness::kProbes:
      if (!from.contains("plan")) break;
      for (const nlohmann::ordered_json& entry : from["plan"]) into["plan"].push_back(entry);
      break;
    case Likeness::kRuns:
      into["times"] = into.value("times", std::int64_t{1}) + from.value("times", std::int64_t{1});
      break;
  }
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(twins.second));
  return EditedText(std::move(tree));
}

std::vector<EditedText::Number> EditedText::Numbers() const {
  std::vector<Number> numbers;
  Walk(tree_->root, Pointer(), [&](const Pointer& place, const nlohmann::ordered_json& value) {
    if (!value.is_number() || InChoices(place)) return;
    std::vector<double> smaller = SmallerThan(value);
    if (!smaller.empty()) numbers.push_back({place.to_string(), std::move(smaller)});
  });
  return numbers;
}

EditedText EditedText::With(const std::string& place, double value) const {
  auto tree = std::make_shared<Tree>(*tree_);
  nlohmann::ordered_json& number = tree->root[Pointer(place)];
  if (value == std::trunc(value)) {
    number = static_cast<std::int64_t>(value);
  } else {
    number = value;
  }
  return EditedText(std::move(tree));
}

std::string EditedText::text() const { return tree_->root.dump(); }

}  // namespace vigil::replays

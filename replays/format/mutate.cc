#include "vigil/replays/format/mutate.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace vigil::replays {
namespace {

using MutableJson = nlohmann::ordered_json;
using PlaceInIt = MutableJson::json_pointer;

constexpr std::uint64_t kMostEdits = 3;
constexpr std::string_view kFixed[] = {"/id",     "/title",  "/format", "/seed",    "/behaviour",
                                       "/limits", "/expect", "/heal_s", "/limit_s", "/choices"};

bool IsFixed(const std::string& place) {
  return std::ranges::any_of(kFixed, [&place](std::string_view fixed) { return place == fixed; });
}

// Where it stands, without the numbers of lists: "/faults/#/code".
std::string KindOfPlace(const PlaceInIt& place) {
  std::string kind;
  for (PlaceInIt rest = place; !rest.empty(); rest.pop_back()) {
    const std::string& last = rest.back();
    const bool number = !last.empty() && std::ranges::all_of(last, [](char c) { return c >= '0' && c <= '9'; });
    kind = "/" + (number ? "#" : last) + kind;
  }
  return kind;
}

// Places by their kinds.
struct MutableParts {
  std::map<std::string, std::vector<PlaceInIt>> lists;    // of objects, empty ones too
  std::map<std::string, std::vector<PlaceInIt>> entries;  // of such lists
  std::map<std::string, std::vector<PlaceInIt>> scalars;
};

void FindParts(const MutableJson& value, const PlaceInIt& place, MutableParts& parts) {
  if (IsFixed(place.to_string())) return;
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) FindParts(member, place / key, parts);
  } else if (value.is_array()) {
    const bool objects = std::ranges::all_of(value, [](const MutableJson& entry) { return entry.is_object(); });
    if (objects) parts.lists[KindOfPlace(place)].push_back(place);
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (objects) parts.entries[KindOfPlace(place / i)].push_back(place / i);
      FindParts(value[i], place / i, parts);
    }
  } else {
    parts.scalars[KindOfPlace(place)].push_back(place);
  }
}

class Mutation {
 public:
  Mutation(MutableJson root, const MutableJson& donor, const DrawBelow& draw)
      : root_(std::move(root)), donor_(donor), draw_(draw) {
    FindParts(donor_, PlaceInIt(), theirs_);
    if (root_.contains("job")) KeepPlans(theirs_);
  }

  bool Edit() {
    ours_ = MutableParts();
    FindParts(root_, PlaceInIt(), ours_);
    const bool job = root_.contains("job");
    if (job) KeepPlans(ours_);
    const std::uint64_t kind = draw_(100);
    if (kind < 35) return Insert();
    if (kind < 55 || job) return kind < 75 ? Replace() : Erase();
    if (kind < 65) return Erase();
    if (kind < 85) return TakeScalar();
    return kind < 93 ? Count() : Repeat();
  }

  MutableJson Take() { return std::move(root_); }

 private:
  // Of a job nothing else than its plan is changed.
  static void KeepPlans(MutableParts& parts) {
    for (auto* const places : {&parts.lists, &parts.entries})
      std::erase_if(*places, [](const auto& entry) { return entry.first.find("/plan") == std::string::npos; });
    parts.scalars.clear();
  }

  const PlaceInIt* Any(const std::map<std::string, std::vector<PlaceInIt>>& places, std::string* kind = nullptr) const {
    std::uint64_t all = 0;
    for (const auto& [name, some] : places) all += some.size();
    if (all == 0) return nullptr;
    std::uint64_t number = draw_(all);
    for (const auto& [name, some] : places) {
      if (number < some.size()) {
        if (kind != nullptr) *kind = name;
        return &some[number];
      }
      number -= some.size();
    }
    return nullptr;
  }

  // A hook's name is its own.
  void Rename(const std::string& kind, MutableJson& entry) const {
    if (kind != "/hooks" || !entry.contains("name") || !root_.contains("hooks")) return;
    for (char name = 'a'; name <= 'z'; ++name) {
      const std::string word(1, name);
      const bool taken = std::ranges::any_of(
          root_["hooks"], [&word](const MutableJson& hook) { return hook.value("name", "") == word; });
      if (taken) continue;
      entry["name"] = word;
      return;
    }
  }

  bool Insert() {
    std::string kind;
    const PlaceInIt* const from = Any(theirs_.entries, &kind);
    if (from == nullptr) return false;
    const std::string list_kind = kind.substr(0, kind.size() - 2);  // without "/#"
    MutableJson entry = donor_[*from];
    Rename(list_kind, entry);
    const auto found = ours_.lists.find(list_kind);
    if (found == ours_.lists.end()) {
      // A list that the scenario does not have, where its owner is there: "/faults", "/after".
      const PlaceInIt list(list_kind.find('#') == std::string::npos ? list_kind : "");
      if (list.empty() || !root_.contains(list.parent_pointer())) return false;
      root_[list] = MutableJson::array({std::move(entry)});
      return true;
    }
    MutableJson& list = root_[found->second[draw_(found->second.size())]];
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(draw_(list.size() + 1)), std::move(entry));
    return true;
  }

  bool Replace() {
    std::string kind;
    const PlaceInIt* const place = Any(ours_.entries, &kind);
    if (place == nullptr) return false;
    const auto found = theirs_.entries.find(kind);
    if (found == theirs_.entries.end()) return false;
    MutableJson entry = donor_[found->second[draw_(found->second.size())]];
    const std::string name = root_[*place].value("name", "");
    if (kind == "/hooks/#" && !name.empty() && entry.contains("name")) entry["name"] = name;
    root_[*place] = std::move(entry);
    return true;
  }

  bool Erase() {
    const PlaceInIt* const place = Any(ours_.entries);
    if (place == nullptr) return false;
    root_[place->parent_pointer()].erase(std::stoul(place->back()));
    return true;
  }

  bool TakeScalar() {
    std::string kind;
    const PlaceInIt* const place = Any(ours_.scalars, &kind);
    if (place == nullptr) return false;
    const auto found = theirs_.scalars.find(kind);
    if (found == theirs_.scalars.end() || kind.ends_with("/name") || kind.ends_with("/hook")) return false;
    root_[*place] = donor_[found->second[draw_(found->second.size())]];
    return true;
  }

  // The next number, or the one before.
  bool Count() {
    const PlaceInIt* const place = Any(ours_.scalars);
    if (place == nullptr || !root_[*place].is_number_integer()) return false;
    MutableJson& number = root_[*place];
    const auto value = number.get<std::int64_t>();
    number = value > 1 && draw_(2) == 0 ? value - 1 : value + 1;
    return true;
  }

  bool Repeat() {
    std::string kind;
    const PlaceInIt* const place = Any(ours_.entries, &kind);
    if (place == nullptr || kind == "/hooks/#") return false;
    MutableJson copy = root_[*place];
    MutableJson& list = root_[place->parent_pointer()];
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(draw_(list.size() + 1)), std::move(copy));
    return true;
  }

  MutableJson root_;
  const MutableJson& donor_;
  const DrawBelow& draw_;
  MutableParts ours_;
  MutableParts theirs_;
};

// Until all is healed, and until it must have ended: as long as either asks for.
void TakeTimes(const MutableJson& donor, MutableJson& root) {
  if (!root.contains("heal_s") || !donor.contains("heal_s") || !root.contains("limit_s")) return;
  const double later = donor["heal_s"].get<double>() - root["heal_s"].get<double>();
  if (later <= 0) return;
  root["heal_s"] = donor["heal_s"];
  root["limit_s"] = root["limit_s"].get<double>() + later;
}

}  // namespace

std::optional<std::string> MutatedRecord(std::string_view record, std::string_view donor, std::string_view id,
                                         std::uint64_t seed, const DrawBelow& draw) {
  MutableJson root = MutableJson::parse(record, nullptr, false);
  const MutableJson other = MutableJson::parse(donor, nullptr, false);
  if (!root.is_object() || !other.is_object() || root.contains("job") != other.contains("job")) return std::nullopt;
  root.erase("choices");
  root.erase("expect");
  TakeTimes(other, root);
  Mutation mutation(std::move(root), other, draw);
  bool changed = false;
  for (std::uint64_t edits = 1 + draw(kMostEdits); edits > 0; --edits) changed = mutation.Edit() || changed;
  if (!changed) return std::nullopt;
  root = mutation.Take();
  root["id"] = id;
  root["seed"] = seed;
  return root.dump();
}

}  // namespace vigil::replays

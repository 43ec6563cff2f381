#include "vigil/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "vigil/core/io/record_reader.h"
#include "vigil/core/io/record_writer.h"

namespace vigil::fuzz {
namespace {

constexpr int kDeepest = 12;  // messages in messages

// A protocol buffer as what it is on the wire.
struct Field {
  std::uint64_t tag = 0;     // number and wire type
  std::uint64_t number = 0;  // a varint
  std::string bytes;         // anything else
};

bool TakeVarint(std::string_view* rest, std::uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !rest->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest->front());
    rest->remove_prefix(1);
    *value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

void AppendVarint(std::uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

bool TakeBytes(std::string_view* rest, std::uint64_t size, std::string* bytes) {
  if (size > rest->size()) return false;
  bytes->assign(rest->substr(0, size));
  rest->remove_prefix(size);
  return true;
}

std::optional<std::vector<Field>> ParseFields(std::string_view rest) {
  std::vector<Field> fields;
  while (!rest.empty()) {
    Field field;
    std::uint64_t size = 0;
    if (!TakeVarint(&rest, &field.tag) || field.tag >> 3 == 0) return std::nullopt;
    switch (field.tag & 7) {
      case 0:
        if (!TakeVarint(&rest, &field.number)) return std::nullopt;
        break;
      case 1:
        if (!TakeBytes(&rest, 8, &field.bytes)) return std::nullopt;
        break;
      case 2:
        if (!TakeVarint(&rest, &size) || !TakeBytes(&rest, size, &field.bytes)) return std::nullopt;
        break;
      case 5:
        if (!TakeBytes(&rest, 4, &field.bytes)) return std::nullopt;
        break;
      default:
        return std::nullopt;
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

std::string Join(const std::vector<Field>& fields) {
  std::string out;
  for (const Field& field : fields) {
    AppendVarint(field.tag, &out);
    if ((field.tag & 7) == 0) {
      AppendVarint(field.number, &out);
    } else {
      if ((field.tag & 7) == 2) AppendVarint(field.bytes.size(), &out);
      out += field.bytes;
    }
  }
  return out;
}

std::uint64_t OddNumber(Dice& dice) {
  constexpr auto kOdd = std::to_array<std::uint64_t>({0,
                                                      1,
                                                      2,
                                                      3,
                                                      7,
                                                      127,
                                                      128,
                                                      255,
                                                      65536,
                                                      0x7fffffff,
                                                      0x80000000,
                                                      0xffffffff,
                                                      0x100000000,
                                                      std::uint64_t{1} << 40,
                                                      std::uint64_t{1} << 62,
                                                      (std::uint64_t{1} << 62) + 2,
                                                      0x7fffffffffffffff,
                                                      0x8000000000000000,
                                                      0xffffffffffffffff,
                                                      0xfffffffffffffffe});
  return dice.Below(3) == 0 ? dice.Next() >> dice.Below(64) : kOdd[dice.Below(kOdd.size())];
}

std::string MutateBytes(std::string bytes, Dice& dice) {
  const std::size_t changes = 1 + dice.Below(4);
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t at = dice.Below(bytes.size() + 1);
    switch (dice.Below(5)) {
      case 0:
        bytes.insert(at, 1 + dice.Below(4), static_cast<char>(dice.Next()));
        break;
      case 1:
        bytes.erase(at, 1 + dice.Below(8));
        break;
      case 2: {
        const std::uint64_t number = OddNumber(dice);
        const std::size_t size = std::size_t{1} << dice.Below(4);
        if (at + size <= bytes.size()) std::memcpy(bytes.data() + at, &number, size);
        break;
      }
      case 3:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice.Below(8)));
        break;
      default:
        if (at < bytes.size()) bytes.insert(dice.Below(bytes.size()), bytes.substr(at, 1 + dice.Below(32)));
    }
  }
  return bytes;
}

std::string MutateMessage(const std::string& message, Dice& dice, int depth) {
  std::optional<std::vector<Field>> fields = ParseFields(message);
  if (!fields.has_value() || fields->empty() || dice.Below(20) == 0) return MutateBytes(message, dice);
  const std::size_t changes = 1 + dice.Below(depth == 0 ? 3 : 2);
  for (std::size_t i = 0; i < changes && !fields->empty(); ++i) {
    const std::size_t at = dice.Below(fields->size());
    const auto place = fields->begin() + static_cast<std::ptrdiff_t>(at);
    Field& field = *place;
    switch (dice.Below(9)) {
      case 0:
        fields->erase(place);
        break;
      case 1:
        fields->insert(place, Field((*fields)[dice.Below(fields->size())]));
        break;
      case 2:
        std::swap(field, (*fields)[dice.Below(fields->size())]);
        break;
      case 3:
        field.tag = (1 + dice.Below(16)) << 3 | (field.tag & 7);
        break;
      case 4:  // the contents of another field, or the message inside of itself
        if ((field.tag & 7) == 2)
          field.bytes = dice.Below(4) == 0 ? message : (*fields)[dice.Below(fields->size())].bytes;
        break;
      default:
        if ((field.tag & 7) == 0) {
          field.number = OddNumber(dice);
        } else if ((field.tag & 7) == 2 && depth < kDeepest) {
          field.bytes = MutateMessage(field.bytes, dice, depth + 1);
        } else {
          field.bytes = MutateBytes(field.bytes, dice)
                            .substr(0, (field.tag & 7) == 1   ? 8
                                       : (field.tag & 7) == 5 ? 4
                                                              : std::string::npos);
          if ((field.tag & 7) == 1) field.bytes.resize(8);
          if ((field.tag & 7) == 5) field.bytes.resize(4);
        }
    }
  }
  return Join(*fields);
}

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (IsWord(text[at])) {
      while (end < text.size() && IsWord(text[end])) ++end;
    }
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string OddWord(Dice& dice) {
  constexpr auto kOdd = std::to_array<std::string_view>({"0",
                                                         "-1",
                                                         "1e308",
                                                         "1e999",
                                                         "9223372036854775807",
                                                         "9223372036854775808",
                                                         "-0.0",
                                                         "nan",
                                                         "inf",
                                                         "null",
                                                         "true",
                                                         "{",
                                                         "}",
                                                         "[",
                                                         "]",
                                                         "\"",
                                                         "\\",
                                                         "\\u0000",
                                                         "\n",
                                                         "<",
                                                         "'",
                                                         ",",
                                                         ":",
                                                         "\xff"});
  return std::string(kOdd[dice.Below(kOdd.size())]);
}

std::string MutateText(std::string_view text, Dice& dice) {
  std::vector<std::string> words = Words(text);
  const std::size_t changes = 1 + dice.Below(4);
  for (std::size_t i = 0; i < changes && !words.empty(); ++i) {
    const std::size_t at = dice.Below(words.size());
    const auto place = words.begin() + static_cast<std::ptrdiff_t>(at);
    switch (dice.Below(7)) {
      case 0:
        words.erase(place,
                    place + static_cast<std::ptrdiff_t>(1 + dice.Below(std::min<std::size_t>(5, words.size() - at))));
        break;
      case 1: {
        const std::size_t count = 1 + dice.Below(std::min<std::size_t>(30, words.size() - at));
        const std::vector<std::string> copy(place, place + static_cast<std::ptrdiff_t>(count));
        words.insert(words.begin() + static_cast<std::ptrdiff_t>(dice.Below(words.size())), copy.begin(), copy.end());
        break;
      }
      case 2:
        std::swap(words[at], words[dice.Below(words.size())]);
        break;
      case 3:
        words[at] = MutateBytes(words[at], dice);
        break;
      case 4: {
        const std::string word = OddWord(dice);
        std::string many;
        for (std::size_t n = std::size_t{1} << dice.Below(dice.Below(10) == 0 ? 16 : 4); n > 0; --n) many += word;
        words.insert(place, many);
        break;
      }
      default:
        words[at] = OddWord(dice);
    }
  }
  std::string out;
  for (const std::string& word : words) out += word;
  return out;
}

std::string MutateRecords(std::string_view file, Dice& dice) {
  std::vector<std::string> records;
  RecordReader reader(file);
  for (auto record = reader.Next(); record.ok() && record->has_value(); record = reader.Next())
    records.emplace_back(**record);
  if (records.empty() || dice.Below(20) == 0) return MutateBytes(std::string(file), dice);
  const std::size_t at = dice.Below(records.size());
  switch (dice.Below(5)) {
    case 0:
      records.erase(records.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1:
      records.insert(records.begin() + static_cast<std::ptrdiff_t>(dice.Below(records.size())),
                     std::string(records[at]));
      break;
    default:
      records[at] = MutateMessage(records[at], dice, 0);
  }
  std::string out;
  for (const std::string& record : records) AppendRecord(record, &out);
  return out;
}

std::string MutateParts(std::string_view input, Dice& dice) {
  std::vector<std::pair<std::uint8_t, std::string>> parts;
  std::uint8_t kind = 0;
  std::string_view body;
  while (TakePart(&input, &kind, &body)) parts.emplace_back(kind, body);
  if (parts.empty()) return MutateBytes(std::string(input), dice);
  const std::size_t at = dice.Below(parts.size());
  switch (dice.Below(8)) {
    case 0:
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1:
      parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(dice.Below(parts.size())), std::pair(parts[at]));
      break;
    case 2:
      parts[at].first = static_cast<std::uint8_t>(dice.Below(16));
      break;
    default:
      parts[at].second = MutateMessage(parts[at].second, dice, 0);
  }
  std::string out;
  for (const auto& [part, contents] : parts) AppendPart(part, contents, &out);
  return out;
}

}  // namespace

void AppendPart(std::uint8_t kind, std::string_view body, std::string* out) {
  out->push_back(static_cast<char>(kind));
  const auto size = static_cast<std::uint32_t>(body.size());
  out->append(reinterpret_cast<const char*>(&size), sizeof(size));
  out->append(body);
}

bool TakePart(std::string_view* rest, std::uint8_t* kind, std::string_view* body) {
  std::uint32_t size = 0;
  if (rest->size() < 1 + sizeof(size)) return false;
  *kind = static_cast<std::uint8_t>(rest->front());
  std::memcpy(&size, rest->data() + 1, sizeof(size));
  rest->remove_prefix(1 + sizeof(size));
  *body = rest->substr(0, size);
  rest->remove_prefix(body->size());
  return true;
}

std::string Mutate(Form form, std::string_view input, Dice& dice) {
  switch (form) {
    case Form::kText:
      return MutateText(input, dice);
    case Form::kMessage:
      return MutateMessage(std::string(input), dice, 0);
    case Form::kRecords:
      return MutateRecords(input, dice);
    case Form::kParts:
      return MutateParts(input, dice);
  }
  return std::string(input);
}

}  // namespace vigil::fuzz

#include "vigil/core/ops/data/example_reader.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "vigil/core/io/varint.h"

namespace vigil {
namespace {

// How a field's value lies there: the lowest three bits of its tag.
enum class Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5 };

constexpr std::uint64_t Tag(std::uint64_t field, Wire wire) { return field << 3 | static_cast<std::uint64_t>(wire); }

// A tag of one byte, as TensorFlow's fields have them. False: something else, or nothing; then nothing is taken.
bool TakeTag(std::string_view* from, std::uint64_t tag) {
  if (from->empty() || static_cast<unsigned char>(from->front()) != tag) return false;
  from->remove_prefix(1);
  return true;
}

bool TakeBytes(std::string_view* from, std::uint64_t size, std::string_view* bytes) {
  if (size > from->size()) return false;
  *bytes = from->substr(0, static_cast<std::size_t>(size));
  from->remove_prefix(static_cast<std::size_t>(size));
  return true;
}

// What follows its length.
bool TakePiece(std::string_view* from, std::string_view* piece) {
  std::uint64_t size = 0;
  return TakeVarint64(from, &size) && TakeBytes(from, size, piece);
}

// A field that is none of ours (that is field 1, also in another form). Groups are not read.
bool SkipField(std::string_view* from) {
  std::uint64_t tag = 0;
  std::string_view ignored;
  if (!TakeVarint64(from, &tag) || tag >> 3 <= 1) return false;
  switch (static_cast<Wire>(tag & 7)) {
    case Wire::kVarint:
      return TakeVarint64(from, &tag);
    case Wire::kFixed64:
      return TakeBytes(from, 8, &ignored);
    case Wire::kDelimited:
      return TakePiece(from, &ignored);
    case Wire::kFixed32:
      return TakeBytes(from, 4, &ignored);
    default:
      return false;
  }
}

ExampleFeature::Kind KindOfTag(unsigned char tag) {
  if (tag == Tag(1, Wire::kDelimited)) return ExampleFeature::Kind::kBytes;
  if (tag == Tag(2, Wire::kDelimited)) return ExampleFeature::Kind::kFloat;
  if (tag == Tag(3, Wire::kDelimited)) return ExampleFeature::Kind::kInt64;
  return ExampleFeature::Kind::kUnknown;
}

// An entry of the map: its key, then its value.
bool TakeEntry(std::string_view* from, ExampleFeature* feature) {
  std::string_view entry;
  std::string_view value;
  if (!TakePiece(from, &entry)) return false;
  if (!TakeTag(&entry, Tag(1, Wire::kDelimited)) || !TakePiece(&entry, &feature->name)) return false;
  if (!TakeTag(&entry, Tag(2, Wire::kDelimited)) || !TakePiece(&entry, &value)) return false;
  if (!entry.empty()) return false;
  if (value.empty()) return true;
  feature->kind = KindOfTag(static_cast<unsigned char>(value.front()));
  feature->list = value.substr(1);
  return true;
}

// A list's length and the list, and nothing else: a second list would be the one that counts.
bool OnlyPiece(std::string_view list, std::string_view* piece) { return TakePiece(&list, piece) && list.empty(); }

// Numbers, packed or each with its tag: take_one(from, value).
template <typename T, typename TakeOne>
bool TakeNumbers(std::string_view list, Wire wire, std::vector<T>* values, TakeOne take_one) {
  std::string_view piece;
  if (!OnlyPiece(list, &piece)) return false;
  T value{};
  if (!TakeTag(&piece, Tag(1, Wire::kDelimited))) {
    while (!piece.empty()) {
      if (!TakeTag(&piece, Tag(1, wire)) || !take_one(&piece, &value)) return false;
      values->push_back(value);
    }
    return true;
  }
  std::string_view packed;
  if (!TakePiece(&piece, &packed) || !piece.empty()) return false;
  while (!packed.empty()) {
    if (!take_one(&packed, &value)) return false;
    values->push_back(value);
  }
  return true;
}

}  // namespace

std::optional<std::vector<ExampleFeature>> ReadExample(std::string_view bytes) {
  std::vector<ExampleFeature> features;
  while (!bytes.empty()) {
    if (!TakeTag(&bytes, Tag(1, Wire::kDelimited))) {
      if (!SkipField(&bytes)) return std::nullopt;
      continue;
    }
    std::string_view piece;
    if (!TakePiece(&bytes, &piece)) return std::nullopt;
    while (!piece.empty()) {
      ExampleFeature feature;
      if (!TakeTag(&piece, Tag(1, Wire::kDelimited)) || !TakeEntry(&piece, &feature)) return std::nullopt;
      features.push_back(feature);
    }
  }
  return features;
}

bool ReadList(std::string_view list, std::vector<float>* values) {
  return TakeNumbers(list, Wire::kFixed32, values, [](std::string_view* from, float* value) {
    std::string_view bytes;
    if (!TakeBytes(from, sizeof(float), &bytes)) return false;
    *value = FixedAt<float>(bytes);
    return true;
  });
}

bool ReadList(std::string_view list, std::vector<std::int64_t>* values) {
  return TakeNumbers(list, Wire::kVarint, values, [](std::string_view* from, std::int64_t* value) {
    std::uint64_t bits = 0;
    if (!TakeVarint64(from, &bits)) return false;
    *value = static_cast<std::int64_t>(bits);
    return true;
  });
}

bool ReadList(std::string_view list, std::vector<std::string_view>* values) {
  std::string_view piece;
  if (!OnlyPiece(list, &piece)) return false;
  while (!piece.empty()) {
    std::string_view value;
    if (!TakeTag(&piece, Tag(1, Wire::kDelimited)) || !TakePiece(&piece, &value)) return false;
    values->push_back(value);
  }
  return true;
}

}  // namespace vigil

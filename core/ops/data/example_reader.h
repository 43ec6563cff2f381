// tf.train.Example as it lies in bytes: which features it has, and the numbers or strings of one.
//
// Nothing is copied: what comes out are views of the bytes, which must outlive them. Read is what TensorFlow writes and
// reads: a message in several pieces (the last feature of a name counts), lists packed or one by one, fields of others
// beside the features. A piece that is longer than what it lies in is damage, and so is what follows in a feature after
// its list: TensorFlow's reader takes what there is of both.
// Thread safety: pure functions.
// Source: example.proto, feature.proto; example_proto_fast_parsing.cc.
#ifndef VIGIL_CORE_OPS_DATA_EXAMPLE_READER_H_
#define VIGIL_CORE_OPS_DATA_EXAMPLE_READER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "vigil/core/tensor/dtype.h"

namespace vigil {

struct ExampleFeature {
  enum class Kind : std::uint8_t { kNone, kBytes, kFloat, kInt64, kUnknown };

  std::string_view name;
  Kind kind = Kind::kNone;
  std::string_view list;  // BytesList, FloatList, Int64List, not yet looked at
};

// In the order in which they come. nullopt: this is no Example.
std::optional<std::vector<ExampleFeature>> ReadExample(std::string_view bytes);

// The values of a list of that kind, appended. False: damaged (then some may have been appended).
bool ReadList(std::string_view list, std::vector<float>* values);
bool ReadList(std::string_view list, std::vector<std::int64_t>* values);
bool ReadList(std::string_view list, std::vector<std::string_view>* values);

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_DATA_EXAMPLE_READER_H_

// Rows of data: CSV and Examples, read by the kernels that read them for a graph.
#include <google/protobuf/unknown_field_set.h>

#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/io/example.pb.h"
#include "vigil/core/ops/data/example_reader.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/tensor/proto_util.h"
#include "vigil/fuzz/bounded_new.h"
#include "vigil/fuzz/fuzz_env.h"
#include "vigil/fuzz/targets.h"

namespace vigil::fuzz {
namespace {

using FeatureKind = ExampleFeature::Kind;

Output Text(Builder& b, std::string_view text) { return b.Const("text", Tensor::Scalar(std::string(text))); }
Output Texts(Builder& b, std::vector<std::string> texts) { return b.Const("texts", Tensor::Vector(texts)); }

// Everything that the node gives. REQUIRES: it was added.
absl::Status RunNodeOf(const Env& env, Builder& b, Output node, std::vector<Tensor>* values) {
  VIGIL_CHECK(b.status().ok());
  RunSpec spec;
  for (int i = 0; i < static_cast<int>(b.graph().node(node.node).output_types.size()); ++i) {
    spec.fetches.push_back({node.node, i});
  }
  const BoundedNew less(kMostBytesOfAKernel);
  return NewDirectSession(env, b.graph())->Run({.spec = spec}, values);
}

// What our reader finds, as a message. False: some of it is damaged, or of a kind that there is not.
bool AsMessage(const std::vector<ExampleFeature>& features, proto::Example* out) {
  for (const ExampleFeature& each : features) {
    proto::Feature& feature = (*out->mutable_features()->mutable_feature())[std::string(each.name)];
    feature.Clear();
    std::vector<float> floats;
    std::vector<std::int64_t> integers;
    std::vector<std::string_view> strings;
    if (each.kind == FeatureKind::kUnknown) return false;
    if (each.kind == FeatureKind::kFloat) {
      if (!ReadList(each.list, &floats)) return false;
      feature.mutable_float_list()->mutable_value()->Add(floats.begin(), floats.end());
    } else if (each.kind == FeatureKind::kInt64) {
      if (!ReadList(each.list, &integers)) return false;
      feature.mutable_int64_list()->mutable_value()->Add(integers.begin(), integers.end());
    } else if (each.kind == FeatureKind::kBytes) {
      if (!ReadList(each.list, &strings)) return false;
      feature.mutable_bytes_list();
      for (const std::string_view value : strings) feature.mutable_bytes_list()->add_value(std::string(value));
    }
  }
  return true;
}

std::string Written(const proto::Example& message) { return *SerializeDeterministically(message); }

// What protobuf writes is read here, wholly and as the same.
void CheckReadsWhatIsWritten(const proto::Example& message) {
  const std::string bytes = Written(message);
  const std::optional<std::vector<ExampleFeature>> features = ReadExample(bytes);
  proto::Example again;
  again.mutable_features();
  VIGIL_CHECK(features.has_value() && AsMessage(*features, &again));
  proto::Example with_features = message;
  with_features.mutable_features();
  VIGIL_CHECK(Written(again) == Written(with_features));
}

void RunParseExample(std::string_view example) {
  FuzzEnv fuzz;
  const Env env = fuzz.env();
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Output defaults[] = {b.Const("pad", Tensor::Scalar<float>(7)),
                             b.Const("none", Tensor(DType::kInt64, Shape({0}))),
                             b.Const("words", Tensor::Vector<std::string>({"a", "b"}))};
  const Output node =
      b.Op("ParseExampleV2",
           {Texts(b, {std::string(example), ""}), Texts(b, {}), Texts(b, {"f", "i", "s"}), Texts(b, {"df", "di", "ds"}),
            Texts(b, {}), defaults[0], defaults[1], defaults[2]},
           {.attrs = {{"num_sparse", std::int64_t{3}},
                      {"sparse_types", std::vector<DType>{DType::kFloat, DType::kInt64, DType::kString}},
                      {"dense_shapes", std::vector<Shape>{Shape({-1, 2}), Shape({0}), Shape({2})}}}});
  std::vector<Tensor> values;
  if (!RunNodeOf(env, b, node, &values).ok()) return;
  for (int i = 0; i < 3; ++i) {  // as many values as indices
    VIGIL_CHECK(values.at(static_cast<std::size_t>(i)).shape().dim(0) ==
                values.at(static_cast<std::size_t>(i) + 3).num_elements());
  }
}

}  // namespace

int FuzzCsv(Bytes bytes) {
  FuzzEnv fuzz;
  const Env env = fuzz.env();
  for (const bool quotes : {true, false}) {
    Graph graph(BuiltinOps());
    Builder b(graph);
    const Output node = b.Op("DecodeCSV",
                             {Text(b, TextOf(bytes)), b.Const("f", Tensor::Scalar<float>(1)),
                              b.Const("i", Tensor::Scalar<std::int64_t>(2)), Text(b, "none")},
                             {.attrs = {{"use_quote_delim", quotes},
                                        {"select_cols", std::vector<std::int64_t>{0, 1, 3}},
                                        {"na_value", std::string("NA")}}});
    std::vector<Tensor> values;
    if (RunNodeOf(env, b, node, &values).ok()) VIGIL_CHECK(values.size() == 3 && values[2].num_elements() == 1);
  }
  return 0;
}

int FuzzExample(Bytes bytes) {
  const std::optional<std::vector<ExampleFeature>> features = ReadExample(TextOf(bytes));
  proto::Example ours;
  const bool whole = features.has_value() && AsMessage(*features, &ours);
  proto::Example theirs;
  if (theirs.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    theirs.DiscardUnknownFields();
    if (whole) {
      ours.mutable_features();
      proto::Example with_features = theirs;
      with_features.mutable_features();
      VIGIL_CHECK(Written(ours) == Written(with_features));
    }
    CheckReadsWhatIsWritten(theirs);
  }
  RunParseExample(TextOf(bytes));
  return 0;
}

std::vector<std::string> CsvSeeds() {
  return {"1.5,2,x,\"a,\"\"b\"\"\"", "NA,,3,\n", "1,2,3,\"\"", " 1 ,-2,\"l\nl\",z,y"};
}

std::vector<std::string> ExampleSeeds() {
  proto::Example example;
  auto& features = *example.mutable_features()->mutable_feature();
  for (const char* const name : {"f", "df"}) {
    for (const float value : {1.5F, -2.0F}) features[name].mutable_float_list()->add_value(value);
  }
  for (const std::int64_t value : {std::int64_t{3}, std::int64_t{-1}})
    features["i"].mutable_int64_list()->add_value(value);
  features["di"].mutable_int64_list();
  for (const char* const name : {"s", "ds"}) {
    for (const char* const value : {"", "words"}) features[name].mutable_bytes_list()->add_value(value);
  }
  features["other"];
  const std::string packed = Written(example);
  std::string one_by_one("\x0a\x12\x0a\x10\x0a\x01\x69\x12\x0b\x1a\x09\x08\x01\x08\x02\x08\xff\x7f\x08\x03", 20);
  return {packed, packed + one_by_one, one_by_one};
}

}  // namespace vigil::fuzz

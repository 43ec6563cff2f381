#include "vigil/core/tensor/tensor_proto.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "vigil/core/base/code.h"
#include "vigil/core/tensor/proto_util.h"
#include "vigil/core/tensor/tensor.pb.h"

namespace vigil {
namespace {

proto::TensorProto ProtoOf(const Tensor& tensor) {
  proto::TensorProto out;
  ToProto(tensor, &out);
  return out;
}

void ExpectRoundTrip(const Tensor& tensor) {
  const absl::StatusOr<Tensor> back = FromProto(ProtoOf(tensor));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, tensor) << tensor.Describe();
}

proto::TensorProto WithShape(proto::DataType dtype, std::initializer_list<std::int64_t> dims) {
  proto::TensorProto out;
  out.set_dtype(dtype);
  ToProto(Shape(dims), out.mutable_tensor_shape());
  return out;
}

Code CodeOfRead(const proto::TensorProto& tensor) { return CodeOf(FromProto(tensor).status()); }

TEST(TensorProto, ThereAndBack) {
  ExpectRoundTrip(Tensor::Scalar<float>(0.5F));
  ExpectRoundTrip(Tensor::Scalar<double>(-1e300));
  ExpectRoundTrip(Tensor::Scalar<std::int32_t>(-7));
  ExpectRoundTrip(Tensor::Scalar<std::uint8_t>(255));
  ExpectRoundTrip(Tensor::Scalar<std::int64_t>(std::numeric_limits<std::int64_t>::min()));
  ExpectRoundTrip(Tensor::Scalar<bool>(true));
  ExpectRoundTrip(Tensor::Scalar<std::string>(std::string("a\0b", 3)));
  ExpectRoundTrip(Tensor::Vector<std::string>({"", "two"}));
  ExpectRoundTrip(Tensor::Vector<bool>({true, false, true}));
  ExpectRoundTrip(Tensor::Vector<float>({1, 2, 3, 4, 5, 6}).Reshaped({2, 3}));
  ExpectRoundTrip(Tensor(DType::kInt64, {0}));
  ExpectRoundTrip(Tensor(DType::kString, {3, 0}));
}

TEST(TensorProto, KeepsTheBitsOfNan) {
  const absl::StatusOr<Tensor> back = FromProto(ProtoOf(Tensor::Vector<float>({std::nanf("5"), 1})));
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(std::isnan(back->flat<float>()[0]));
}

TEST(TensorProto, TheLastValueFillsTheRest) {
  proto::TensorProto tensor = WithShape(proto::DT_INT32, {2, 2});
  tensor.add_int_val(1);
  tensor.add_int_val(2);
  EXPECT_EQ(*FromProto(tensor), Tensor::Vector<std::int32_t>({1, 2, 2, 2}).Reshaped({2, 2}));
  tensor.clear_int_val();
  EXPECT_EQ(*FromProto(tensor), Tensor(DType::kInt32, {2, 2}));
}

// The bytes are those that TensorFlow 2.21's client sends.
TEST(TensorProto, StringsMayComeAsLengthsAndBytes) {
  proto::TensorProto tensor = WithShape(proto::DT_STRING, {3});
  const std::string longer(300, 'y');
  tensor.set_tensor_content(std::string("\x02\x00\xac\x02", 4) + "ab" + longer);
  EXPECT_EQ(*FromProto(tensor), Tensor::Vector<std::string>({"ab", "", longer}));
  for (const char* const content : {"\x02\x01\x01"
                                    "ab",
                                    "\x01\x01\x01"
                                    "abcd",
                                    "\x01\x01", "\x80\x80\x80"}) {
    tensor.set_tensor_content(content);
    EXPECT_EQ(CodeOfRead(tensor), Code::kInvalidArgument) << content;
  }
  tensor = WithShape(proto::DT_STRING, {std::int64_t{1} << 40});
  tensor.set_tensor_content("many");
  EXPECT_EQ(CodeOfRead(tensor), Code::kInvalidArgument);
}

TEST(TensorProto, RefusesWhatDoesNotFit) {
  proto::TensorProto tensor = WithShape(proto::DT_INT32, {1});
  tensor.add_int_val(1);
  tensor.add_int_val(2);
  EXPECT_EQ(CodeOfRead(tensor), Code::kInvalidArgument);
  tensor = WithShape(proto::DT_INT32, {2});
  tensor.set_tensor_content("1234567");
  EXPECT_EQ(CodeOfRead(tensor), Code::kInvalidArgument);
  tensor = WithShape(proto::DT_STRING, {1});
  tensor.set_tensor_content("x");
  EXPECT_EQ(CodeOfRead(tensor), Code::kInvalidArgument);
  EXPECT_EQ(CodeOfRead(WithShape(proto::DT_FLOAT, {-1})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOfRead(WithShape(proto::DT_FLOAT, {1 << 20, 1 << 20})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOfRead(WithShape(proto::DT_FLOAT, {std::int64_t{1} << 62, 8})), Code::kInvalidArgument);
  tensor = WithShape(proto::DT_FLOAT, {});
  tensor.mutable_tensor_shape()->set_unknown_rank(true);
  EXPECT_EQ(CodeOfRead(tensor), Code::kInvalidArgument);
}

TEST(TensorProto, FillsOnlySoMuch) {
  proto::TensorProto tensor = WithShape(proto::DT_FLOAT, {1000, 1000});
  tensor.add_float_val(2);
  std::int64_t may_fill = 5'000'000;
  ASSERT_TRUE(FromProto(tensor, &may_fill).ok());
  EXPECT_EQ(may_fill, 5'000'000 - 4 * 999'999);
  EXPECT_EQ(MessageOf(FromProto(tensor, &may_fill).status()),
            "A tensor of type float and shape [1000,1000] is given 1 values; the others would take more than the "
            "1000004 bytes "
            "that are left of what a message may leave out.");
  proto::TensorProto words = WithShape(proto::DT_STRING, {1000, 1000});
  words.add_string_val(std::string(1000, 'x'));
  EXPECT_EQ(CodeOfRead(words), Code::kInvalidArgument) << "the text counts, too";
  EXPECT_EQ(CodeOfRead(WithShape(proto::DT_FLOAT, {0, std::int64_t{1} << 62, 3})), Code::kInvalidArgument);
}

TEST(TensorProto, TextIsNotReadDeeperThanBytes) {
  proto::TensorProto message;
  for (const std::string_view open : {"a {", "a <", "a: [", "tensor_shape {"}) {
    std::string text;
    for (int i = 0; i < 1'000'000; ++i) text += open;
    EXPECT_EQ(CodeOf(ParseProtoText(text, &message)), Code::kInvalidArgument) << open;
  }
  EXPECT_TRUE(ParseProtoText("string_val: \"" + std::string(200, '{') + "\\\"{\" # " + std::string(200, '{') +
                                 "\ndtype: DT_STRING",
                             &message)
                  .ok())
      << "only brackets count";
}

TEST(TensorProto, RefusesTypesByName) {
  EXPECT_EQ(CodeOfRead(WithShape(proto::DT_RESOURCE, {})), Code::kUnimplemented);
  const absl::Status complex = FromProto(WithShape(proto::DT_COMPLEX64, {})).status();
  EXPECT_EQ(CodeOf(complex), Code::kUnimplemented);
  EXPECT_NE(MessageOf(complex).find("DT_COMPLEX64"), std::string_view::npos);
  EXPECT_EQ(CodeOf(FromProto(static_cast<proto::DataType>(4711)).status()), Code::kUnimplemented);
}

TEST(TensorProto, ABoolIsABool) {
  proto::TensorProto tensor = WithShape(proto::DT_BOOL, {2});
  tensor.set_tensor_content(std::string("\x02\0", 2));
  EXPECT_EQ(*FromProto(tensor), Tensor::Vector<bool>({true, false}));
}

}  // namespace
}  // namespace vigil

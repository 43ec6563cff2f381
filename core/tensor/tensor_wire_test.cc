#include "vigil/core/tensor/tensor_wire.h"

#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/cord.h"
#include "vigil/core/tensor/tensor.pb.h"
#include "vigil/core/tensor/tensor_proto.h"

namespace vigil {
namespace {

std::string Written(const Tensor& tensor) {
  proto::TensorProto message;
  ToProto(tensor, &message);
  return message.SerializeAsString();
}

std::vector<Tensor> ManyTensors() {
  std::vector<float> long_one(1000, 0.25F);
  const auto least = std::numeric_limits<std::int64_t>::min();
  return {Tensor::Scalar<float>(0),
          Tensor::Scalar<float>(-1.5F),
          Tensor::Scalar<double>(1e300),
          Tensor::Scalar<std::int64_t>(0),
          Tensor::Scalar<std::int64_t>(127),
          Tensor::Scalar<std::int64_t>(1'000'000'007),
          Tensor::Scalar<std::int64_t>(std::numeric_limits<std::int64_t>::max()),
          Tensor::Scalar<std::int64_t>(-1),
          Tensor::Scalar<std::int64_t>(least),
          Tensor::Scalar<std::int32_t>(-7),
          Tensor::Scalar<std::uint8_t>(255),
          Tensor::Scalar<bool>(true),
          Tensor::Scalar<bool>(false),
          Tensor::Scalar<std::string>("text"),
          Tensor::Vector<std::string>({"", std::string("a\0b", 3)}),
          Tensor::Vector<float>({1, 2, 3, 4, 5, 6}).Reshaped({2, 3}),
          Tensor::Vector<float>({1}),
          Tensor::Vector<float>(long_one),
          Tensor::Vector<double>({0.5}).Reshaped({1, 1, 1}),
          Tensor::Vector<std::int64_t>({3}),
          Tensor::Vector<std::int64_t>({-3, 4}),
          Tensor::Vector<std::int32_t>({5, 6}),
          Tensor::Vector<std::uint8_t>({5, 6}),
          Tensor::Vector<bool>({true, false, true}),
          Tensor(DType::kFloat, {300, 0}),
          Tensor(DType::kInt64, {0}),
          Tensor(DType::kString, {3, 0})};
}

TEST(TensorWire, TheBytesAreThoseOfTheMessage) {
  for (const Tensor& tensor : ManyTensors()) {
    const std::string bytes = Written(tensor);
    std::string field = "before";
    AppendTensorField(7, tensor, &field);
    ASSERT_TRUE(field.starts_with("before"));
    EXPECT_EQ(OnlyField(7, field.substr(6)), bytes) << tensor.Describe();
    const absl::StatusOr<Tensor> back = ParseTensor(bytes);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, tensor) << tensor.Describe();
  }
}

TEST(TensorWire, EveryFormIsReadAsTheMessageReadsIt) {
  std::vector<std::string> forms = {"", std::string("\0", 1), "\x08", "\x08\x01\x12\x7f", "\xff\xff\xff"};
  proto::TensorProto message;
  for (const proto::DataType dtype : {proto::DT_FLOAT, proto::DT_INT64, proto::DT_HALF, proto::DT_RESOURCE}) {
    for (const std::int64_t dim : {1, 2, -1, 0}) {
      for (const int values : {0, 1, 2, 3}) {
        message.Clear();
        message.set_dtype(dtype);
        message.mutable_tensor_shape()->add_dim()->set_size(dim);
        for (int i = 0; i < values; ++i) message.add_float_val(static_cast<float>(i));
        for (int i = 0; i < values; ++i) message.add_int64_val(i + 100);
        forms.push_back(message.SerializeAsString());
        message.set_tensor_content(std::string(static_cast<std::size_t>(4 * values), 'x'));
        forms.push_back(message.SerializeAsString());
      }
    }
  }
  message.Clear();
  message.set_dtype(proto::DT_FLOAT);
  message.mutable_tensor_shape()->add_dim()->set_size(std::int64_t{1} << 62);
  message.mutable_tensor_shape()->add_dim()->set_size(8);
  message.set_tensor_content("1234");
  forms.push_back(message.SerializeAsString());
  message.mutable_tensor_shape()->set_unknown_rank(true);
  forms.push_back(message.SerializeAsString());
  // A number of a type that is one of ours in its last byte only.
  forms.push_back(
      "\x08\x81\x02\x12\x04\x12\x02\x08\x01\x22\x04"
      "abcd");
  // Parts in another order, and twice.
  const std::string one = Written(Tensor::Vector<float>({1, 2}));
  forms.push_back(one.substr(2) + one.substr(0, 2));
  forms.push_back(one + one);
  for (std::size_t i = 0; i < one.size(); ++i) forms.push_back(one.substr(0, i));
  for (const std::string& form : forms) {
    proto::TensorProto parsed;
    const bool is_message = parsed.ParseFromString(form);
    const absl::StatusOr<Tensor> expected = FromProto(parsed);
    const absl::StatusOr<Tensor> read = ParseTensor(form);
    ASSERT_EQ(read.ok(), is_message && expected.ok()) << parsed.ShortDebugString();
    if (read.ok()) {
      EXPECT_EQ(*read, *expected) << parsed.ShortDebugString();
    }
    if (!is_message) {
      EXPECT_EQ(CodeOf(read.status()), Code::kInvalidArgument);
    }
  }
}

// In pieces of so many bytes.
absl::Cord Cut(const std::string& bytes, std::size_t size) {
  const auto kept = std::make_shared<std::string>(bytes);
  absl::Cord out;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    out.Append(SharedCord(std::string_view(*kept).substr(at, size), kept));
  }
  return out;
}

Tensor Large() {
  std::vector<std::int32_t> values(20'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i * i);
  return Tensor::Vector<std::int32_t>(values).Reshaped({100, 200});
}

TEST(TensorWire, PiecesAreReadAsTheWhole) {
  std::vector<Tensor> tensors = ManyTensors();
  tensors.push_back(Large());
  for (const Tensor& tensor : tensors) {
    const std::string bytes = Written(tensor);
    std::string field;
    AppendTensorField(3, tensor, &field);
    for (const std::size_t size : {1u, 3u, 7u, 1000u, 1u << 20}) {
      const absl::StatusOr<Tensor> read = ParseTensorPieces(Cut(bytes, size));
      ASSERT_TRUE(read.ok()) << tensor.Describe() << " " << size << read.status();
      EXPECT_EQ(*read, tensor) << size;
      const std::optional<absl::StatusOr<Tensor>> alone = ParseOnlyTensor(3, Cut(field, size));
      ASSERT_TRUE(alone.has_value() && alone->ok()) << tensor.Describe() << " " << size;
      EXPECT_EQ(**alone, tensor) << size;
      EXPECT_FALSE(ParseOnlyTensor(2, Cut(field, size)).has_value());
      EXPECT_FALSE(ParseOnlyTensor(3, Cut(field + field, size)).has_value());
      EXPECT_FALSE(ParseOnlyTensor(3, Cut(field.substr(0, field.size() - 1), size)).has_value());
    }
  }
  // What is missing at the end, and what is too much: as the message itself says.
  const std::string bytes = Written(Large());
  for (const std::string& wrong : {bytes.substr(0, bytes.size() - 4), bytes + "x", bytes.substr(0, 3), bytes + bytes}) {
    proto::TensorProto message;
    const bool expected = message.ParseFromString(wrong) && FromProto(message).ok();
    EXPECT_EQ(ParseTensorPieces(Cut(wrong, 1000)).ok(), expected);
  }
}

TEST(TensorWire, AWriterWritesWhatTheMessageWould) {
  for (const Tensor& tensor : {Tensor::Scalar<float>(2), Large(), Tensor::Vector<std::string>({"a", "b"})}) {
    std::string expected = "before";
    AppendTensorField(7, tensor, &expected);
    std::string named;
    AppendTextField(1, "a name", &named);
    AppendTensorField(2, tensor, &named);
    AppendTextField(4, named, &expected);
    AppendIntegerField(5, 300, &expected);
    MessageWriter writer("before");
    writer.TensorField(7, tensor);
    writer.NamedTensor(4, "a name", tensor);
    writer.Integer(5, 300);
    EXPECT_EQ(std::string(std::move(writer).Take()), expected) << tensor.Describe();
  }
  MessageWriter none;
  none.NamedTensor(4, "dead", Tensor());
  EXPECT_EQ(std::string(std::move(none).Take()), std::string("\x22\x06\x0a\x04") + "dead");
}

TEST(TensorWire, ALargeTensorIsSharedAndWhoWritesLaterGetsItsOwn) {
  Tensor tensor = Large();
  const char* const elements = tensor.bytes().data();
  MessageWriter writer;
  writer.TensorField(1, tensor);
  const absl::Cord message = std::move(writer).Take();
  bool shared = false;
  ForEachPiece(message, [&](std::string_view piece) { shared = shared || piece.data() == elements; });
  EXPECT_TRUE(shared);
  tensor.mutable_flat<std::int32_t>()[7] = -1;
  EXPECT_EQ(**ParseOnlyTensor(1, message), Large());
}

// The message of a tensor, its elements in a piece of their own, `off` bytes from where they are aligned.
absl::Cord MessageWithElementsOff(const Tensor& tensor, std::size_t off) {
  const std::string bytes = Written(tensor);
  const std::size_t head = bytes.size() - tensor.bytes().size();
  const auto memory = std::make_shared<std::vector<char>>(tensor.bytes().size() + 2 * kElementsAlignment);
  char* at = memory->data();
  while (reinterpret_cast<std::uintptr_t>(at) % kElementsAlignment != 0) ++at;
  at += off;
  std::ranges::copy(tensor.bytes(), at);
  absl::Cord message(absl::string_view(bytes.data(), head));
  message.Append(SharedCord(std::string_view(at, tensor.bytes().size()), memory));
  return message;
}

TEST(TensorWire, WhatIsLargeAndAlignedIsTakenAsItLiesInItsMessage) {
  const Tensor sent = Tensor::Vector(std::vector<double>(kBorrowedTensorBytes / sizeof(double), 0.5));
  for (const std::size_t off : {0, 4}) {
    std::optional<absl::Cord> message = MessageWithElementsOff(sent, off);
    const char* elements = nullptr;
    ForEachPiece(*message, [&](std::string_view piece) { elements = piece.data(); });
    const absl::StatusOr<Tensor> read = ParseTensorPieces(*message);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, sent);
    EXPECT_EQ(read->bytes().data() == elements, off == 0);
    if (off != 0) continue;
    message.reset();
    EXPECT_EQ(*read, sent) << "it keeps its message";
    // Nobody writes into a message, which others may have, too.
    EXPECT_FALSE(read->unique());
    Tensor written = *read;
    written.mutable_flat<double>()[0] = 7;
    EXPECT_NE(written.bytes().data(), elements);
    EXPECT_TRUE(written.unique());
    EXPECT_EQ(*read, sent);
  }
  const Tensor small = Tensor::Vector(std::vector<double>(kBorrowedTensorBytes / sizeof(double) - 1, 0.5));
  const absl::StatusOr<Tensor> copied = ParseTensorPieces(MessageWithElementsOff(small, 0));
  ASSERT_TRUE(copied.ok()) << copied.status();
  EXPECT_TRUE(copied->unique()) << "what is small does not keep a message";
}

TEST(TensorWire, WhatIsPassedOnAgainAndAgainBecomesNoChain) {
  const Tensor sent = Tensor::Vector(std::vector<double>(kBorrowedTensorBytes / sizeof(double), 0.5));
  Tensor passed = sent;
  for (int i = 0; i < 200'000; ++i) {
    MessageWriter writer;
    writer.TensorField(1, passed);
    passed = **ParseOnlyTensor(1, std::move(writer).Take());
  }
  EXPECT_EQ(passed.bytes().data(), sent.bytes().data());
  EXPECT_EQ(passed, sent);
}

TEST(TensorWire, KeepsTheBitsOfNan) {
  const absl::StatusOr<Tensor> back = ParseTensor(Written(Tensor::Scalar<float>(std::nanf("5"))));
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(std::isnan(back->scalar<float>()));
}

TEST(TensorWire, OtherFieldsAreWrittenAsAMessageDoes) {
  proto::TensorProto message;
  message.set_version_number(300);
  message.set_tensor_content("text");
  std::string bytes;
  AppendIntegerField(proto::TensorProto::kVersionNumberFieldNumber, 300, &bytes);
  AppendTextField(proto::TensorProto::kTensorContentFieldNumber, "text", &bytes);
  AppendIntegerField(1, 0, &bytes);
  AppendTextField(2, "", &bytes);
  google::protobuf::UnknownFieldSet& others = *message.GetReflection()->MutableUnknownFields(&message);
  for (const int number : {15, 16, 1001}) {
    others.AddVarint(number, std::numeric_limits<std::uint64_t>::max());
    AppendIntegerField(number, -1, &bytes);
    others.AddLengthDelimited(number, "text");
    AppendTextField(number, "text", &bytes);
  }
  EXPECT_EQ(bytes, message.SerializeAsString());
}

TEST(TensorWire, OnlyOneFieldIsOnlyThatField) {
  std::string one;
  AppendTextField(1, "text", &one);
  EXPECT_EQ(OnlyField(1, one), "text");
  EXPECT_EQ(OnlyField(2, one).data(), nullptr);
  EXPECT_EQ(OnlyField(1, "").data(), nullptr);
  EXPECT_EQ(OnlyField(1, one + one).data(), nullptr);
  EXPECT_EQ(OnlyField(1, one.substr(0, 4)).data(), nullptr);
  std::string number;
  AppendIntegerField(1, 5, &number);
  EXPECT_EQ(OnlyField(1, number).data(), nullptr);
}

}  // namespace
}  // namespace vigil

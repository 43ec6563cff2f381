#include "vigil/core/tensor/tensor_proto.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <type_traits>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/tensor/tensor.pb.h"
#include "vigil/core/tensor/tensor_shape.pb.h"

namespace vigil {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor_content is little-endian");

template <typename... Args>
absl::Status Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(Code::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

std::int64_t SizeOf(const std::string& value) { return static_cast<std::int64_t>(sizeof(value) + value.size()); }
template <typename T>
std::int64_t SizeOf(const T&) {
  return sizeof(T);
}

// Takes the bytes of the elements that `given` values leave out; an error if there are too many. `each`: bytes of one.
absl::Status TakeFilled(DType dtype, const Shape& shape, std::int64_t given, std::int64_t each,
                        std::int64_t* may_fill) {
  const std::int64_t missing = shape.num_elements() - given;
  if (missing < 0) return Invalid("A tensor of shape {} is given {} values.", shape.ToString(), given);
  const std::optional<std::int64_t> bytes = CheckedProduct(missing, each);
  if (!bytes.has_value() || *bytes > *may_fill) {
    return Invalid(
        "A tensor of type {} and shape {} is given {} values; the others would take more than the {} bytes that are "
        "left of what "
        "a message may leave out.",
        DTypeName(dtype), shape.ToString(), given, *may_fill);
  }
  *may_fill -= *bytes;
  return absl::OkStatus();
}

// Element i of `values`, the last one if there are fewer, zero if there are none.
template <typename T, typename Values>
absl::StatusOr<Tensor> FromList(DType dtype, const Shape& shape, const Values& values, std::int64_t* may_fill) {
  const T last = values.empty() ? T() : static_cast<T>(*values.rbegin());
  VIGIL_RETURN_IF_ERROR(TakeFilled(dtype, shape, values.size(), SizeOf(last), may_fill));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(dtype, shape.dims()));
  std::span<T> elements;
  if constexpr (std::is_same_v<T, std::uint16_t>) {  // also what has no type in C++: bits
    const std::span<char> bytes = out.mutable_bytes();
    elements = {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  } else {
    elements = out.mutable_flat<T>();
  }
  auto next = elements.begin();
  for (const auto& value : values) *next++ = static_cast<T>(value);
  std::fill(next, elements.end(), last);
  return out;
}

// REQUIRES: one element of two bytes.
std::uint16_t BitsOf(const Tensor& tensor) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, tensor.bytes().data(), sizeof(bits));
  return bits;
}

// As TensorFlow packs strings that it sends: the length of each as a varint, then their bytes.
absl::StatusOr<Tensor> StringsFromContent(const Shape& shape, const std::string& content) {
  const auto invalid = [&] {
    return Invalid("The {} bytes of a string tensor {} are not its lengths and its bytes.", content.size(),
                   shape.ToString());
  };
  const std::int64_t n = shape.num_elements();
  if (n > static_cast<std::int64_t>(content.size())) return invalid();
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(content.data()),
                                               static_cast<int>(content.size()));
  std::vector<std::uint32_t> lengths(static_cast<std::size_t>(n));
  std::uint64_t sum = 0;
  for (std::uint32_t& length : lengths) {
    if (!input.ReadVarint32(&length)) return invalid();
    sum += length;
  }
  std::size_t at = static_cast<std::size_t>(input.CurrentPosition());
  if (at + sum != content.size()) return invalid();
  Tensor out(DType::kString, shape);
  auto element = out.mutable_flat<std::string>().begin();
  for (const std::uint32_t length : lengths) {
    *element++ = content.substr(at, length);
    at += length;
  }
  return out;
}

absl::StatusOr<Tensor> FromContent(DType dtype, const Shape& shape, const std::string& content) {
  if (dtype == DType::kString) return StringsFromContent(shape, content);
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t wanted, Tensor::BytesOf(dtype, shape));
  if (static_cast<std::size_t>(wanted) != content.size()) {
    return Invalid("A tensor {} {} is given {} bytes, not {}.", DTypeName(dtype), shape.ToString(), content.size(),
                   wanted);
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(dtype, shape.dims()));
  const std::span<char> bytes = out.mutable_bytes();
  if (dtype == DType::kBool) {  // any other byte would be no bool
    std::ranges::transform(content, bytes.begin(), [](char c) { return static_cast<char>(c != 0); });
  } else {
    std::ranges::copy(content, bytes.begin());
  }
  return out;
}

}  // namespace

absl::StatusOr<DType> FromProto(proto::DataType dtype) {
  switch (dtype) {
    case proto::DT_FLOAT:
    case proto::DT_DOUBLE:
    case proto::DT_INT32:
    case proto::DT_UINT8:
    case proto::DT_STRING:
    case proto::DT_INT64:
    case proto::DT_BOOL:
    case proto::DT_INT16:
    case proto::DT_INT8:
    case proto::DT_UINT16:
    case proto::DT_HALF:
    case proto::DT_BFLOAT16:
    case proto::DT_UINT32:
    case proto::DT_UINT64:
    case proto::DT_RESOURCE:
      return static_cast<DType>(dtype);
    default:
      break;
  }
  const std::string& name = proto::DataType_Name(dtype);
  return MakeStatus(Code::kUnimplemented, fmt::format("There are no tensors of type {} here.",
                                                      name.empty() ? fmt::to_string(static_cast<int>(dtype)) : name));
}

void ToProto(const Shape& shape, proto::TensorShapeProto* out) {
  for (const std::int64_t dim : shape.dims()) out->add_dim()->set_size(dim);
}

absl::StatusOr<Shape> FromProto(const proto::TensorShapeProto& shape) {
  if (shape.unknown_rank()) return Invalid("A shape of unknown rank cannot be used here.");
  std::vector<std::int64_t> dims;
  for (const proto::TensorShapeProto::Dim& dim : shape.dim()) {
    if (dim.size() < 0) return Invalid("A shape with an unknown dimension cannot be used here.");
    dims.push_back(dim.size());
  }
  return Shape::Make(std::move(dims));
}

void ToProto(const Tensor& tensor, proto::TensorProto* out) {
  out->set_dtype(ToProto(tensor.dtype()));
  ToProto(tensor.shape(), out->mutable_tensor_shape());
  if (tensor.dtype() == DType::kString) {
    for (const std::string& value : tensor.flat<std::string>()) out->add_string_val(value);
    return;
  }
  if (tensor.num_elements() != 1) {
    out->set_tensor_content(std::string(tensor.bytes()));
    return;
  }
  switch (tensor.dtype()) {
    case DType::kFloat:
      return out->add_float_val(tensor.flat<float>()[0]);
    case DType::kDouble:
      return out->add_double_val(tensor.flat<double>()[0]);
    case DType::kInt32:
      return out->add_int_val(tensor.flat<std::int32_t>()[0]);
    case DType::kUint8:
      return out->add_int_val(tensor.flat<std::uint8_t>()[0]);
    case DType::kInt64:
      return out->add_int64_val(tensor.flat<std::int64_t>()[0]);
    case DType::kBool:
      return out->add_bool_val(tensor.flat<bool>()[0]);
    case DType::kInt16:
      return out->add_int_val(tensor.flat<std::int16_t>()[0]);
    case DType::kInt8:
      return out->add_int_val(tensor.flat<std::int8_t>()[0]);
    case DType::kUint16:
      return out->add_int_val(tensor.flat<std::uint16_t>()[0]);
    case DType::kHalf:
    case DType::kBfloat16:
      return out->add_half_val(BitsOf(tensor));
    case DType::kUint32:
      return out->add_uint32_val(tensor.flat<std::uint32_t>()[0]);
    case DType::kUint64:
      return out->add_uint64_val(tensor.flat<std::uint64_t>()[0]);
    case DType::kInvalid:
    case DType::kString:
    case DType::kResource:
      break;
  }
  VIGIL_CHECK(!"a tensor that has values");
}

absl::StatusOr<Tensor> FromProto(const proto::TensorProto& tensor) {
  std::int64_t may_fill = kMostFilledBytes;
  return FromProto(tensor, &may_fill);
}

absl::StatusOr<Tensor> FromProto(const proto::TensorProto& tensor, std::int64_t* may_fill) {
  VIGIL_ASSIGN_OR_RETURN(const DType dtype, FromProto(tensor.dtype()));
  VIGIL_ASSIGN_OR_RETURN(const Shape shape, FromProto(tensor.tensor_shape()));
  if (dtype == DType::kResource) return MakeStatus(Code::kUnimplemented, "A handle has no value.");
  if (!tensor.tensor_content().empty()) return FromContent(dtype, shape, tensor.tensor_content());
  switch (dtype) {
    case DType::kFloat:
      return FromList<float>(dtype, shape, tensor.float_val(), may_fill);
    case DType::kDouble:
      return FromList<double>(dtype, shape, tensor.double_val(), may_fill);
    case DType::kInt32:
      return FromList<std::int32_t>(dtype, shape, tensor.int_val(), may_fill);
    case DType::kUint8:
      return FromList<std::uint8_t>(dtype, shape, tensor.int_val(), may_fill);
    case DType::kString:
      return FromList<std::string>(dtype, shape, tensor.string_val(), may_fill);
    case DType::kInt64:
      return FromList<std::int64_t>(dtype, shape, tensor.int64_val(), may_fill);
    case DType::kBool:
      return FromList<bool>(dtype, shape, tensor.bool_val(), may_fill);
    case DType::kInt16:
      return FromList<std::int16_t>(dtype, shape, tensor.int_val(), may_fill);
    case DType::kInt8:
      return FromList<std::int8_t>(dtype, shape, tensor.int_val(), may_fill);
    case DType::kUint16:
      return FromList<std::uint16_t>(dtype, shape, tensor.int_val(), may_fill);
    case DType::kHalf:
    case DType::kBfloat16:
      return FromList<std::uint16_t>(dtype, shape, tensor.half_val(), may_fill);
    case DType::kUint32:
      return FromList<std::uint32_t>(dtype, shape, tensor.uint32_val(), may_fill);
    case DType::kUint64:
      return FromList<std::uint64_t>(dtype, shape, tensor.uint64_val(), may_fill);
    case DType::kInvalid:
    case DType::kResource:
      break;
  }
  return MakeStatus(Code::kInternal, "an element type without values");
}

}  // namespace vigil

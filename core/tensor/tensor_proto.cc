#include "vigil/core/tensor/tensor_proto.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor_content is little-endian");

constexpr std::int64_t kMostTensorBytes = std::int64_t{2} << 30;  // what fits into one protocol buffer

template <typename... Args>
absl::Status Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(Code::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

// Elements of a tensor that is to be made, or an error: the shape comes from outside.
absl::StatusOr<std::int64_t> CheckedElements(DType dtype, const Shape& shape) {
  const auto size = static_cast<std::int64_t>(dtype == DType::kString ? sizeof(std::string) : DTypeSize(dtype));
  std::int64_t n = 1;
  for (const std::int64_t dim : shape.dims()) {
    if (dim < 0) return Invalid("A tensor cannot have the shape {}.", shape.ToString());
    if (dim != 0 && n > kMostTensorBytes / size / dim)
      return Invalid("A tensor of shape {} is too large.", shape.ToString());
    n *= dim;
  }
  return n;
}

// Element i of `values`, the last one if there are fewer, zero if there are none.
template <typename T, typename Values>
absl::StatusOr<Tensor> FromList(DType dtype, Shape shape, const Values& values) {
  Tensor out(dtype, std::move(shape));
  if (values.size() > out.num_elements()) {
    return Invalid("A tensor of shape {} is given {} values.", out.shape().ToString(), values.size());
  }
  const std::span<T> elements = out.mutable_flat<T>();
  auto next = elements.begin();
  for (const auto& value : values) *next++ = static_cast<T>(value);
  if (!values.empty()) std::fill(next, elements.end(), static_cast<T>(*values.rbegin()));
  return out;
}

absl::StatusOr<Tensor> FromContent(DType dtype, Shape shape, const std::string& content) {
  if (dtype == DType::kString) return Invalid("The values of a string tensor are not a list.");
  Tensor out(dtype, std::move(shape));
  const std::span<char> bytes = out.mutable_bytes();
  if (bytes.size() != content.size()) {
    return Invalid("A tensor {} is given {} bytes, not {}.", out.Describe(), content.size(), bytes.size());
  }
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
  return Shape(std::move(dims));
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
    case DType::kInvalid:
    case DType::kString:
    case DType::kResource:
      break;
  }
  VIGIL_CHECK(!"a tensor that has values");
}

absl::StatusOr<Tensor> FromProto(const proto::TensorProto& tensor) {
  VIGIL_ASSIGN_OR_RETURN(const DType dtype, FromProto(tensor.dtype()));
  VIGIL_ASSIGN_OR_RETURN(Shape shape, FromProto(tensor.tensor_shape()));
  if (dtype == DType::kResource) return MakeStatus(Code::kUnimplemented, "A handle has no value.");
  VIGIL_RETURN_IF_ERROR(CheckedElements(dtype, shape).status());
  if (!tensor.tensor_content().empty()) return FromContent(dtype, std::move(shape), tensor.tensor_content());
  switch (dtype) {
    case DType::kFloat:
      return FromList<float>(dtype, std::move(shape), tensor.float_val());
    case DType::kDouble:
      return FromList<double>(dtype, std::move(shape), tensor.double_val());
    case DType::kInt32:
      return FromList<std::int32_t>(dtype, std::move(shape), tensor.int_val());
    case DType::kUint8:
      return FromList<std::uint8_t>(dtype, std::move(shape), tensor.int_val());
    case DType::kString:
      return FromList<std::string>(dtype, std::move(shape), tensor.string_val());
    case DType::kInt64:
      return FromList<std::int64_t>(dtype, std::move(shape), tensor.int64_val());
    case DType::kBool:
      return FromList<bool>(dtype, std::move(shape), tensor.bool_val());
    case DType::kInvalid:
    case DType::kResource:
      break;
  }
  return MakeStatus(Code::kInternal, "an element type without values");
}

}  // namespace vigil

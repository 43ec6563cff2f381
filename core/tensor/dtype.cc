#include "vigil/core/tensor/dtype.h"

namespace vigil {

std::string_view DTypeName(DType dtype) {
  switch (dtype) {
    case DType::kInvalid:
      return "invalid";
    case DType::kFloat:
      return "float";
    case DType::kDouble:
      return "double";
    case DType::kInt32:
      return "int32";
    case DType::kUint8:
      return "uint8";
    case DType::kInt16:
      return "int16";
    case DType::kInt8:
      return "int8";
    case DType::kString:
      return "string";
    case DType::kInt64:
      return "int64";
    case DType::kBool:
      return "bool";
    case DType::kBfloat16:
      return "bfloat16";
    case DType::kUint16:
      return "uint16";
    case DType::kHalf:
      return "half";
    case DType::kResource:
      return "resource";
    case DType::kUint32:
      return "uint32";
    case DType::kUint64:
      return "uint64";
  }
  return "invalid";
}

std::size_t DTypeSize(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
    case DType::kInt32:
    case DType::kUint32:
      return 4;
    case DType::kDouble:
    case DType::kInt64:
    case DType::kUint64:
      return 8;
    case DType::kInt16:
    case DType::kUint16:
    case DType::kHalf:
    case DType::kBfloat16:
      return 2;
    case DType::kUint8:
    case DType::kInt8:
    case DType::kBool:
      return 1;
    case DType::kInvalid:
    case DType::kString:
    case DType::kResource:
      return 0;
  }
  return 0;
}

}  // namespace vigil

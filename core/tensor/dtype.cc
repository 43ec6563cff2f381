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
    case DType::kString:
      return "string";
    case DType::kInt64:
      return "int64";
    case DType::kBool:
      return "bool";
    case DType::kResource:
      return "resource";
  }
  return "invalid";
}

std::size_t DTypeSize(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
    case DType::kInt32:
      return 4;
    case DType::kDouble:
    case DType::kInt64:
      return 8;
    case DType::kUint8:
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

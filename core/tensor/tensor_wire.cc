#include "vigil/core/tensor/tensor_wire.h"

#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/cord.h"
#include "vigil/core/tensor/tensor.pb.h"
#include "vigil/core/tensor/tensor_proto.h"

namespace vigil {
namespace {

enum class WireType : std::uint8_t { kVarint = 0, kBytes = 2 };

// Fields of TensorProto, TensorShapeProto and its Dim.
constexpr int kDType = 1;
constexpr int kShape = 2;
constexpr int kContent = 4;
constexpr int kFloats = 5;
constexpr int kDoubles = 6;
constexpr int kInt64s = 10;
constexpr int kDim = 2;
constexpr int kDimSize = 1;

// Of one of the first 15 fields.
char Tag(int number, WireType type) { return static_cast<char>(number << 3 | static_cast<int>(type)); }

void AppendVarint(std::uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

std::size_t VarintSize(std::uint64_t value) {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

void AppendTag(int number, WireType type, std::string* out) {
  AppendVarint(static_cast<std::uint64_t>(number) << 3 | static_cast<std::uint64_t>(type), out);
}

// A field of so many bytes begins.
void AppendLength(int number, std::size_t length, std::string* out) {
  AppendTag(number, WireType::kBytes, out);
  AppendVarint(length, out);
}

void AppendBytesField(int number, std::string_view bytes, std::string* out) {
  AppendLength(number, bytes.size(), out);
  out->append(bytes);
}

// Which field holds one element of that type as it lies in memory; 0: none that is simply written.
int ScalarField(DType dtype) {
  if (dtype == DType::kFloat) return kFloats;
  return dtype == DType::kDouble ? kDoubles : 0;
}

// Types and values that are written here; the message itself writes the others.
bool IsPlain(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kFloat:
    case DType::kDouble:
    case DType::kInt64:
      return true;
    case DType::kInt32:
    case DType::kUint8:
    case DType::kBool:
      return tensor.num_elements() != 1;
    default:
      return false;
  }
}

void AppendShape(const Shape& shape, std::string* out) {
  const auto dim_size = [](std::int64_t dim) {
    return dim == 0 ? std::size_t{0} : 1 + VarintSize(static_cast<std::uint64_t>(dim));
  };
  std::size_t size = 0;
  for (const std::int64_t dim : shape.dims()) size += 2 + dim_size(dim);
  out->push_back(Tag(kShape, WireType::kBytes));
  AppendVarint(size, out);
  for (const std::int64_t dim : shape.dims()) {
    out->push_back(Tag(kDim, WireType::kBytes));
    AppendVarint(dim_size(dim), out);
    if (dim == 0) continue;
    out->push_back(Tag(kDimSize, WireType::kVarint));
    AppendVarint(static_cast<std::uint64_t>(dim), out);
  }
}

void AppendHead(const Tensor& tensor, std::string* out) {
  out->push_back(Tag(kDType, WireType::kVarint));
  AppendVarint(static_cast<std::uint64_t>(tensor.dtype()), out);
  AppendShape(tensor.shape(), out);
}

void AppendPlain(const Tensor& tensor, std::string* out) {
  AppendHead(tensor, out);
  if (tensor.num_elements() != 1) {
    if (!tensor.bytes().empty()) AppendBytesField(kContent, tensor.bytes(), out);
  } else if (const int field = ScalarField(tensor.dtype()); field != 0) {
    AppendBytesField(field, tensor.bytes(), out);
  } else {
    const auto value = static_cast<std::uint64_t>(tensor.scalar<std::int64_t>());
    out->push_back(Tag(kInt64s, WireType::kBytes));
    AppendVarint(VarintSize(value), out);
    AppendVarint(value, out);
  }
}

// Reads fields one after the other.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }
  std::size_t left() const { return rest_.size(); }
  // False where the bytes are no message, or one with fields of other kinds.
  bool Next(int* number, std::uint64_t* value, std::string_view* bytes) {
    WireType type = WireType::kVarint;
    if (!NextTag(number, &type, value)) return false;
    return type == WireType::kVarint || ReadBytes(*value, bytes);
  }
  // The same, without the bytes: `value` says how many follow.
  bool NextTag(int* number, WireType* type, std::uint64_t* value) {
    if (rest_.empty()) return false;
    const int tag = static_cast<unsigned char>(rest_.front());
    if (tag >= 0x80) return false;  // fields from 16 on
    rest_.remove_prefix(1);
    *number = tag >> 3;
    *type = static_cast<WireType>(tag & 7);
    return (*type == WireType::kVarint || *type == WireType::kBytes) && ReadVarint(value);
  }
  bool ReadBytes(std::uint64_t size, std::string_view* bytes) {
    if (size > rest_.size()) return false;
    *bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool ReadVarint(std::uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 63 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      *value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;  // numbers of ten bytes (negative ones) too
  }

 private:
  std::string_view rest_;
};

// The parts of a TensorProto as AppendPlain writes it.
struct PlainTensor {
  std::uint64_t dtype = 0;
  std::string_view shape;
  int values_field = 0;
  std::string_view values;
};

std::optional<PlainTensor> ReadPlain(std::string_view bytes) {
  PlainTensor plain;
  Reader reader(bytes);
  for (int last = 0; !reader.done();) {
    int number = 0;
    std::uint64_t value = 0;
    std::string_view contents;
    if (!reader.Next(&number, &value, &contents) || number <= last) return std::nullopt;
    last = number;
    const bool is_number = contents.data() == nullptr;
    if (number == kDType && is_number) {
      plain.dtype = value;
    } else if (number == kShape && !is_number) {
      plain.shape = contents;
    } else if (!is_number && plain.values_field == 0) {
      plain.values_field = number;
      plain.values = contents;
    } else {
      return std::nullopt;
    }
  }
  return plain;
}

std::optional<Shape> ReadShape(std::string_view bytes) {
  std::vector<std::int64_t> dims;
  for (Reader reader(bytes); !reader.done();) {
    int number = 0;
    std::uint64_t value = 0;
    std::string_view dim;
    if (!reader.Next(&number, &value, &dim) || number != kDim || dim.data() == nullptr) return std::nullopt;
    std::uint64_t size = 0;
    if (Reader inner(dim); !inner.done()) {
      std::string_view none;
      if (!inner.Next(&number, &size, &none) || number != kDimSize || none.data() != nullptr || !inner.done()) {
        return std::nullopt;
      }
    }
    dims.push_back(static_cast<std::int64_t>(size));
  }
  return Shape(std::move(dims));
}

struct PlainHead {
  DType dtype = DType::kInvalid;
  Shape shape;
};

// nullopt: a type that is not read here, or a shape that `most` bytes cannot have.
std::optional<PlainHead> ReadHead(const PlainTensor& plain, std::size_t most) {
  DType dtype = DType::kInvalid;
  for (const DType known : {DType::kFloat, DType::kDouble, DType::kInt64, DType::kInt32, DType::kUint8}) {
    if (plain.dtype == static_cast<std::uint64_t>(known)) dtype = known;
  }
  if (dtype == DType::kInvalid) return std::nullopt;
  std::optional<Shape> shape = ReadShape(plain.shape);
  if (!shape.has_value()) return std::nullopt;
  // The product may overflow only where the bytes are not there.
  std::uint64_t elements = 1;
  for (const std::int64_t dim : shape->dims()) {
    if (dim <= 0 || static_cast<std::uint64_t>(dim) > most || elements > most) return std::nullopt;
    elements *= static_cast<std::uint64_t>(dim);
  }
  if (elements > most) return std::nullopt;
  return PlainHead{.dtype = dtype, .shape = *std::move(shape)};
}

std::optional<Tensor> Unwritten(const PlainHead& head) {
  absl::StatusOr<Tensor> out = Tensor::MakeUnwritten(head.dtype, head.shape.dims());
  return out.ok() ? std::optional(*std::move(out)) : std::nullopt;
}

// Those elements. nullopt: other bytes than such a tensor has, or no memory.
std::optional<Tensor> WithElements(const PlainHead& head, const absl::Cord& elements) {
  const absl::StatusOr<std::int64_t> wanted = Tensor::BytesOf(head.dtype, head.shape);
  if (!wanted.ok() || static_cast<std::size_t>(*wanted) != elements.size()) return std::nullopt;
  if (elements.size() >= kBorrowedTensorBytes) {
    std::optional<Tensor> borrowed = Tensor::Borrow(head.dtype, head.shape, elements);
    if (borrowed.has_value()) return borrowed;
  }
  std::optional<Tensor> out = Unwritten(head);
  if (!out.has_value()) return std::nullopt;
  char* to = out->mutable_bytes().data();
  ForEachPiece(elements, [&to](std::string_view piece) {
    std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  });
  return out;
}

// The tensor, where the values are all there as they lie in memory, or are one whole number.
std::optional<Tensor> ParsePlain(std::string_view bytes) {
  const std::optional<PlainTensor> plain = ReadPlain(bytes);
  if (!plain.has_value()) return std::nullopt;
  const std::optional<PlainHead> head = ReadHead(*plain, bytes.size());
  std::optional<Tensor> out = head.has_value() ? Unwritten(*head) : std::nullopt;
  if (!out.has_value()) return std::nullopt;
  const std::int64_t elements = out->num_elements();
  if (plain->values_field == kInt64s && out->dtype() == DType::kInt64 && elements == 1) {
    std::uint64_t value = 0;
    Reader reader(plain->values);
    if (!reader.ReadVarint(&value) || !reader.done()) return std::nullopt;
    out->mutable_flat<std::int64_t>()[0] = static_cast<std::int64_t>(value);
    return out;
  }
  const bool in_memory_order =
      plain->values_field == kContent || (elements == 1 && plain->values_field == ScalarField(out->dtype()));
  if (!in_memory_order || plain->values.size() != out->bytes().size()) return std::nullopt;
  std::memcpy(out->mutable_bytes().data(), plain->values.data(), plain->values.size());
  return out;
}

// The same of bytes in pieces, where what ends them is the elements.
std::optional<Tensor> ParsePlainPieces(const absl::Cord& bytes) {
  constexpr std::size_t kMostBeforeElements = 512;
  const std::string before(bytes.Subcord(0, kMostBeforeElements));
  PlainTensor plain;
  Reader reader(before);
  int number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;
  for (int last = 0; reader.NextTag(&number, &type, &value) && number > last; last = number) {
    if (number == kContent && type == WireType::kBytes) {
      const std::optional<PlainHead> head = ReadHead(plain, bytes.size());
      const std::size_t at = before.size() - reader.left();
      if (!head.has_value() || value != bytes.size() - at) return std::nullopt;
      return WithElements(*head, bytes.Subcord(at, value));
    }
    if (number == kDType && type == WireType::kVarint) {
      plain.dtype = value;
    } else if (number != kShape || type != WireType::kBytes || !reader.ReadBytes(value, &plain.shape)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

bool IsShared(const Tensor& tensor) {
  return IsPlain(tensor) && tensor.has_buffer() && tensor.bytes().size() >= kSharedTensorBytes;
}

// A large tensor's message up to its elements, which end it.
std::string BeforeElements(const Tensor& tensor) {
  std::string out;
  AppendHead(tensor, &out);
  AppendLength(kContent, tensor.bytes().size(), &out);
  return out;
}

}  // namespace

void AppendTensorField(int number, const Tensor& tensor, std::string* out) {
  if (!IsPlain(tensor)) {
    proto::TensorProto message;
    ToProto(tensor, &message);
    AppendBytesField(number, message.SerializeAsString(), out);
    return;
  }
  // Most are short enough for a length of one byte.
  out->reserve(out->size() + tensor.bytes().size() + 32);
  AppendTag(number, WireType::kBytes, out);
  const std::size_t length_at = out->size();
  out->push_back(0);
  AppendPlain(tensor, out);
  const std::size_t length = out->size() - length_at - 1;
  if (length < 0x80) {
    (*out)[length_at] = static_cast<char>(length);
    return;
  }
  std::string varint;
  AppendVarint(length, &varint);
  out->replace(length_at, 1, varint);
}

void AppendTextField(int number, std::string_view text, std::string* out) {
  if (!text.empty()) AppendBytesField(number, text, out);
}

void AppendIntegerField(int number, std::int64_t value, std::string* out) {
  if (value == 0) return;
  AppendTag(number, WireType::kVarint, out);
  AppendVarint(static_cast<std::uint64_t>(value), out);
}

absl::StatusOr<Tensor> ParseTensor(std::string_view bytes) {
  if (std::optional<Tensor> plain = ParsePlain(bytes); plain.has_value()) return *std::move(plain);
  proto::TensorProto message;
  if (bytes.size() > std::size_t{std::numeric_limits<int>::max()} ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return MakeStatus(Code::kInvalidArgument, "The bytes of a tensor cannot be parsed.");
  }
  return FromProto(message);
}

absl::StatusOr<Tensor> ParseTensorPieces(const absl::Cord& bytes) {
  if (const std::optional<std::string_view> flat = FlatOf(bytes)) return ParseTensor(*flat);
  if (std::optional<Tensor> plain = ParsePlainPieces(bytes); plain.has_value()) return *std::move(plain);
  return ParseTensor(std::string_view(std::string(bytes)));
}

std::string_view OnlyField(int number, std::string_view message) {
  int found = 0;
  std::uint64_t length = 0;
  std::string_view contents;
  Reader reader(message);
  if (!reader.Next(&found, &length, &contents) || found != number || !reader.done()) return {};
  return contents;
}

std::optional<absl::StatusOr<Tensor>> ParseOnlyTensor(int number, const absl::Cord& message) {
  if (const std::optional<std::string_view> flat = FlatOf(message)) {
    const std::string_view contents = OnlyField(number, *flat);
    return contents.data() == nullptr ? std::nullopt : std::optional(ParseTensor(contents));
  }
  constexpr std::size_t kMostBytesOfATag = 16;
  const std::string start(message.Subcord(0, kMostBytesOfATag));
  int found = 0;
  WireType type = WireType::kVarint;
  std::uint64_t length = 0;
  Reader reader(start);
  if (!reader.NextTag(&found, &type, &length) || found != number || type != WireType::kBytes) return std::nullopt;
  const std::size_t at = start.size() - reader.left();
  if (length != message.size() - at) return std::nullopt;
  return ParseTensorPieces(message.Subcord(at, length));
}

void MessageWriter::Elements(std::string_view before, const Tensor& tensor) {
  piece_.append(before);
  pieces_.Append(std::exchange(piece_, {}));
  pieces_.Append(tensor.shared_bytes());
}

void MessageWriter::TensorField(int number, const Tensor& tensor) {
  if (!IsShared(tensor)) return AppendTensorField(number, tensor, &piece_);
  const std::string before = BeforeElements(tensor);
  AppendLength(number, before.size() + tensor.bytes().size(), &piece_);
  Elements(before, tensor);
}

void MessageWriter::NamedTensor(int number, std::string_view name, const Tensor& tensor) {
  constexpr int kName = 1;
  constexpr int kTensor = 2;
  std::string named;
  AppendTextField(kName, name, &named);
  if (!tensor.valid() || !IsShared(tensor)) {
    if (tensor.valid()) AppendTensorField(kTensor, tensor, &named);
    return AppendBytesField(number, named, &piece_);
  }
  const std::string before = BeforeElements(tensor);
  AppendLength(kTensor, before.size() + tensor.bytes().size(), &named);
  AppendLength(number, named.size() + before.size() + tensor.bytes().size(), &piece_);
  piece_.append(named);
  Elements(before, tensor);
}

absl::Cord MessageWriter::Take() && {
  pieces_.Append(CordOf(std::move(piece_)));
  return std::move(pieces_);
}

}  // namespace vigil

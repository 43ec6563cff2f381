#include "vigil/core/io/tensor_slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/tensor_bundle.pb.h"

namespace vigil {
namespace {

template <typename... Args>
absl::Status BadSlice(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(Code::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

bool ParseNumber(std::string_view text, std::int64_t* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t at = text.find(separator);
    out.push_back(text.substr(0, at));
    if (at == text.npos) return out;
    text.remove_prefix(at + 1);
  }
}

absl::StatusOr<TensorSlice> ParseSlice(std::string_view text) {
  TensorSlice out;
  for (const std::string_view item : SplitAt(text, ':')) {
    TensorSlice::Extent extent;
    if (item != "-") {
      const std::vector<std::string_view> numbers = SplitAt(item, ',');
      if (numbers.size() != 2 || !ParseNumber(numbers[0], &extent.start) || !ParseNumber(numbers[1], &extent.length)) {
        return BadSlice("Expected a pair of numbers or '-' but got '{}': string = {}", item, text);
      }
      if (extent.start < 0 || extent.length <= 0) {
        return BadSlice("Expected non-negative start and positive length but got start = {}, length = {}: string = {}",
                        extent.start, extent.length, text);
      }
    }
    out.extents.push_back(extent);
  }
  return out;
}

// Ordered codes: what compares as bytes does as the values do.
void AppendOrderedNumber(std::uint64_t value, std::string* out) {
  const int bytes = (std::bit_width(value) + 7) / 8;
  out->push_back(static_cast<char>(bytes));
  for (int i = bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

void AppendOrderedSigned(std::int64_t value, std::string* out) {
  constexpr int kMost = 10;
  const auto bits = static_cast<std::uint64_t>(value);
  const std::uint64_t size = value < 0 ? ~bits : bits;
  const int length = (std::bit_width(size) + 7) / 7;
  // The value with its sign in front, in ten bytes, of which the last `length` are written.
  unsigned char bytes[kMost];
  for (int i = 0; i < kMost; ++i) {
    const int shift = 8 * (kMost - 1 - i);
    bytes[i] = shift < 64 ? static_cast<unsigned char>(bits >> shift) : (value < 0 ? 0xff : 0);
  }
  // As many leading ones as bytes (flipped for a negative value), then a zero.
  unsigned char* const first = bytes + kMost - length;
  const unsigned header = 0xffffu << (16 - length) & 0xffffu;
  first[0] ^= static_cast<unsigned char>(header >> 8);
  if (length > 1) first[1] ^= static_cast<unsigned char>(header);
  out->append(reinterpret_cast<const char*>(first), static_cast<std::size_t>(length));
}

void AppendOrderedString(std::string_view text, std::string* out) {
  for (const char c : text) {
    out->push_back(c);
    if (c == '\0') out->push_back('\xff');
    if (c == '\xff') out->push_back('\0');
  }
  out->push_back('\0');
  out->push_back('\x01');
}

struct CommonPart {
  std::vector<std::int64_t> from;  // where it begins in the one
  std::vector<std::int64_t> to;    // and in the other
  std::vector<std::int64_t> lengths;
};

std::optional<CommonPart> Intersect(const TensorSlice& a, const TensorSlice& b) {
  CommonPart out;
  for (std::size_t d = 0; d < a.extents.size(); ++d) {
    const TensorSlice::Extent& one = a.extents[d];
    const TensorSlice::Extent& other = b.extents[d];
    const std::int64_t start = std::max(one.start, other.start);
    const std::int64_t end = std::min(one.start + one.length, other.start + other.length);
    if (end <= start) return std::nullopt;
    out.from.push_back(start - one.start);
    out.to.push_back(start - other.start);
    out.lengths.push_back(end - start);
  }
  return out;
}

// Calls copy(from, to, count) for each run of elements that lie together in both.
template <typename Copy>
void ForRuns(const CommonPart& common, const Shape& from, const Shape& to, const Copy& copy) {
  const std::size_t rank = common.lengths.size();
  std::vector<std::int64_t> at(rank, 0);
  const std::int64_t run = rank == 0 ? 1 : common.lengths.back();
  const auto place = [&](const Shape& shape, const std::vector<std::int64_t>& begin) {
    std::int64_t out = 0;
    for (std::size_t d = 0; d < rank; ++d) out = out * shape.dims()[d] + begin[d] + at[d];
    return out;
  };
  while (true) {
    copy(place(from, common.from), place(to, common.to), run);
    // The next row: all dimensions but the last, counted up.
    std::size_t d = rank;
    while (d > 1 && ++at[d - 2] == common.lengths[d - 2]) at[--d - 1] = 0;
    if (d <= 1) return;
  }
}

}  // namespace

std::optional<TensorSlice> TensorSlice::FromProto(const proto::TensorSliceProto& proto) {
  TensorSlice out;
  for (const proto::TensorSliceProto::Extent& extent : proto.extent()) {
    Extent& made = out.extents.emplace_back();
    made.start = extent.start();
    if (extent.has_length_case() == proto::TensorSliceProto::Extent::kLength) made.length = extent.length();
    if (made == Extent()) continue;
    if (made.start < 0 || made.length <= 0 || !CheckedSum(made.start, made.length).has_value()) return std::nullopt;
  }
  return out;
}

void TensorSlice::ToProto(proto::TensorSliceProto* out) const {
  for (const Extent& extent : extents) {
    proto::TensorSliceProto::Extent* const made = out->add_extent();
    if (extent == Extent()) continue;
    made->set_start(extent.start);
    made->set_length(extent.length);
  }
}

std::string TensorSlice::ToString() const {
  std::vector<std::string> parts;
  for (const Extent& each : extents) {
    parts.push_back(each == Extent() ? "-" : fmt::format("{},{}", each.start, each.length));
  }
  return fmt::format("{}", fmt::join(parts, ":"));
}

absl::StatusOr<Shape> TensorSlice::ShapeIn(const Shape& whole) const {
  if (extents.size() != whole.dims().size()) {
    return BadSlice("Mismatching ranks: shape = {}, slice = {}", whole.ToString(), ToString());
  }
  std::vector<std::int64_t> dims;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const Extent& extent = extents[d];
    const std::int64_t most = whole.dims()[d];
    if (extent != Extent() && (extent.start > most || extent.length > most - extent.start)) {
      return BadSlice("Extent in dimension {} out of bounds: shape = {}, slice = {}", d, whole.ToString(), ToString());
    }
    dims.push_back(extent == Extent() ? most : extent.length);
  }
  return Shape::Make(std::move(dims));
}

TensorSlice TensorSlice::Explicit(const Shape& whole) const {
  TensorSlice out = *this;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (out.extents[d] == Extent()) out.extents[d].length = whole.dims()[d];
  }
  return out;
}

absl::StatusOr<TensorPiece> ParseShapeAndSlice(const std::string& text) {
  std::vector<std::string_view> parts = SplitAt(text, ' ');
  if (parts.size() < 2) return BadSlice("Need least two elements in shape_and_slice specification: {}", text);
  TensorPiece out;
  VIGIL_ASSIGN_OR_RETURN(out.slice, ParseSlice(parts.back()));
  parts.pop_back();
  std::vector<std::int64_t> dims;
  for (const std::string_view part : parts) {
    std::int64_t& dim = dims.emplace_back();
    if (!ParseNumber(part, &dim)) return BadSlice("Non numerical dimension in shape_and_slice: {}", text);
  }
  VIGIL_ASSIGN_OR_RETURN(out.whole, Shape::Make(std::move(dims)));
  VIGIL_ASSIGN_OR_RETURN(out.shape, out.slice.ShapeIn(out.whole));
  return out;
}

std::string SliceKey(std::string_view name, const TensorSlice& slice) {
  std::string out;
  AppendOrderedNumber(0, &out);
  AppendOrderedString(name, &out);
  AppendOrderedNumber(slice.extents.size(), &out);
  for (const TensorSlice::Extent& extent : slice.extents) {
    AppendOrderedSigned(extent.start, &out);
    AppendOrderedSigned(extent.length, &out);
  }
  return out;
}

std::int64_t CopyCommonPart(const TensorSlice& source, const Tensor& from, const TensorSlice& target, Tensor* to) {
  const std::optional<CommonPart> common = Intersect(source, target);
  if (!common.has_value()) return 0;
  std::int64_t copied = 0;
  if (from.dtype() == DType::kString) {
    const std::string* const begin = from.flat<std::string>().data();
    std::string* const out = to->mutable_flat<std::string>().data();
    ForRuns(*common, from.shape(), to->shape(), [&](std::int64_t at, std::int64_t there, std::int64_t count) {
      std::copy_n(begin + at, count, out + there);
      copied += count;
    });
    return copied;
  }
  const std::size_t each = DTypeSize(from.dtype());
  const char* const begin = from.bytes().data();
  char* const out = to->mutable_bytes().data();
  ForRuns(*common, from.shape(), to->shape(), [&](std::int64_t at, std::int64_t there, std::int64_t count) {
    std::memcpy(out + static_cast<std::size_t>(there) * each, begin + static_cast<std::size_t>(at) * each,
                static_cast<std::size_t>(count) * each);
    copied += count;
  });
  return copied;
}

std::int64_t CommonElements(const TensorSlice& a, const TensorSlice& b) {
  const std::optional<CommonPart> common = Intersect(a, b);
  return common.has_value() ? Shape(common->lengths).num_elements() : 0;
}

bool AreDisjoint(const std::vector<TensorSlice>& parts) {
  if (parts.size() > kMostPieces) return false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      // Without allocations: there may be fifty million pairs.
      bool apart = false;
      for (std::size_t d = 0; d < parts[i].extents.size() && !apart; ++d) {
        const TensorSlice::Extent& a = parts[i].extents[d];
        const TensorSlice::Extent& b = parts[k].extents[d];
        apart = a.start + a.length <= b.start || b.start + b.length <= a.start;
      }
      if (!apart) return false;
    }
  }
  return true;
}

}  // namespace vigil

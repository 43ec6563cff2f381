// How numpy writes floating-point numbers: the fewest digits that tell the value from its neighbours. A scalar far from
// 1 gets an exponent. In an array all numbers are laid out alike: with exponents if one of them reaches 1e8 (1e6 for a
// float), else with as many places as the one that needs most, eight at most, and the points below each other ("1." not
// "1.0").
#include "vigil/core/train/hooks/tensor_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <vector>

namespace vigil {
namespace {

constexpr std::int64_t kMostElements = 1000;  // printed in full
constexpr std::int64_t kEdge = 3;             // printed of each end of a dimension of a longer array
constexpr int kMostPlaces = 8;                // behind the point, of numbers in arrays
constexpr double kSmallestPlain = 1e-4;       // of scalars: below, an exponent
template <typename T>
constexpr double kExponentsFrom = std::is_same_v<T, float> ? 1e6 : 1e8;  // in arrays
template <typename T>
constexpr double kPlainBelow = std::is_same_v<T, float> ? 1e6 : 1e16;  // of scalars: from there on, an exponent

// "-12.345e+05" in pieces: "-12", "345", 5.
struct Number {
  std::string whole;
  std::string fraction;
  int exponent = 0;
};

// What to_chars wrote, trailing zeros of the fraction left out.
Number Split(std::string_view text) {
  Number out;
  const std::size_t e = text.find('e');
  if (e != text.npos) {
    std::string_view exponent = text.substr(e + 1);
    if (exponent.front() == '+') exponent.remove_prefix(1);
    std::from_chars(exponent.data(), exponent.data() + exponent.size(), out.exponent);
  }
  const std::string_view mantissa = text.substr(0, e);
  const std::size_t point = mantissa.find('.');
  out.whole = mantissa.substr(0, point);
  if (point != mantissa.npos) out.fraction = mantissa.substr(point + 1);
  while (out.fraction.ends_with('0')) out.fraction.pop_back();
  return out;
}

template <typename T, typename... Precision>
Number Convert(T value, std::chars_format format, Precision... precision) {
  char text[512];
  return Split({text, std::to_chars(text, text + sizeof(text), value, format, precision...).ptr});
}

// With an exponent.
template <typename T>
Number Scientific(T value, int most_places) {
  Number out = Convert(value, std::chars_format::scientific);
  if (std::ssize(out.fraction) <= most_places) return out;
  return Convert(value, std::chars_format::scientific, most_places);
}

// Without. Zeros stand for the digits that do not matter: 123456784 as float is 123456780, not 123456784.
template <typename T>
Number Plain(T value, int most_places) {
  Number out = Convert(value, std::chars_format::scientific);
  const int places = static_cast<int>(out.fraction.size()) - out.exponent;
  if (places > most_places) return Convert(value, std::chars_format::fixed, most_places);
  const std::string sign = out.whole.starts_with('-') ? "-" : "";
  std::string digits = out.whole.substr(sign.size()) + out.fraction;
  const int point = out.exponent + 1;  // that many digits are before it
  if (point <= 0) digits.insert(0, static_cast<std::size_t>(1 - point), '0');
  const auto whole = static_cast<std::size_t>(std::max(point, 1));
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  return {sign + digits.substr(0, whole), digits.substr(whole), 0};
}

template <typename T>
std::string NotFinite(T value) {
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

constexpr int kAllPlaces = 1 << 20;

template <typename T>
std::string FloatScalar(T value) {
  if (!std::isfinite(value)) return NotFinite(value);
  const double size = std::abs(static_cast<double>(value));
  if (size == 0 || (size >= kSmallestPlain && size < kPlainBelow<T>)) {
    const Number n = Plain(value, kAllPlaces);
    return fmt::format("{}.{}", n.whole, n.fraction.empty() ? "0" : n.fraction);
  }
  const Number n = Scientific(value, kAllPlaces);
  return fmt::format("{}{}{}e{:+03}", n.whole, n.fraction.empty() ? "" : ".", n.fraction, n.exponent);
}

// The elements of an array that are shown, all alike.
template <typename T>
std::vector<std::string> FloatElements(const std::vector<T>& values) {
  const bool exponents =
      std::ranges::any_of(values, [](T v) { return std::isfinite(v) && std::abs(v) >= kExponentsFrom<T>; });
  std::vector<Number> numbers;
  std::size_t whole = 0;
  std::size_t fraction = 0;
  std::size_t exponent_digits = exponents ? 2 : 0;
  std::size_t longest_other = 0;
  for (const T value : values) {
    if (!std::isfinite(value)) {
      longest_other = std::max(longest_other, NotFinite(value).size());
      numbers.emplace_back();
      continue;
    }
    const Number& n = numbers.emplace_back(exponents ? Scientific(value, kMostPlaces) : Plain(value, kMostPlaces));
    whole = std::max(whole, n.whole.size());
    fraction = std::max(fraction, n.fraction.size());
    if (exponents) exponent_digits = std::max(exponent_digits, fmt::format_int(std::abs(n.exponent)).size());
  }
  const std::size_t behind_whole = 1 + fraction + (exponents ? 2 + exponent_digits : 0);
  whole = std::max(whole, longest_other - std::min(longest_other, behind_whole));
  std::vector<std::string> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Number& n = numbers[i];
    if (!std::isfinite(values[i])) {
      out.push_back(fmt::format("{:>{}}", NotFinite(values[i]), whole + behind_whole));
    } else if (exponents) {
      out.push_back(fmt::format("{:>{}}.{:0<{}}e{}{:0{}}", n.whole, whole, n.fraction, fraction,
                                n.exponent < 0 ? '-' : '+', std::abs(n.exponent), exponent_digits));
    } else {
      out.push_back(fmt::format("{:>{}}.{:<{}}", n.whole, whole, n.fraction, fraction));
    }
  }
  return out;
}

// As Python shows bytes.
std::string QuotedBytes(std::string_view bytes) {
  const char quote = bytes.find('\'') != bytes.npos && bytes.find('"') == bytes.npos ? '"' : '\'';
  std::string out = fmt::format("b{}", quote);
  for (const char c : bytes) {
    const auto code = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (code < 0x20 || code >= 0x7f) {
      out += fmt::format("\\x{:02x}", code);
    } else {
      out += c;
    }
  }
  return out + quote;
}

template <typename T>
std::string ScalarText(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "True" : "False";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return QuotedBytes(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return FloatScalar(value);
  } else {
    return fmt::format("{}", value);
  }
}

// Right-aligned where numpy does so.
template <typename T>
std::vector<std::string> ElementTexts(const std::vector<T>& values) {
  if constexpr (std::is_floating_point_v<T>) {
    return FloatElements(values);
  } else {
    std::vector<std::string> out;
    std::size_t width = std::is_same_v<T, bool> ? 5 : 0;
    for (const T& value : values) out.push_back(ScalarText<T>(value));
    if constexpr (std::is_same_v<T, std::string>) return out;
    for (const std::string& text : out) width = std::max(width, text.size());
    for (std::string& text : out) text.insert(0, width - text.size(), ' ');
    return out;
  }
}

// Calls visit(index) for each shown element and writes brackets, gaps and "..." around what it returns.
template <typename Visit>
void Layout(const Shape& shape, int dimension, std::int64_t first, bool shorten, std::string& out, Visit& visit) {
  if (dimension == shape.rank()) {
    out += visit(first);
    return;
  }
  const std::int64_t size = shape.dim(dimension);
  std::int64_t stride = 1;
  for (int d = dimension + 1; d < shape.rank(); ++d) stride *= shape.dim(d);
  const bool gap = shorten && size > 2 * kEdge;
  out += '[';
  for (std::int64_t i = 0; i < size; ++i) {
    if (i > 0) out += ' ';
    if (gap && i == kEdge) {
      out += "... ";
      i = size - kEdge;
    }
    Layout(shape, dimension + 1, first + i * stride, shorten, out, visit);
  }
  out += ']';
}

template <typename T>
std::string ArrayText(const Tensor& tensor) {
  const auto elements = tensor.flat<T>();
  if (elements.empty()) return "[]";
  const bool shorten = tensor.num_elements() > kMostElements;
  std::string out;
  std::vector<T> shown;
  auto collect = [&](std::int64_t i) {
    shown.push_back(elements[static_cast<std::size_t>(i)]);
    return std::string_view();
  };
  Layout(tensor.shape(), 0, 0, shorten, out, collect);
  const std::vector<std::string> texts = ElementTexts<T>(shown);
  std::size_t next = 0;
  auto write = [&](std::int64_t) { return std::string_view(texts[next++]); };
  out.clear();
  Layout(tensor.shape(), 0, 0, shorten, out, write);
  return out;
}

template <typename T>
std::string TextOf(const Tensor& tensor) {
  return tensor.shape().rank() == 0 ? ScalarText<T>(tensor.scalar<T>()) : ArrayText<T>(tensor);
}

}  // namespace

std::string TensorText(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return TextOf<float>(tensor);
    case DType::kDouble:
      return TextOf<double>(tensor);
    case DType::kInt32:
      return TextOf<std::int32_t>(tensor);
    case DType::kUint8:
      return TextOf<std::uint8_t>(tensor);
    case DType::kInt64:
      return TextOf<std::int64_t>(tensor);
    case DType::kString:
      return TextOf<std::string>(tensor);
    case DType::kBool:
      return TextOf<bool>(tensor);
    case DType::kInt16:
      return TextOf<std::int16_t>(tensor);
    case DType::kInt8:
      return TextOf<std::int8_t>(tensor);
    case DType::kUint16:
      return TextOf<std::uint16_t>(tensor);
    case DType::kUint32:
      return TextOf<std::uint32_t>(tensor);
    case DType::kUint64:
      return TextOf<std::uint64_t>(tensor);
    case DType::kInvalid:
    case DType::kResource:
    case DType::kHalf:
    case DType::kBfloat16:
      return tensor.Describe();
  }
  return tensor.Describe();
}

}  // namespace vigil

// Ops that graphs of TensorFlow have around their work: what must hold, what a name looks like.
#include <algorithm>

#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"
#include "vigil/core/ops/variable.h"

namespace vigil {
namespace {

using Types = absl::StatusOr<std::vector<DType>>;

// The first elements, as they are written in a message.
std::string Summarized(const Tensor& value, std::int64_t most) {
  std::string out;
  const std::int64_t shown = std::min(std::max<std::int64_t>(most, 0), value.num_elements());
  const auto show = [&]<typename T>() {
    for (std::size_t i = 0; i < static_cast<std::size_t>(shown); ++i) {
      out += fmt::format("{}{}", i == 0 ? "" : " ", value.flat<T>()[i]);
    }
  };
  if (value.dtype() == DType::kString) {
    show.operator()<std::string>();
  } else if (value.dtype() == DType::kBool) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(shown); ++i) {
      out += fmt::format("{}{}", i == 0 ? "" : " ", value.flat<bool>()[i] ? 1 : 0);
    }
  } else if (!ForNumeric(value.dtype(), show)) {
    return value.Describe();
  }
  return shown < value.num_elements() ? out + "..." : out;
}

absl::Status Assert(KernelContext& c) {
  const Tensor& holds = c.input(0);
  if (holds.shape().rank() != 0) {
    return InvalidArgument("Input condition should be a scalar but has shape: {}", holds.shape().ToString());
  }
  if (holds.scalar<bool>()) return absl::OkStatus();
  std::string data;
  for (int i = 1; i < c.num_inputs(); ++i) {
    data += fmt::format("{}[{}]", i == 1 ? "" : " ", Summarized(c.input(i), c.attr_or<std::int64_t>("summarize", 3)));
  }
  return InvalidArgument("assertion failed: {}", data);
}

constexpr std::string_view kSpecial = R"(\[](){}*+?|^$)";
constexpr std::string_view kEscaped = R"(\.[](){}*+?|^$/-)";

// A character of a pattern, or any one; once, or any number of times.
struct PatternPart {
  char character = 0;
  bool any = false;
  bool many = false;
};

// Of a regular expression: characters, '.', '*' behind them, '\' before others, '^' first and '$' last.
absl::StatusOr<std::vector<PatternPart>> ParsePattern(const Node& node) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::string>(node, "pattern"));
  const auto& pattern = std::get<std::string>(node.attrs.find("pattern")->second);
  std::vector<PatternPart> parts;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if ((c == '^' && i == 0) || (c == '$' && i + 1 == pattern.size())) continue;
    if (c == '*' && !parts.empty() && !parts.back().many) {
      parts.back().many = true;
    } else if (c == '\\' && i + 1 < pattern.size() && kEscaped.find(pattern[i + 1]) != std::string_view::npos) {
      parts.push_back({.character = pattern[++i]});
    } else if (kSpecial.find(c) == std::string_view::npos) {
      parts.push_back({.character = c, .any = c == '.'});
    } else {
      return MakeStatus(Code::kUnimplemented,
                        fmt::format("'{}' Op: the pattern '{}': only characters, '.', '*' and '\\' are known here",
                                    node.op, pattern));
    }
  }
  return parts;
}

// Whether all of the text is what the parts say: which of them may come next is known after each character.
bool FullyMatches(const std::vector<PatternPart>& parts, std::string_view text) {
  std::vector<bool> next(parts.size() + 1, false);
  next[0] = true;
  const auto skip_many = [&] {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (next[i] && parts[i].many) next[i + 1] = true;
    }
  };
  skip_many();
  for (const char c : text) {
    std::vector<bool> then(next.size(), false);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!next[i] || (parts[i].any ? c == '\n' : c != parts[i].character)) continue;
      then[parts[i].many ? i : i + 1] = true;
    }
    next = std::move(then);
    skip_many();
  }
  return next.back();
}

absl::Status StaticRegexFullMatch(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const std::vector<PatternPart> parts, ParsePattern(c.node()));
  const Tensor& texts = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(DType::kBool, texts.shape().dims()));
  std::ranges::transform(texts.flat<std::string>(), out.mutable_flat<bool>().begin(),
                         [&parts](const std::string& text) { return FullyMatches(parts, text); });
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// What TensorFlow's savers say to a variable, whose values are shared here anyway until somebody writes.
absl::Status DisableCopyOnRead(KernelContext& c) { return vigil::Variable::Of(c).status(); }

Types AssertTypes(const Node& node, const std::vector<DType>& inputs) {
  if (inputs.empty()) return UsageError("'Assert' Op needs a condition.");
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kBool}));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::int64_t>(node, "summarize"));
  return std::vector<DType>{};
}

Types MatchTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kString}));
  VIGIL_RETURN_IF_ERROR(ParsePattern(node).status());
  return std::vector<DType>{DType::kBool};
}

Types NothingOfHandle(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kResource}));
  return std::vector<DType>{};
}

}  // namespace

void RegisterGuardOps(OpRegistry& registry) {
  registry.Register({.name = "Assert", .inputs = -1, .output_types = AssertTypes, .compute = Assert});
  registry.Imply("Assert", {{"T", ImpliedAttr::Kind::kInputTypes, 1}});
  registry.Register(
      {.name = "StaticRegexFullMatch", .inputs = 1, .output_types = MatchTypes, .compute = StaticRegexFullMatch});
  registry.Register({.name = "DisableCopyOnRead",
                     .inputs = 1,
                     .output_types = NothingOfHandle,
                     .compute = DisableCopyOnRead,
                     .ref_inputs = 1});
}

}  // namespace vigil

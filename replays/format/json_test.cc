#include "vigil/replays/format/json.h"

#include <gtest/gtest.h>

#include <string>

#include "vigil/core/base/code.h"

namespace vigil::replays {
namespace {

std::string ErrorOf(std::string_view text) {
  JsonDocument document;
  const absl::Status status = document.Parse(text);
  if (status.ok()) return "no error";
  EXPECT_EQ(CodeOf(status), Code::kInvalidArgument);
  return std::string(MessageOf(status));
}

// Everything that was read, in a form of its own.
std::string Dump(Json value) {
  switch (value.kind()) {
    case JsonKind::kArray: {
      std::string out = "[";
      for (const Json item : value) out += Dump(item) + " ";
      return out + "]";
    }
    case JsonKind::kObject: {
      std::string out = "{";
      for (const Json member : value) out += std::string(member.key()) + "=" + Dump(member) + " ";
      return out + "}";
    }
    default:
      return value.Describe();
  }
}

std::string Read(std::string_view text) {
  JsonDocument document;
  const absl::Status status = document.Parse(text);
  return status.ok() ? Dump(document.root()) : std::string(MessageOf(status));
}

std::string Nested(int levels) {
  return std::string(static_cast<std::size_t>(levels), '[') + std::string(static_cast<std::size_t>(levels), ']');
}

TEST(Json, ReadsEveryKind) {
  EXPECT_EQ(Read(R"( {"a": [1, -2, 1.0, 2.5, 1e3, true, false, null], "b": {"c": "d"}, "e": {}, "f": []} )"),
            "{a=[1 -2 1.0 2.5 1000.0 true false null ] b={c='d' } e={} f=[] }");
  EXPECT_EQ(Read("7"), "7");
  EXPECT_EQ(Read("\"x\""), "'x'");
}

TEST(Json, KeepsIntegersExact) {
  EXPECT_EQ(Read("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(Read("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(Read("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(Read("18446744073709551616"), "1.8446744073709552e+19");  // a kNumber
}

TEST(Json, ReadsEscapesAndUtf8) {
  JsonDocument document;
  ASSERT_TRUE(document.Parse("\"\\u00e9\\ud83d\\ude00\\n\\\\ \xC3\xA9\"").ok());
  EXPECT_EQ(document.root().string(), "\xC3\xA9\xF0\x9F\x98\x80\n\\ \xC3\xA9");
}

TEST(Json, IsReusedWithoutTracesOfTheLastText) {
  JsonDocument document;
  ASSERT_TRUE(document.Parse(R"({"a":"first"})").ok());
  ASSERT_FALSE(document.Parse(R"({"a":"second")").ok());
  ASSERT_TRUE(document.Parse(R"(["third"])").ok());
  EXPECT_EQ(Dump(document.root()), "['third' ]");
}

TEST(Json, NamesThePlaceOfASyntaxError) {
  EXPECT_EQ(ErrorOf(""), "not JSON at column 1: unexpected end of input; expected '[', '{', or a literal");
  EXPECT_EQ(ErrorOf("{} x"), "not JSON at column 4: invalid literal");
  EXPECT_EQ(ErrorOf("{}{}"), "not JSON at column 3: unexpected '{'; expected end of input");
  EXPECT_EQ(ErrorOf(R"({"a":{"b":1},"c":[5,6,]})"),
            "/c/2: not JSON at column 23: unexpected ']'; expected '[', '{', or a literal");
  EXPECT_EQ(ErrorOf(R"({"a":{"b":1} "c":2})"), "/a: not JSON at column 16: unexpected string literal; expected '}'");
  EXPECT_EQ(ErrorOf("{\n\"a\": 01}"), "/a: not JSON at line 2, column 7: unexpected number literal; expected '}'");
  EXPECT_EQ(ErrorOf("{\"a\": 'x'}"), "/a: not JSON at column 7: invalid literal");
  EXPECT_EQ(ErrorOf("[1, // no comments\n2]"), "/1: not JSON at line 1, column 5: invalid literal");
}

TEST(Json, RefusesNumbersThatAreNone) {
  EXPECT_EQ(ErrorOf("[NaN]"), "/0: not JSON at column 2: invalid literal");
  EXPECT_EQ(ErrorOf("[Infinity]"), "/0: not JSON at column 2: invalid literal");
  EXPECT_EQ(ErrorOf("[-Infinity]"), "/0: not JSON at column 3: invalid number; expected digit after '-'");
  EXPECT_EQ(ErrorOf("[1e999]"), "/0: not JSON at column 6: number overflow parsing '1e999'");
  EXPECT_EQ(ErrorOf("[+1]"), "/0: not JSON at column 2: invalid literal");
}

TEST(Json, RefusesDuplicateKeys) {
  EXPECT_EQ(ErrorOf(R"({"a":1,"b":2,"a":3})"), "/a: duplicate key");
  EXPECT_EQ(ErrorOf(R"({"x":[0,{"y":{"a/b":1,"a\/b":2}}]})"), "/x/1/y/a~1b: duplicate key");
  EXPECT_EQ(Read(R"([{"a":1},{"a":2}])"), "[{a=1 } {a=2 } ]");
}

TEST(Json, RefusesTextThatIsNotUtf8) {
  EXPECT_EQ(ErrorOf("{\"a\":\"\xFF\"}"), "/a: not JSON at column 7: invalid string: ill-formed UTF-8 byte");
  EXPECT_EQ(ErrorOf("[\"\xC3\"]"), "/0: not JSON at column 4: invalid string: ill-formed UTF-8 byte");
  EXPECT_EQ(ErrorOf("[\"\xED\xA0\x80\"]"), "/0: not JSON at column 4: invalid string: ill-formed UTF-8 byte");
  EXPECT_EQ(ErrorOf("\xFE\xFF"), "not JSON at column 1: invalid literal");
}

TEST(Json, RefusesNulBytes) {
  EXPECT_EQ(ErrorOf(std::string_view("[1]\0[2]", 7)), "not JSON at column 4: a NUL byte");
  EXPECT_EQ(ErrorOf(std::string_view("[1,\n\0]", 6)), "not JSON at line 2, column 1: a NUL byte");
}

TEST(Json, LimitsDepth) {
  EXPECT_EQ(ErrorOf(Nested(kMaxDepth)), "no error");
  std::string pointer;
  for (int i = 0; i < kMaxDepth; ++i) pointer += "/0";
  EXPECT_EQ(ErrorOf(Nested(kMaxDepth + 1)), pointer + ": nested deeper than 64 levels");
  EXPECT_EQ(ErrorOf(Nested(1'000'000)), pointer + ": nested deeper than 64 levels");
}

TEST(Json, LimitsSizes) {
  EXPECT_EQ(ErrorOf(std::string(kMaxRecordBytes + 1, ' ')), "longer than 16 MiB");
  EXPECT_EQ(ErrorOf("[\"" + std::string(kMaxRecordBytes - 4, 'x') + "\"]"), "no error");
  std::string many = "[0";
  for (std::size_t i = 0; i < kMaxValues; ++i) many += ",0";
  EXPECT_EQ(ErrorOf(many + "]"), "/999999: more than 1000000 values in one record");
}

TEST(Json, NeverShowsMegabytesOfWhatItRead) {
  EXPECT_EQ(ErrorOf("[\"" + std::string(100'000, 'x')),
            "/0: not JSON at column 100002: invalid string: missing closing quote");
}

TEST(Pointer, EscapesKeys) {
  std::string pointer;
  AppendPointer(pointer, "a/b~c");
  AppendPointer(pointer, std::size_t{3});
  EXPECT_EQ(pointer, "/a~1b~0c/3");
}

}  // namespace
}  // namespace vigil::replays

#include "vigil/core/train/hooks/tensor_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace vigil {
namespace {

template <typename T>
std::string Of(T value) {
  return TensorText(Tensor::Scalar<T>(value));
}

template <typename T>
std::string Of(std::vector<T> values) {
  return TensorText(Tensor::Vector(values));
}

// What is expected was printed by numpy 2.4 with suppress=True and a line as long as it takes.
TEST(TensorTextTest, Scalars) {
  EXPECT_EQ(Of<std::int64_t>(-5), "-5");
  EXPECT_EQ(Of<std::int32_t>(7), "7");
  EXPECT_EQ(Of<std::uint8_t>(200), "200");
  EXPECT_EQ(Of<bool>(true), "True");
  EXPECT_EQ(Of<std::string>("ab\n\xff\"'\\"), R"(b'ab\n\xff"\'\\')");
  EXPECT_EQ(Of<std::string>("it's"), "b\"it's\"");
  EXPECT_EQ(TensorText(Tensor()), "invalid []");
}

TEST(TensorTextTest, FloatingPointScalars) {
  struct Row {
    double value;
    const char* as_float;
    const char* as_double;
  };
  const Row rows[] = {
      {0.5, "0.5", "0.5"},
      {0.1, "0.1", "0.1"},
      {1.0 / 3, "0.33333334", "0.3333333333333333"},
      {3.0, "3.0", "3.0"},
      {-0.0, "-0.0", "-0.0"},
      {123456.78, "123456.78", "123456.78"},
      {1e-4, "1e-04", "0.0001"},
      {1e-5, "1e-05", "1e-05"},
      {999999, "999999.0", "999999.0"},
      {1000001, "1.000001e+06", "1000001.0"},
      {123456789, "1.2345679e+08", "123456789.0"},
      {9.9e15, "9.9e+15", "9900000000000000.0"},
      {1e16, "1e+16", "1e+16"},
      {1e20, "1e+20", "1e+20"},
      {std::nan(""), "nan", "nan"},
      {-std::nan(""), "nan", "nan"},
      {std::numeric_limits<double>::infinity(), "inf", "inf"},
      {-std::numeric_limits<double>::infinity(), "-inf", "-inf"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Of(static_cast<float>(row.value)), row.as_float);
    EXPECT_EQ(Of(row.value), row.as_double);
  }
  EXPECT_EQ(Of(1e300), "1e+300");
}

TEST(TensorTextTest, FloatingPointVectors) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  struct Row {
    std::vector<double> values;
    const char* text;
  };
  const Row rows[] = {
      {{1, 2.5, 3}, "[1.  2.5 3. ]"},
      {{0.1, 1.0 / 3}, "[0.1        0.33333333]"},
      {{1e-5, 1}, "[0.00001 1.     ]"},
      {{1e8, 1}, "[1.e+08 1.e+00]"},
      {{1123456789, 1}, "[1.12345679e+09 1.00000000e+00]"},
      {{std::nan(""), 1}, "[nan  1.]"},
      {{kInf, -1.5}, "[ inf -1.5]"},
      {{-kInf, 0.25}, "[-inf 0.25]"},
      {{std::nan(""), kInf}, "[nan inf]"},
      {{1e8, std::nan("")}, "[1.e+08    nan]"},
      {{1e300, 1e-300}, "[1.e+300 1.e-300]"},
      {{1e100, 1}, "[1.e+100 1.e+000]"},
      {{123456.789, 0.001}, "[123456.789      0.001]"},
      {{12345678.9, 1}, "[12345678.9        1. ]"},
      {{1e-9, 1}, "[0. 1.]"},
      {{5e-9}, "[0.00000001]"},
      {{2.000000005, 1}, "[2. 1.]"},
      {{}, "[]"},
  };
  for (const Row& row : rows) EXPECT_EQ(Of(row.values), row.text);
  EXPECT_EQ(Of<float>({12345678.9F, 1}), "[1.2345679e+07 1.0000000e+00]") << "as numpy, eight digits of a float";
  EXPECT_EQ(Of<float>({1e6F, 1}), "[1.e+06 1.e+00]")
      << "a float has six digits to be sure of, a double more than eight";
  EXPECT_EQ(Of<float>({1e20F, 3}), "[1.e+20 3.e+00]") << "the shortest text that is this float, not its first digits";
  EXPECT_EQ(Of<float>({999999, 1}), "[999999.      1.]");
  EXPECT_EQ(Of<double>({1e6, 1}), "[1000000.       1.]");
}

TEST(TensorTextTest, OtherArrays) {
  EXPECT_EQ(Of<std::int64_t>({1, -20, 300}), "[  1 -20 300]");
  EXPECT_EQ(Of<bool>({true, false}), "[ True False]");
  EXPECT_EQ(Of<std::string>({"a", "bc"}), "[b'a' b'bc']");
  EXPECT_EQ(TensorText(Tensor::Vector<std::int64_t>({1, 2, 3, 4, 5, 6}).Reshaped({3, 2})), "[[1 2] [3 4] [5 6]]");
  EXPECT_EQ(TensorText(Tensor::Vector<float>({1, 2, 3.25F, -4}).Reshaped({2, 2})), "[[ 1.    2.  ] [ 3.25 -4.  ]]");
  EXPECT_EQ(TensorText(Tensor::Vector<float>({}).Reshaped({2, 0})), "[]");
}

TEST(TensorTextTest, LongArraysAreCutInEachDimension) {
  std::vector<std::int64_t> numbers(1200);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  const Tensor all = Tensor::Vector(numbers);
  EXPECT_EQ(TensorText(all), "[   0    1    2 ... 1197 1198 1199]");
  EXPECT_EQ(TensorText(all.Reshaped({2, 2, 300})),
            "[[[   0    1    2 ...  297  298  299] [ 300  301  302 ...  597  598  599]] "
            "[[ 600  601  602 ...  897  898  899] [ 900  901  902 ... 1197 1198 1199]]]");
  numbers.resize(1000);
  EXPECT_EQ(Of(numbers).find("..."), std::string::npos) << "a thousand are printed in full";
}

}  // namespace
}  // namespace vigil

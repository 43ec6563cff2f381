// The expected chances are those that SciPy gives (fisher_exact, ks_2samp with method="exact"), or that follow from
// counting by hand.
#include "vigil/replays/judge/exact_tests.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace vigil::replays {
namespace {

using Counts = std::vector<std::int64_t>;

TEST(FisherTest, GivesTheChanceOfTablesNoLikelier) {
  EXPECT_NEAR(FisherP(Counts{10, 2}, Counts{100, 100}), 0.03489193728586783, 1e-9);
  EXPECT_NEAR(FisherP(Counts{3, 9}, Counts{200, 0}) / 1.0962683788762104e-13, 1, 1e-6);
  EXPECT_NEAR(FisherP(Counts{6, 4, 2}, Counts{50, 130, 20}), 0.07750244043475983, 1e-9);
  EXPECT_NEAR(FisherP(Counts{1, 1, 1, 1}, Counts{0, 0, 3, 7}), 0.10689310689310688, 1e-9);
  EXPECT_NEAR(FisherP(Counts{1, 0}, Counts{0, 1}), 1, 1e-9);        // two ways to deal two cards: each as likely
  EXPECT_NEAR(FisherP(Counts{2, 0}, Counts{0, 2}), 1.0 / 3, 1e-9);  // two of the six ways to deal four
}

TEST(FisherTest, IsTheSameFromEitherSideAndInAnyOrder) {
  EXPECT_NEAR(FisherP(Counts{6, 4, 2}, Counts{50, 130, 20}), FisherP(Counts{20, 50, 130}, Counts{2, 6, 4}), 1e-12);
}

TEST(FisherTest, WhereNothingIsToCompareNothingDiffers) {
  EXPECT_EQ(FisherP(Counts{12}, Counts{200}), 1);
  EXPECT_EQ(FisherP(Counts{12, 0}, Counts{200, 0}), 1);
  EXPECT_EQ(FisherP(Counts{0, 0}, Counts{200, 3}), 1);
  EXPECT_EQ(FisherP(Counts{}, Counts{}), 1);
}

TEST(FisherTest, ManyKindsAreJoined) {
  Counts one(40, 0);
  Counts other(40, 5);
  one[0] = 12;
  const double p = FisherP(one, other);
  EXPECT_GT(p, 0);
  EXPECT_LT(p, 1e-9);
}

TEST(KolmogorovSmirnovTest, GivesTheChanceToLieAsFarApart) {
  EXPECT_NEAR(KolmogorovSmirnovP({1, 2, 3, 4, 5, 6}, {4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 3.5}), 0.09257409257409258,
              1e-9);
  EXPECT_NEAR(KolmogorovSmirnovP({3.9, 4.0, 4.1, 4.2}, {5, 6, 7, 8, 9, 10}), 2.0 / 210, 1e-12);
  std::vector<double> one;
  std::vector<double> other;
  for (int i = 0; i < 12; ++i) one.push_back(std::fmod(i * 0.37, 1));
  for (int i = 0; i < 200; ++i) other.push_back(std::fmod(i * 0.217, 1.3));
  EXPECT_NEAR(KolmogorovSmirnovP(one, other), 0.42795208351667535, 1e-9);
}

TEST(KolmogorovSmirnovTest, OfEqualTimesTheBestIsTaken) {
  EXPECT_EQ(KolmogorovSmirnovP({2, 2, 2}, {2, 2, 2, 2}), 1);
  EXPECT_EQ(KolmogorovSmirnovP({}, {1}), 1);
}

TEST(KolmogorovSmirnovTest, TimesWithinTheSlackAreTheSame) {
  const std::vector<double> one = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<double> other = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  EXPECT_LT(KolmogorovSmirnovP(one, other), 1e-4);
  EXPECT_LT(KolmogorovSmirnovP(one, other, {.seconds = 0.5}), 1e-4);
  EXPECT_EQ(KolmogorovSmirnovP(one, other, {.seconds = 10}), 1);
  EXPECT_EQ(KolmogorovSmirnovP(other, one, {.seconds = 10}), 1);
  EXPECT_EQ(KolmogorovSmirnovP({100, 100, 100, 100}, {109, 109, 109, 109}, {.factor = 0.1}), 1);
  EXPECT_LT(KolmogorovSmirnovP({100, 100, 100, 100}, {120, 120, 120, 120}, {.factor = 0.1}), 0.05);
}

TEST(KolmogorovSmirnovTest, NeverIsLaterThanEverything) {
  const double never = HUGE_VAL;
  EXPECT_EQ(KolmogorovSmirnovP({never, never}, {never, never, never}, {.seconds = 1, .factor = 0.1}), 1);
  EXPECT_NEAR(KolmogorovSmirnovP({1, 1, 1}, {never, never, never}, {.seconds = 1}), 0.1, 1e-12);
}

}  // namespace
}  // namespace vigil::replays

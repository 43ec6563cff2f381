#include "vigil/replays/judge/exact_tests.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "vigil/core/base/check.h"

namespace vigil::replays {
namespace {

constexpr std::size_t kMostKinds = 12;

double LogChoose(std::int64_t n, std::int64_t k) {
  const auto log_factorial = [](std::int64_t i) { return std::lgamma(static_cast<double>(i) + 1); };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

// Every way to draw `left` from the kinds from `kind` on, with its log probability; of all that are no likelier than
// what was seen, the sum.
class Tables {
 public:
  explicit Tables(std::vector<std::int64_t> totals) : totals_(std::move(totals)) {}
  double LogWays(std::span<const std::int64_t> drawn) const {
    double log = 0;
    for (std::size_t i = 0; i < totals_.size(); ++i) log += LogChoose(totals_[i], drawn[i]);
    return log;
  }
  double SumUpTo(double most, std::int64_t left, double log_all) {
    most_ = most;
    log_all_ = log_all;
    sum_ = 0;
    Walk(0, left, 0);
    return sum_;
  }

 private:
  void Walk(std::size_t kind, std::int64_t left, double log) {
    constexpr double kRounding = 1e-7;
    if (kind + 1 == totals_.size()) {
      if (left > totals_[kind]) return;
      log += LogChoose(totals_[kind], left);
      if (log <= most_ + kRounding) sum_ += std::exp(log - log_all_);
      return;
    }
    for (std::int64_t n = 0; n <= std::min(left, totals_[kind]); ++n)
      Walk(kind + 1, left - n, log + LogChoose(totals_[kind], n));
  }

  const std::vector<std::int64_t> totals_;
  double most_ = 0;
  double log_all_ = 0;
  double sum_ = 0;
};

struct Kind {
  std::int64_t one;
  std::int64_t other;
  std::int64_t total() const { return one + other; }
};

// How far one sample's share lies ahead of the other's, at the time where it is farthest: sorted samples.
double FarthestAhead(const std::vector<double>& ahead, const std::vector<double>& behind, const TimeSlack& slack) {
  double farthest = 0;
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    const double until = ahead[i] + slack.seconds + slack.factor * std::abs(ahead[i]);
    const auto passed = static_cast<double>(std::ranges::upper_bound(behind, until) - behind.begin());
    farthest = std::max(farthest, static_cast<double>(i + 1) / static_cast<double>(ahead.size()) -
                                      passed / static_cast<double>(behind.size()));
  }
  return farthest;
}

}  // namespace

double FisherP(std::span<const std::int64_t> one, std::span<const std::int64_t> other) {
  VIGIL_CHECK(one.size() == other.size());
  std::vector<Kind> kinds;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] + other[i] > 0) kinds.push_back({one[i], other[i]});
  }
  std::ranges::sort(kinds, std::greater<>(), &Kind::total);
  while (kinds.size() > kMostKinds) {
    kinds[kinds.size() - 2].one += kinds.back().one;
    kinds[kinds.size() - 2].other += kinds.back().other;
    kinds.pop_back();
  }
  std::int64_t all_one = 0;
  std::int64_t all_other = 0;
  for (const Kind& kind : kinds) {
    all_one += kind.one;
    all_other += kind.other;
  }
  if (kinds.size() < 2 || all_one == 0 || all_other == 0) return 1;
  const bool swap = all_other < all_one;  // the tables of the smaller sample are fewer
  std::vector<std::int64_t> totals;
  std::vector<std::int64_t> drawn;
  for (const Kind& kind : kinds) {
    totals.push_back(kind.total());
    drawn.push_back(swap ? kind.other : kind.one);
  }
  const std::int64_t draws = std::min(all_one, all_other);
  Tables tables(std::move(totals));
  return std::min(1.0, tables.SumUpTo(tables.LogWays(drawn), draws, LogChoose(all_one + all_other, draws)));
}

double KolmogorovSmirnovP(std::vector<double> one, std::vector<double> other, const TimeSlack& slack) {
  if (one.empty() || other.empty()) return 1;
  std::ranges::sort(one);
  std::ranges::sort(other);
  const double apart = std::max(FarthestAhead(one, other, slack), FarthestAhead(other, one, slack));
  if (apart <= 0) return 1;
  // A path through the two samples put in one order: which share of all paths never lies so far from the diagonal.
  const auto m = static_cast<double>(one.size());
  const auto n = static_cast<double>(other.size());
  constexpr double kRounding = 1e-9;
  const auto within = [&](std::size_t i, std::size_t j) {
    return std::abs(static_cast<double>(i) / m - static_cast<double>(j) / n) < apart - kRounding;
  };
  std::vector<double> row(other.size() + 1, 0);  // [j]: the chance to have come to (i, j) and never so far
  for (std::size_t i = 0; i <= one.size(); ++i) {
    for (std::size_t j = 0; j <= other.size(); ++j) {
      // From above with the chance that the next of i + j is of `one`, from the left that it is of the other.
      const double of_one =
          i == 0 ? 0 : row[j] * (m - static_cast<double>(i) + 1) / (m + n - static_cast<double>(i + j) + 1);
      const double of_other =
          j == 0 ? 0 : row[j - 1] * (n - static_cast<double>(j) + 1) / (m + n - static_cast<double>(i + j) + 1);
      const double here = i + j == 0 ? 1 : of_one + of_other;
      row[j] = within(i, j) ? here : 0;
    }
  }
  return std::clamp(1 - row.back(), 0.0, 1.0);
}

}  // namespace vigil::replays

// Two exact tests of whether two samples may come from one source.
//
// Both are the usual ones, without an approximation: Fisher's for what falls into kinds (as Freeman and Halton have it
// for more than two of them), Kolmogorov's and Smirnov's for times. Each gives p, the chance that two samples of one
// source, as large as these, lie at least as far apart.
//
// Thread safety: pure functions. Source: Freeman and Halton 1951; Hodges 1958.
#ifndef VIGIL_REPLAYS_JUDGE_EXACT_TESTS_H_
#define VIGIL_REPLAYS_JUDGE_EXACT_TESTS_H_

#include <cstdint>
#include <span>
#include <vector>

namespace vigil::replays {

// How often each kind was seen in one sample and in the other; as many of each. Beyond twelve kinds the rarest count as
// one. 1 where there is nothing to compare.
double FisherP(std::span<const std::int64_t> one, std::span<const std::int64_t> other);

// Times that are later or earlier by less than slack + factor * time count as the same. Either is empty: 1.
struct TimeSlack {
  double seconds = 0;
  double factor = 0;
};
double KolmogorovSmirnovP(std::vector<double> one, std::vector<double> other, const TimeSlack& slack = {});

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_JUDGE_EXACT_TESTS_H_

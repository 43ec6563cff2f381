#ifndef VIGIL_FAKES_SUMMARY_SUMMARY_OF_H_
#define VIGIL_FAKES_SUMMARY_SUMMARY_OF_H_

#include <string>
#include <utility>
#include <vector>

namespace vigil::fakes {

// A serialized Summary with these scalars.
std::string SummaryOf(const std::vector<std::pair<std::string, float>>& values);

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_SUMMARY_SUMMARY_OF_H_

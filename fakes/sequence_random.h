// Draws that a test has written down. Contract: core/env/random.h, but for being random.
//
// Thread safety: none of its own; see fake_tasks.h.
#ifndef VIGIL_FAKES_SEQUENCE_RANDOM_H_
#define VIGIL_FAKES_SEQUENCE_RANDOM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/env/random.h"

namespace vigil::fakes {

class SequenceRandom final : public Random {
 public:
  // The next draws of that stream. After them, and for streams without any, the n-th draw is n times 2^64 / golden
  // ratio: far apart and always the same.
  void Set(std::string stream, std::vector<std::uint64_t> draws) {
    streams_[std::move(stream)] = {std::move(draws), 0};
  }

  std::uint64_t Draw(std::string_view stream) override {
    auto it = streams_.find(stream);
    if (it == streams_.end()) it = streams_.emplace(stream, Stream{}).first;
    Stream& s = it->second;
    const std::uint64_t n = s.drawn++;
    return n < s.draws.size() ? s.draws[n] : (n + 1) * 0x9e3779b97f4a7c15u;
  }

  // How many draws were made of that stream.
  std::uint64_t drawn(std::string_view stream) const {
    const auto it = streams_.find(stream);
    return it == streams_.end() ? 0 : it->second.drawn;
  }

 private:
  struct Stream {
    std::vector<std::uint64_t> draws;
    std::uint64_t drawn = 0;
  };
  std::map<std::string, Stream, std::less<>> streams_;
};

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_SEQUENCE_RANDOM_H_

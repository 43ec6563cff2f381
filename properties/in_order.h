// Works on numbered pieces with several threads; what came of them is handed out in order.
//
// Thread safety: InOrder may run on any thread.
#ifndef VIGIL_PROPERTIES_IN_ORDER_H_
#define VIGIL_PROPERTIES_IN_ORDER_H_

#include <atomic>
#include <cstdint>
#include <functional>

namespace vigil::properties {

// What is to be done with the result of a piece, on the caller's thread.
using HandOut = std::function<void()>;
// Works on one piece, on a thread of its own.
using PieceWorker = std::function<HandOut(std::uint64_t piece)>;

struct PieceCallbacks {
  std::function<PieceWorker()> new_worker;  // once on each thread
  std::function<void()> on_tick;            // a few times a second, on the caller's thread
};

// Pieces `first` to `end` - 1. `stop` may be set at any time: pieces that are being worked on are finished and handed out, no new
// ones are begun. Returns the number of the first piece that was not handed out; all before it were. What a worker throws ends the
// program.
std::uint64_t InOrder(int jobs, std::uint64_t first, std::uint64_t end, const PieceCallbacks& callbacks,
                      const std::atomic<bool>& stop);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_IN_ORDER_H_

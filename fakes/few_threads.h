// Tasks of a system that runs out of threads, for tests.
//
// Thread safety: as fake_tasks.h. The inner tasks must outlive it.
#ifndef VIGIL_FAKES_FEW_THREADS_H_
#define VIGIL_FAKES_FEW_THREADS_H_

#include <functional>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "vigil/core/env/forwarding.h"

namespace vigil::fakes {

class FewThreads final : public ForwardingTasks {
 public:
  // `most`: how many tasks can be started; the next one throws as std::thread does.
  FewThreads(Tasks& inner, int most) : ForwardingTasks(inner), left(most) {}
  std::unique_ptr<Task> Spawn(std::string_view name, std::function<void()> body) override {
    if (left-- <= 0) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    return ForwardingTasks::Spawn(name, std::move(body));
  }

  int left;  // may be changed
};

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_FEW_THREADS_H_

#include "vigil/core/cluster/master/callables.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/cluster/wire.h"

namespace vigil {
namespace {

absl::Status NotDone(std::string_view what) {
  return MakeStatus(Code::kUnimplemented, fmt::format("CallableOptions.{} is not supported: leave it out.", what));
}

absl::Status NoCallable(std::int64_t handle) {
  return MakeStatus(Code::kInvalidArgument, fmt::format("No such callable handle: {}", handle));
}

}  // namespace

absl::StatusOr<NamedCallable> CallableOf(const proto::CallableOptions& options) {
  if (options.tensor_connection_size() > 0) return NotDone("tensor_connection");
  if (options.feed_devices_size() > 0) return NotDone("feed_devices");
  if (options.fetch_devices_size() > 0) return NotDone("fetch_devices");
  NamedCallable callable;
  callable.names.feeds.assign(options.feed().begin(), options.feed().end());
  callable.names.fetches.assign(options.fetch().begin(), options.fetch().end());
  callable.names.targets.assign(options.target().begin(), options.target().end());
  VIGIL_ASSIGN_OR_RETURN(callable.options, FromProto(options.run_options()));
  return callable;
}

std::int64_t Callables::Add(NamedCallable callable) {
  auto kept = std::make_shared<const NamedCallable>(std::move(callable));
  SpinGuard lock(lock_);
  callables_.emplace(++last_, std::move(kept));
  return last_;
}

absl::StatusOr<std::shared_ptr<const NamedCallable>> Callables::Find(std::int64_t handle) const {
  SpinGuard lock(lock_);
  const auto it = callables_.find(handle);
  if (it == callables_.end()) return NoCallable(handle);
  return it->second;
}

absl::Status Callables::Release(std::int64_t handle) {
  SpinGuard lock(lock_);
  return callables_.erase(handle) > 0 ? absl::OkStatus() : NoCallable(handle);
}

}  // namespace vigil

// Everything that happens in a world is one stream of bytes: a tag, then fields of fixed widths, texts with their
// lengths before them, so that no two courses give the same stream. The bytes are gathered in a buffer, since the hash
// is slow on small pieces. Of events only what is the same on every machine counts (Canonical*): no results of floating
// point.
#include "vigil/sim/kernel/running_hash.h"

#define XXH_STATIC_LINKING_ONLY  // the state can be copied
#include <xxhash.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "vigil/core/base/check.h"

namespace vigil::sim {
namespace {

constexpr unsigned char kVersion = 1;
static_assert(std::endian::native == std::endian::little, "Put() must swap bytes here");

// What of `value` is hashed: a tag and an integer.
struct Canonical {
  char tag;
  std::int64_t integer;
};

Canonical CanonicalValue(const Event& event) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (event.kind == EventKind::kSleep) return {'s', Seconds(event.value).count()};
  if (std::abs(event.value) <= kExact && event.value == std::floor(event.value)) {
    return {'i', static_cast<std::int64_t>(event.value)};
  }
  return {'f', 0};
}

// What of the subject is hashed. A serialized Summary holds floating-point results: only that there is one counts.
std::string_view CanonicalSubject(const Event& event) {
  const bool is_summary =
      event.kind == EventKind::kWriterCall && event.call == static_cast<std::uint8_t>(WriterCall::kSummary);
  if (!is_summary) return event.subject;
  return event.subject.empty() ? "" : "summary";
}

}  // namespace

void RunningHash::Free::operator()(XXH64_state_s* state) const { XXH64_freeState(state); }

RunningHash::RunningHash() : state_(XXH64_createState()) {
  VIGIL_CHECK(state_ != nullptr);
  XXH64_reset(state_.get(), kVersion);
  Put(kVersion);
}
RunningHash::RunningHash(RunningHash&&) noexcept = default;
RunningHash& RunningHash::operator=(RunningHash&&) noexcept = default;
RunningHash::~RunningHash() = default;

void RunningHash::AddEvent(const Event& event) {
  Begin('e', 32);
  Put(static_cast<std::uint8_t>(event.kind));
  Put(static_cast<std::uint8_t>(event.code));
  Put(event.call);
  Put(static_cast<std::uint8_t>((event.closed ? 1 : 0) | (event.has_value ? 2 : 0)));
  Put(event.index);
  Put(event.session);
  const Canonical value = CanonicalValue(event);
  Put(value.tag);
  Put(value.integer);
  PutText(CanonicalSubject(event));
}

void RunningHash::AddChoice(std::string_view key, std::string_view label, std::size_t labels) {
  Begin('c', 8);
  Put(static_cast<std::uint64_t>(labels));
  PutText(key);
  PutText(label);
}

void RunningHash::AddMessage(std::uint8_t what, std::uint32_t link, std::uint64_t call) {
  Begin('m', sizeof(what) + sizeof(link) + sizeof(call));
  Put(what);
  Put(link);
  Put(call);
}

void RunningHash::AddLink(std::uint32_t link, std::string_view name) {
  Begin('l', sizeof(link));
  Put(link);
  PutText(name);
}

void RunningHash::AddSwitch(std::uint32_t task) {
  Begin('s', sizeof(task));
  Put(task);
}

void RunningHash::AddTime(Duration now) {
  Begin('t', sizeof(std::int64_t));
  Put(static_cast<std::int64_t>(now.count()));
}

void RunningHash::AddTask(std::uint32_t task, std::string_view label) {
  Begin('n', sizeof(task));
  Put(task);
  PutText(label);
}

std::uint64_t RunningHash::value() const {
  XXH64_state_t copy = *state_;
  XXH64_update(&copy, buffer_.data(), used_);
  return XXH64_digest(&copy);
}

void RunningHash::Begin(char tag, std::size_t size) {
  VIGIL_CHECK(1 + size <= buffer_.size());
  if (used_ + 1 + size > buffer_.size()) {
    XXH64_update(state_.get(), buffer_.data(), used_);
    used_ = 0;
  }
  Put(tag);
}

template <typename Integer>
void RunningHash::Put(Integer value) {
  static_assert(std::is_integral_v<Integer>);
  std::memcpy(buffer_.data() + used_, &value, sizeof(value));
  used_ += sizeof(value);
}

void RunningHash::PutText(std::string_view text) {
  Begin('"', sizeof(std::uint32_t));
  Put(static_cast<std::uint32_t>(text.size()));
  if (text.empty()) return;  // its data may be null
  if (used_ + text.size() <= buffer_.size()) {
    std::memcpy(buffer_.data() + used_, text.data(), text.size());
    used_ += text.size();
    return;
  }
  XXH64_update(state_.get(), buffer_.data(), used_);
  XXH64_update(state_.get(), text.data(), text.size());
  used_ = 0;
}

}  // namespace vigil::sim

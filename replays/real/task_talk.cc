#include "vigil/replays/real/task_talk.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/replays/real/packed_job.h"

namespace vigil::replays {

template <typename Archive>
void PackFields(Archive& archive, TaskOrders& orders) {
  archive(orders.scenario, orders.task, orders.number, orders.cluster, orders.target, orders.checkpoint_dir,
          orders.boot, orders.plant, orders.facts);
}
template <typename Archive>
void PackFields(Archive& archive, TaskWord& word) {
  archive(word.moment, word.facts);
}

namespace {

// What orders and words begin with: another build, or no such program at all, says something else.
constexpr std::uint32_t kMark = 0x6b736174;
constexpr std::uint32_t kMostWordBytes = 1 << 24;

struct Head {
  std::uint32_t mark = kMark;
  std::uint32_t size = 0;
};

std::string Framed(const std::string& body) {
  const Head head{.size = static_cast<std::uint32_t>(body.size())};
  std::string framed(reinterpret_cast<const char*>(&head), sizeof head);
  return framed + body;
}

// The size of what follows; nullopt: not enough bytes yet.
absl::StatusOr<std::optional<std::uint32_t>> SizeIn(std::string_view bytes) {
  Head head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.mark != kMark || head.size > kMostWordBytes)
    return MakeStatus(Code::kInvalidArgument,
                      "what came is not what a task of a job and its player say to one another");
  if (bytes.size() - sizeof head < head.size) return std::nullopt;
  return head.size;
}

}  // namespace

std::string PackOrders(const TaskOrders& orders) { return Framed(Packed(orders)); }

absl::StatusOr<TaskOrders> UnpackOrders(std::string_view bytes) {
  const absl::StatusOr<std::optional<std::uint32_t>> size = SizeIn(bytes);
  if (!size.ok()) return size.status();
  if (!size->has_value() || **size != bytes.size() - sizeof(Head))
    return MakeStatus(Code::kInvalidArgument, "orders that are cut off, or followed by something");
  return Unpacked<TaskOrders>(bytes.substr(sizeof(Head)));
}

std::string PackWord(const TaskWord& word) { return Framed(Packed(word)); }

absl::StatusOr<std::optional<TaskWord>> WordReader::Next() {
  const std::string_view rest = std::string_view(bytes_).substr(at_);
  const absl::StatusOr<std::optional<std::uint32_t>> size = SizeIn(rest);
  if (!size.ok()) return size.status();
  if (!size->has_value()) {
    bytes_.erase(0, std::exchange(at_, 0));
    return std::nullopt;
  }
  at_ += sizeof(Head) + **size;
  return Unpacked<TaskWord>(rest.substr(sizeof(Head), **size));
}

}  // namespace vigil::replays

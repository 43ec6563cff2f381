// How messages travel: latency, order, loss.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/sim/message_log.h"
#include "vigil/sim/network.h"
#include "vigil/sim/node.h"

namespace vigil::sim {
namespace {

// Under "net/<from>><to>/" in the keys of choices.
constexpr std::string_view kNet = "net";
constexpr std::array<std::string_view, 2> kLossLabels = {"arrives", "lost"};
constexpr std::array<std::string_view, 2> kOrderLabels = {"in order", "held up"};
// When the end of a connection that lost something is noticed.
constexpr std::array<std::string_view, 3> kNoticedLabels = {"after 1s", "after 4s", "after 15s"};
constexpr std::array<Duration, 3> kNoticedAfter = {std::chrono::seconds(1), std::chrono::seconds(4),
                                                   std::chrono::seconds(15)};
// A message that is held up takes so many of the largest latencies more.
constexpr int kHeldUp = 4;
constexpr Duration kOwnLatency = std::chrono::microseconds(50);
// Of the range between least and most: short latencies are likelier than long ones.
constexpr std::array<int, 5> kEighths = {0, 1, 2, 4, 8};

LoggedMessage::Kind LoggedKind(Message::Kind kind) {
  switch (kind) {
    case Message::Kind::kRequest:
    case Message::Kind::kDone:
    case Message::Kind::kWake:
      return LoggedMessage::Kind::kRequest;
    case Message::Kind::kReply:
    case Message::Kind::kLost:
      return LoggedMessage::Kind::kReply;
    case Message::Kind::kRefused:
      return LoggedMessage::Kind::kRefusal;
    case Message::Kind::kCancel:
      return LoggedMessage::Kind::kCancel;
    case Message::Kind::kClosed:
      return LoggedMessage::Kind::kClosed;
    case Message::Kind::kReset:
      return LoggedMessage::Kind::kReset;
  }
  return LoggedMessage::Kind::kRequest;
}

}  // namespace

NetworkLink::NetworkLink(NetworkHost& source, NetworkHost& target, std::uint32_t number)
    : from(source), to(target), id(number), name(fmt::format("{}>{}", source.name, target.name)) {}

void NetworkLink::SetSpec(const LinkSpec& wanted) {
  spec = wanted;
  latencies.clear();
  texts.clear();
  labels.clear();
  for (const int eighths : kEighths) {
    const Duration value = spec.least_latency + (spec.most_latency - spec.least_latency) * eighths / 8;
    if (!latencies.empty() && value <= latencies.back()) continue;
    latencies.push_back(value);
    texts.push_back(fmt::format("{}ms", ToSeconds(value) * 1000));
  }
  for (const std::string& text : texts) labels.push_back(text);
}

LinkSpec SimNetwork::SpecOf(const NetworkLink& link) const {
  auto own = specs_.find(link.name);
  if (own == specs_.end()) own = specs_.find(fmt::format("{}>{}", link.from.task, link.to.task));
  if (own == specs_.end() && &link.from == &link.to) {
    return {.least_latency = kOwnLatency, .most_latency = kOwnLatency};
  }
  LinkSpec spec = own == specs_.end() ? default_link_ : own->second;
  if (calm_) spec.loss = spec.duplication = spec.reordering = 0;
  return spec;
}

void SimNetwork::SetLinks(const LinkSpec& default_link, std::map<std::string, LinkSpec> links) {
  default_link_ = default_link;
  specs_ = std::move(links);
  for (NetworkLink& link : links_) link.SetSpec(SpecOf(link));
}

Message& SimNetwork::NewMessage(Message::Kind kind, NetworkLink& link, OutgoingCall* call) {
  if (free_messages_.empty()) {
    Message& made = messages_.emplace_back();
    made.network = this;
    made.fire = [](Timer& timer) {
      Message& message = static_cast<Message&>(timer);
      message.network->Deliver(message);
    };
    free_messages_.push_back(&made);
  }
  Message& message = *free_messages_.back();
  free_messages_.pop_back();
  message.free = false;
  message.kind = kind;
  message.second = false;
  message.logged = 0;
  message.listener = 0;
  message.life = 0;
  message.link = &link;
  message.call = call;
  if (call != nullptr) {
    ++call->references;
    message.epoch = call->epoch;
  }
  return message;
}

void SimNetwork::Free(Message& message) {
  message.free = true;
  message.fault = nullptr;
  message.reply.reset();
  message.checksum.reset();
  if (OutgoingCall* const call = std::exchange(message.call, nullptr)) Unreference(*call);
  if (Serving* const serving = std::exchange(message.serving, nullptr)) Unreference(*serving);
  free_messages_.push_back(&message);
}

Duration SimNetwork::ArrivalOn(NetworkLink& link, std::size_t bytes) {
  std::size_t drawn = 0;
  if (link.labels.size() > 1) {
    if (link.latency == nullptr) link.latency = &choices_.KeyOf(kNet, link.name, "latency");
    drawn = choices_.Choose(*link.latency, link.labels);
    if (drawn != 0) ++counts_.late;
  }
  Duration arrival = scheduler_.now() + link.latencies[drawn];
  if (link.spec.bytes_per_s > 0) {
    const Duration takes = Seconds(static_cast<double>(bytes) / link.spec.bytes_per_s);
    const Duration begins = std::max(link.busy_until, scheduler_.now());
    link.busy_until = begins + takes;
    if (link.busy_until > scheduler_.now()) ++counts_.throttled;
    arrival += link.busy_until - scheduler_.now();
  }
  for (LinkTrouble* const trouble : link.troubles) {
    if (trouble->kind != LinkTrouble::Kind::kSlow) continue;
    arrival += trouble->by;
    ++trouble->effects;
  }
  if (link.spec.reordering > 0) {
    if (link.reordering == nullptr) link.reordering = &choices_.KeyOf(kNet, link.name, "order");
    if (choices_.ChooseByChance(*link.reordering, link.spec.reordering, kOrderLabels)) {
      ++counts_.reordered;
      return arrival + link.spec.most_latency * kHeldUp;
    }
  }
  link.last_arrival = std::max(link.last_arrival, arrival);
  return link.last_arrival;
}

bool SimNetwork::LostOn(NetworkLink& link) {
  if (link.spec.loss <= 0) return false;
  if (link.loss == nullptr) link.loss = &choices_.KeyOf(kNet, link.name, "loss");
  return choices_.ChooseByChance(*link.loss, link.spec.loss, kLossLabels);
}

bool Message::OfCourse() const {
  const bool made = kind == Kind::kRequest || kind == Kind::kReply || kind == Kind::kCancel || kind == Kind::kRefused;
  return made && &link->from != &link->to;
}

void SimNetwork::Send(Message& message, std::size_t bytes, Duration extra) {
  NetworkLink& link = *message.link;
  // Refused here is what gets lost on its way.
  const bool request = message.kind == Message::Kind::kRequest || message.kind == Message::Kind::kRefused;
  const std::string_view method = message.call == nullptr ? std::string_view() : message.call->request.method;
  const bool of_course = message.OfCourse();
  SendOn(link, message, bytes, extra);
  if (of_course) course_.Sent(link.from.name, link.to.name, method, request && !message.second);
}

void SimNetwork::SendOn(NetworkLink& link, Message& message, std::size_t bytes, Duration extra) {
  ++counts_.sent;
  Touch("link", link.name, Access::kWrite);
  if (log_ != nullptr) LogSent(message);
  const bool may_be_lost = message.kind == Message::Kind::kRequest || message.kind == Message::Kind::kReply;
  if (may_be_lost && LostOn(link)) {
    ++counts_.lost;
    if (link.loss_noticed == nullptr) link.loss_noticed = &choices_.KeyOf(kNet, link.name, "noticed");
    const std::size_t noticed = choices_.Choose(*link.loss_noticed, kNoticedLabels);
    message.kind = Message::Kind::kLost;
    message.logged = 0;  // it never arrives
    message.reply.emplace(absl::UnavailableError("Connection timed out"));
    message.call->hangs = true;
    SendAt(message, scheduler_.now() + kNoticedAfter[noticed]);
    return;
  }
  // What is delayed on purpose is overtaken: it does not hold up the others.
  const Duration last = link.last_arrival;
  Duration arrival = ArrivalOn(link, bytes) + extra;
  // Nor is what is held up or delayed served when nobody could tell its handler any more that its caller is gone.
  if (message.kind == Message::Kind::kClosed) arrival = std::max(arrival, link.last_of_all);
  link.last_of_all = std::max(link.last_of_all, arrival);
  if (extra > Duration::zero()) link.last_arrival = last;
  SendAt(message, arrival);
}

void SimNetwork::LogSent(Message& message) {
  const NetworkLink& link = *message.link;
  message.logged = 0;
  if (&link.from == &link.to) return;
  if (log_->messages.size() >= log_->most) {
    ++log_->left_out;
    return;
  }
  LoggedMessage& logged = log_->messages.emplace_back();
  logged.kind = LoggedKind(message.kind);
  logged.from = link.from.name;
  logged.to = link.to.name;
  logged.sent = scheduler_.now();
  if (message.call != nullptr) {
    logged.method = message.call->request.method;
    logged.call = message.call->number;
  }
  message.logged = static_cast<std::uint32_t>(log_->messages.size());
}

void SimNetwork::LogArrived(const Message& message) {
  if (log_ != nullptr) log_->messages[message.logged - 1].arrived = scheduler_.now();
}

void SimNetwork::SendAt(Message& message, Duration at) {
  scheduler_.SetTimer(message, at);
  if (scheduler_.steps() == nullptr) return;
  const NetworkLink& link = *message.link;
  const NetworkHost& receiver = message.kind == Message::Kind::kDone ? link.from : link.to;
  scheduler_.TouchTimers(NamedObject("memory", receiver.name), at, Access::kWrite);
}

}  // namespace vigil::sim

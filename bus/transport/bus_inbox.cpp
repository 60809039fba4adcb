#include "bus/transport/bus_inbox.h"

#include <cstdlib>
#include <utility>
#include <vector>

namespace league::transport::bus {

std::shared_ptr<BusInbox> BusInbox::make(Bus& bus, const link::BusSession& session,
                                         core::RandomSource& random) {
  return std::shared_ptr<BusInbox>(new BusInbox(bus, session, random));
}

BusInbox::BusInbox(Bus& bus, const link::BusSession& session, core::RandomSource& random)
    : bus_(bus),
      session_(session),
      random_(random),
      stem_(link::BusSession::make(random).str() + "-") {}

BusInbox::~BusInbox() = default;

std::size_t BusInbox::lane_of(std::string_view name) {
  // A call that could not be added has no reply subject, so publishing it is refused.
  return name.empty() ? 0 : static_cast<unsigned char>(name.back()) % kLanes;
}

std::string BusInbox::subject(const std::string& name, std::uint64_t request) const {
  return link::session_inbox(
      session_, stem_ + std::to_string(lane_of(name)) + "." + name + "." + std::to_string(request));
}

core::Result<std::string> BusInbox::add(Owner owner) {
  std::string name = link::BusSession::make(random_).str();
  auto listening = listen(lane_of(name));
  if (listening && owner.peer) listening = listen_for_peers();
  if (!listening) return listening.error();
  std::lock_guard lock(mutex_);
  owners_.emplace(name, std::make_shared<const Owner>(std::move(owner)));
  return name;
}

void BusInbox::remove(const std::string& name) {
  std::shared_ptr<const Owner> removed;  // destroyed without the lock
  std::lock_guard lock(mutex_);
  auto found = owners_.find(name);
  if (found == owners_.end()) return;
  removed = std::move(found->second);
  owners_.erase(found);
}

core::Result<void> BusInbox::listen(std::size_t lane) {
  {
    std::lock_guard lock(mutex_);
    if (lanes_[lane]) return {};
  }
  auto heard = bus_.subscribe(link::session_inbox(session_, stem_ + std::to_string(lane) + ".*.*"),
                              "", [weak = weak_from_this()](BusMessage message) {
                                if (auto self = weak.lock()) self->on_message(std::move(message));
                              });
  if (!heard) return heard.error();
  auto state = bus_.watch([weak = weak_from_this()](bool is_connected) {
    auto self = weak.lock();
    if (self && is_connected) self->tell_back(std::nullopt);
  });
  std::lock_guard lock(mutex_);
  // If two threads race, the later subscription is discarded and destroyed after the lock is
  // released: `heard` and `state` are declared before it.
  if (!lanes_[lane]) lanes_[lane].swap(*heard);
  if (!state_) state_.swap(state);
  return {};
}

core::Result<void> BusInbox::listen_for_peers() {
  {
    std::lock_guard lock(mutex_);
    if (attached_) return {};
  }
  auto heard = bus_.subscribe(std::string(link::kSessionsAttached), "",
                              [weak = weak_from_this()](const BusMessage& message) {
                                auto peer = link::session_of_attached(message.subject);
                                auto self = weak.lock();
                                if (self && peer) self->tell_back(peer);
                              });
  if (!heard) return heard.error();
  std::lock_guard lock(mutex_);
  if (!attached_) attached_.swap(*heard);
  return {};
}

void BusInbox::on_message(BusMessage message) {
  std::string_view subject = message.subject;
  auto number_at = subject.rfind('.') + 1;
  auto name_at = subject.rfind('.', number_at - 2) + 1;
  auto request = std::strtoull(message.subject.c_str() + number_at, nullptr, 10);
  std::shared_ptr<const Owner> owner;
  {
    std::lock_guard lock(mutex_);
    auto found = owners_.find(std::string(subject.substr(name_at, number_at - 1 - name_at)));
    if (found == owners_.end()) return;  // the connection has ended
    owner = found->second;
  }
  owner->on_answer(std::move(message), request);
}

void BusInbox::tell_back(const std::optional<link::BusSession>& peer) {
  std::vector<std::shared_ptr<const Owner>> owners;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [name, owner] : owners_) {
      if (!peer || owner->peer == peer) owners.push_back(owner);
    }
  }
  for (const auto& owner : owners) owner->on_back();
}

}  // namespace league::transport::bus

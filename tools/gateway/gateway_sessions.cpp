#include "tools/gateway/gateway_sessions.h"

#include <algorithm>

#include "common/core/crypto.h"

namespace league::tools::gateway {

GatewaySessions::Opened GatewaySessions::open(core::RandomSource& random) {
  Opened opened;
  opened.id = core::to_hex(random.bytes<16>());
  std::lock_guard lock(mutex_);
  if (sessions_.size() >= max_sessions_) {
    auto idle = std::find_if(sessions_.begin(), sessions_.end(),
                             [](const auto& session) { return session.second == nullptr; });
    if (idle != sessions_.end()) {
      opened.forgotten = idle->first;
      sessions_.erase(idle);
    }
  }
  sessions_.emplace(opened.id, nullptr);
  return opened;
}

bool GatewaySessions::is_known(const std::string& id) const {
  std::lock_guard lock(mutex_);
  return sessions_.contains(id);
}

bool GatewaySessions::end(const std::string& id) {
  std::shared_ptr<transport::link::PeerChannel> channel;
  {
    std::lock_guard lock(mutex_);
    auto found = sessions_.find(id);
    if (found == sessions_.end()) return false;
    channel = std::move(found->second);
    sessions_.erase(found);
  }
  if (channel) channel->close();
  return true;
}

bool GatewaySessions::attach(const std::string& id,
                             const std::shared_ptr<transport::link::PeerChannel>& channel) {
  std::lock_guard lock(mutex_);
  auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second) return false;
  found->second = channel;
  return true;
}

bool GatewaySessions::has_channel(const std::string& id) const {
  std::lock_guard lock(mutex_);
  auto found = sessions_.find(id);
  return found != sessions_.end() && found->second != nullptr;
}

void GatewaySessions::note_connection(
    const std::shared_ptr<transport::link::PeerChannel>& channel) {
  std::lock_guard lock(mutex_);
  connections_.emplace(channel->id(), channel);
}

void GatewaySessions::forget_channel(const std::string& channel_id) {
  std::lock_guard lock(mutex_);
  connections_.erase(channel_id);
  for (auto& [id, channel] : sessions_) {
    if (channel && channel->id() == channel_id) channel = nullptr;
  }
}

std::shared_ptr<transport::link::PeerChannel> GatewaySessions::channel_of(
    const std::string& owner) const {
  std::lock_guard lock(mutex_);
  if (auto session = sessions_.find(owner); session != sessions_.end()) return session->second;
  auto connection = connections_.find(owner);
  return connection == connections_.end() ? nullptr : connection->second;
}

}  // namespace league::tools::gateway

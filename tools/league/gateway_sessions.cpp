#include "tools/league/gateway_sessions.h"

#include <algorithm>

#include "common/core/crypto.h"

namespace league::tools {

std::string GatewaySessions::open(core::RandomSource& random) {
  std::string id = core::to_hex(random.bytes<16>());
  std::lock_guard lock(mutex_);
  if (sessions_.size() >= max_sessions_) {
    auto idle = std::find_if(sessions_.begin(), sessions_.end(),
                             [](const auto& session) { return session.second == nullptr; });
    if (idle != sessions_.end()) sessions_.erase(idle);
  }
  sessions_.emplace(id, nullptr);
  return id;
}

bool GatewaySessions::is_known(const std::string& id) const {
  std::lock_guard lock(mutex_);
  return sessions_.contains(id);
}

bool GatewaySessions::end(const std::string& id) {
  std::shared_ptr<transport::PeerChannel> channel;
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
                             const std::shared_ptr<transport::PeerChannel>& channel) {
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

void GatewaySessions::note_connection(const std::shared_ptr<transport::PeerChannel>& channel) {
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

std::vector<std::shared_ptr<transport::PeerChannel>> GatewaySessions::channels() const {
  std::vector<std::shared_ptr<transport::PeerChannel>> found;
  std::lock_guard lock(mutex_);
  for (const auto& [id, channel] : sessions_) {
    if (channel) found.push_back(channel);
  }
  for (const auto& [id, channel] : connections_) found.push_back(channel);
  return found;
}

}  // namespace league::tools

#include "common/transport/stream/broadcast.h"

#include <vector>

namespace league::transport {

void Broadcast::add(std::shared_ptr<PeerChannel> channel) {
  std::string id = channel->id();
  std::lock_guard lock(mutex_);
  channels_.insert_or_assign(std::move(id), std::move(channel));
}

void Broadcast::remove(const PeerChannel& channel) {
  std::shared_ptr<PeerChannel> gone;  // let go after the lock
  std::lock_guard lock(mutex_);
  if (auto found = channels_.find(channel.id()); found != channels_.end()) {
    gone = std::move(found->second);
    channels_.erase(found);
  }
}

std::size_t Broadcast::push(const std::shared_ptr<const std::string>& bytes) {
  std::vector<std::shared_ptr<PeerChannel>> all;
  {
    std::lock_guard lock(mutex_);
    all.reserve(channels_.size());
    for (const auto& [id, channel] : channels_) all.push_back(channel);
  }
  std::size_t count = 0;
  for (const auto& channel : all) {
    if (channel->push(bytes)) {
      ++count;
    } else {
      remove(*channel);
    }
  }
  return count;
}

std::size_t Broadcast::size() const {
  std::lock_guard lock(mutex_);
  return channels_.size();
}

}  // namespace league::transport

#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "common/transport/message_handler.h"

namespace league::transport {

/// Channels that are told the same: spectators. The bytes are shared by all of them, whatever their
/// number. Thread-safe.
class Broadcast {
 public:
  void add(std::shared_ptr<PeerChannel> channel);
  /// For on_channel_closed; one that is not there is passed over.
  void remove(const PeerChannel& channel);
  /// Hands `bytes` to every channel and forgets those that are gone. Returns how many took them.
  std::size_t push(const std::shared_ptr<const std::string>& bytes);
  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex mutex_;  // never held while channels are called
  std::unordered_map<std::string, std::shared_ptr<PeerChannel>> channels_;
};

}  // namespace league::transport

#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "common/core/random_source.h"
#include "common/transport/link/message_handler.h"

namespace league::tools::gateway {

/// The sessions of a gateway's clients, and the stream of each. Thread-safe.
class GatewaySessions {
 public:
  explicit GatewaySessions(std::size_t max_sessions = 10'000) : max_sessions_(max_sessions) {}

  struct Opened {
    std::string id;
    std::string forgotten;  ///< the id of a session that made room; empty: none
  };
  /// A new session: its id is 128 random bits in hexadecimal. If there are too many, one without a
  /// stream is dropped.
  [[nodiscard]] Opened open(core::RandomSource& random);
  [[nodiscard]] bool is_known(const std::string& id) const;
  /// False if there is no such session.
  bool end(const std::string& id);

  /// The client opens a stream to listen; false if it already has one, or there is no such session.
  [[nodiscard]] bool attach(const std::string& id,
                            const std::shared_ptr<transport::link::PeerChannel>& channel);
  [[nodiscard]] bool has_channel(const std::string& id) const;
  /// Registers a bidirectional connection, which needs no session: it can receive messages from the
  /// start.
  void note_connection(const std::shared_ptr<transport::link::PeerChannel>& channel);
  void forget_channel(const std::string& channel_id);

  /// The channel on which this session or connection receives messages; null: none.
  [[nodiscard]] std::shared_ptr<transport::link::PeerChannel> channel_of(
      const std::string& owner) const;

 private:
  const std::size_t max_sessions_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<transport::link::PeerChannel>> sessions_;
  std::unordered_map<std::string, std::shared_ptr<transport::link::PeerChannel>> connections_;
};

}  // namespace league::tools::gateway

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/agent/peers/circuit_breaker.h"
#include "common/agent/peers/peer_client.h"
#include "common/agent/runtime/settings.h"
#include "common/audit/record/log_chain.h"

namespace league::league_manager::rounds {

/// A message to one peer that needs no answer but an acknowledgement.
struct Notice {
  agent::peers::PeerCall call;  ///< its time limit and budget are set by the broadcaster
  /// Runs once: the peer has taken it, has failed, or the notice was dropped for a newer one or an
  /// open breaker.
  std::function<void()> done;
  /// Runs before `done` if the peer's acknowledgement names the end of its own log; may be empty.
  std::function<void(const audit::record::LogHead&)> on_head = {};
};

/// `log_head` of an acknowledgement: the newest seal of the peer's log. Nothing if there is none,
/// or if it is malformed. Source: protocol §8.
[[nodiscard]] std::optional<audit::record::LogHead> head_told_in(
    const nlohmann::json& acknowledgement);

/// Sends broadcasts: to each peer one at a time, in order, and to a limited number of peers at
/// once. A waiting standings update is replaced by a newer one; the circuit breaker skips a peer
/// that keeps failing, except for messages about its own state. Thread-safe. Source: protocol §4
/// message 12, §6.
class Broadcaster {
 public:
  /// All references outlive the broadcaster and its last call.
  Broadcaster(agent::peers::PeerClient& peers, const core::Clock& clock,
              const agent::runtime::Settings& settings);

  void send(Notice notice);
  /// Drops waiting messages; running calls end by themselves.
  void stop();

 private:
  struct Outbox {
    std::deque<Notice> waiting;
    bool in_flight = false;
    bool is_ready = false;  ///< is in ready_
  };

  /// Starts messages that may start; called without the lock.
  void pump();
  void on_sent(const std::string& peer);
  [[nodiscard]] std::chrono::milliseconds time_limit(envelope::MessageType type) const;

  agent::peers::PeerClient& peers_;
  const agent::runtime::Settings& settings_;
  agent::peers::CircuitBreaker breaker_;
  std::mutex mutex_;
  std::map<std::string, Outbox> outboxes_;
  std::deque<std::string> ready_;  // peers with something waiting and nothing in flight
  int in_flight_ = 0;
  bool is_stopped_ = false;
};

}  // namespace league::league_manager::rounds

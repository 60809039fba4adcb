#pragma once

#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/agent/peers/circuit_breaker.h"
#include "common/agent/peers/peer_client.h"
#include "common/agent/runtime/settings.h"
#include "common/audit/record/log_chain.h"
#include "common/task/latch.h"
#include "league_manager/core/league.h"

namespace league::league_manager::rounds {

/// How far one announcement has come. Used on the executor of the rounds.
struct Delivery {
  /// The messages that nobody has taken yet: of which it is not known that the recipient has taken
  /// it or could not be reached.
  task::Latch open;
  /// The ends of their logs that agents have told in their acknowledgements.
  LogHeads heads = {};
};

/// A message to one peer that needs no answer but an acknowledgement.
struct Notice {
  agent::peers::PeerCall call;  ///< its time limit and budget are set by the broadcaster
  events::AgentRef agent;  ///< that is called
  /// Counted down once: the peer has taken it, has failed, or the notice was dropped for a newer
  /// one or an open breaker. May be null.
  std::shared_ptr<Delivery> delivery = nullptr;
  bool takes_batches = false;  ///< the peer takes several messages in one batch
  bool collects_heads = false;  ///< whether `delivery` gets the end of the log that the peer tells
};

/// `log_head` of an acknowledgement: the newest seal of the peer's log. Nothing if there is none,
/// or if it is malformed. Source: protocol §8.
[[nodiscard]] std::optional<audit::record::LogHead> head_told_in(
    const nlohmann::json& acknowledgement);

/// Sends broadcasts: to each peer one at a time, in order, or what is waiting for it in one batch
/// if it takes batches; and to a limited number of peers at once. A waiting standings update is
/// replaced by a newer one; the circuit breaker skips a peer that keeps failing, except for
/// messages about its own state. Used on its executor only. Source: protocol §4 message 12, §6.
class Broadcaster {
 public:
  /// All references outlive the broadcaster.
  Broadcaster(agent::peers::PeerClient& peers, const core::Clock& clock,
              const agent::runtime::Settings& settings, task::Executor executor);

  void send(Notice notice);
  /// Sends nothing more, and waits for no running call. On any thread.
  void stop() { tasks_.stop(); }

 private:
  struct Outbox {
    std::deque<Notice> waiting;
    bool is_served = false;  ///< waits in ready_ or is being called
  };

  /// Sends what is ready, to one peer at a time, until nothing is.
  task::Task<void> work();
  /// What is sent next.
  static std::vector<Notice> take(Outbox& outbox);
  /// Tells one peer `notices`, and waits for its answers.
  task::Task<void> deliver(std::vector<Notice> notices);
  [[nodiscard]] std::chrono::milliseconds time_limit(envelope::MessageType type) const;

  agent::peers::PeerClient& peers_;
  const agent::runtime::Settings& settings_;
  agent::peers::CircuitBreaker breaker_;
  std::map<std::string, Outbox> outboxes_;  // by peer
  std::deque<Outbox*> ready_;  // with something waiting, while nobody calls their peers
  int workers_ = 0;
  task::Scope tasks_;
};

}  // namespace league::league_manager::rounds

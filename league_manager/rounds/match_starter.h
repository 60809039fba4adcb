#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/agent/peers/peer_client.h"
#include "common/core/auth_token.h"
#include "common/envelope/envelope.h"
#include "common/task/task.h"

namespace league::league_manager::rounds {

/// Adds to each of `assignments` (the `matches` of a ROUND_ANNOUNCEMENT to a referee) its players
/// and addresses under all names by which third-party referees know them. Pure.
void add_spellings(nlohmann::json& assignments);

/// Starts matches at third-party referees that do not know ROUND_ANNOUNCEMENT: tries the calls that
/// such referees are known to accept, one after the other, and remembers for each address which one
/// worked, or that none did. Used on one executor only.
class MatchStarter {
 public:
  /// `peers` and `envelopes` outlive the starter.
  MatchStarter(agent::peers::PeerClient& peers, const envelope::EnvelopeBuilder& envelopes,
               std::chrono::milliseconds time_limit);

  /// One match for one referee.
  struct Order {
    transport::link::Endpoint referee;
    std::string peer;  ///< `referee:REF01`, for the log
    core::AuthToken token;  ///< the referee's own
    int round = 1;
    nlohmann::json match;  ///< an assignment with all spellings
  };
  /// No error: the referee has taken the match. kUnknownMessageType: it knows none of the calls.
  /// Any other error is as in PeerReply; a retryable error does not mean that the referee has
  /// refused.
  [[nodiscard]] task::Task<std::optional<core::Error>> start(Order order);

  /// Whether a call other than ROUND_ANNOUNCEMENT has started a match at this referee.
  [[nodiscard]] bool is_known(const transport::link::Endpoint& referee) const;
  /// The call that this referee acknowledged has started nothing: the next match is started by
  /// another one.
  void doubt(const transport::link::Endpoint& referee);
  /// The referee has registered again, perhaps as another program.
  void forget(const transport::link::Endpoint& referee);

 private:
  /// Calls the referee in the way with this index.
  [[nodiscard]] task::Task<core::Result<nlohmann::json>> call(const Order& order,
                                                              std::size_t way) const;

  struct Known {
    std::size_t way = 0;  ///< index of the call that worked; 0 if none did
    bool is_hopeless = false;
  };
  agent::peers::PeerClient& peers_;
  const envelope::EnvelopeBuilder& envelopes_;
  const std::chrono::milliseconds time_limit_;
  std::unordered_map<std::string, Known> known_;  // by address
};

}  // namespace league::league_manager::rounds

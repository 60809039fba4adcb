#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/agent/peers/peer_client.h"
#include "common/core/auth_token.h"
#include "common/envelope/envelope.h"

namespace league::league_manager::rounds {

/// Adds to each of `assignments` (the `matches` of a ROUND_ANNOUNCEMENT to a referee) its players
/// and addresses under all names by which third-party referees know them. Pure.
void add_spellings(nlohmann::json& assignments);

/// Starts matches at third-party referees that do not know ROUND_ANNOUNCEMENT: tries the calls that
/// such referees are known to accept, one after the other, and remembers for each address which one
/// worked, or that none did.
class MatchStarter {
 public:
  /// No error: the referee has taken the match. kUnknownMessageType: it knows none of the calls.
  /// Any other error is as in PeerReply; a retryable error does not mean that the referee has
  /// refused.
  using Completion = std::function<void(const std::optional<core::Error>&)>;

  /// `peers` and `envelopes` outlive the starter and its last completion.
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
  void start(Order order, Completion completion);

  /// Whether a call other than ROUND_ANNOUNCEMENT has started a match at this referee.
  [[nodiscard]] bool is_known(const transport::link::Endpoint& referee) const;
  /// The call that this referee acknowledged has started nothing: the next match is started by
  /// another one.
  void doubt(const transport::link::Endpoint& referee);
  /// The referee has registered again, perhaps as another program.
  void forget(const transport::link::Endpoint& referee);

 private:
  struct Attempt;
  void call(const std::shared_ptr<Attempt>& attempt);
  [[nodiscard]] std::string arguments_for(const Order& order, std::string_view type) const;

  struct Known {
    std::size_t way = 0;  ///< index of the call that worked; 0 if none did
    bool is_hopeless = false;
  };
  agent::peers::PeerClient& peers_;
  const envelope::EnvelopeBuilder& envelopes_;
  const std::chrono::milliseconds time_limit_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Known> known_;  // by address
};

}  // namespace league::league_manager::rounds

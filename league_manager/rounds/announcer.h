#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "common/agent/peers/peer_client.h"
#include "common/agent/runtime/delay_meter.h"
#include "common/agent/runtime/settings.h"
#include "common/audit/record/log_chain.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/envelope/envelope.h"
#include "common/envelope/round_messages.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/bus/event_board.h"
#include "league_manager/files/ledger.h"
#include "league_manager/rounds/broadcaster.h"

namespace league::league_manager::rounds {

class OperatorLog;

/// The dependencies of a LeagueRunner and its Announcer; all references outlive them and their last
/// call.
struct RoundDependencies {
  files::Ledger& ledger;
  const admission::TokenIssuer& token_issuer;
  agent::peers::PeerClient& peers;
  core::Timer& timer;
  const core::Clock& clock;
  core::RandomSource& random;
  const agent::runtime::Settings& settings;
  const envelope::EnvelopeBuilder& envelopes;
  /// False while no new match may start (the log's disk is nearly full); may be empty.
  std::function<bool()> may_start = {};
  /// The newest head of the manager's log that is sealed and on the disk, for broadcasts to carry;
  /// may be empty.
  std::function<std::optional<audit::record::LogHead>()> log_head = {};
  /// Seals the log up to now, which may take some milliseconds: for the last broadcast of a league.
  std::function<void()> seal_log = {};
  /// Puts the keys of all receipts into the log and seals it, once everybody has the result; may be
  /// empty.
  std::function<void()> publish_receipt_keys = {};
  /// The signed result of the completed league; may be empty.
  std::function<std::optional<envelope::Attestation>()> attest = {};
  /// This manager's term, where managers stand by for each other: it is part of every assignment
  /// and broadcast.
  std::optional<int> term = std::nullopt;
  /// Publishes broadcasts once for all subscribers; null: every agent is called.
  bus::EventBoard* events = nullptr;
  /// Receives facts that no event contains; may be null.
  OperatorLog* log = nullptr;
  /// Measures how late the manager itself is; null: it is assumed to be punctual.
  agent::runtime::DelayMeter* delays = nullptr;
};

/// Sends broadcasts about the league: renders each once from the league's current state, publishes
/// it once, signed, if there is a board, and sends it to all agents that do not listen there and
/// are not shut down. Thread-safe. Source: protocol §4, messages 5 and 12 to 14, and §8.
class Announcer {
 public:
  explicit Announcer(const RoundDependencies& dependencies);

  /// Announces the matches of `round` to the players. `then` runs once, perhaps before this
  /// returns: when every player has taken the announcement or could not be reached, or when
  /// Settings::League::announcement_grace is over. `delivered` runs once, perhaps later: when every
  /// player has taken it or could not be reached.
  void announce_round(int round, std::function<void()> then, std::function<void()> delivered);
  /// Tells the players of `matches`, which belong to the current round, that the kind of their
  /// referee has changed. `then` as in announce_round.
  void announce_again(const std::vector<events::MatchKey>& matches, std::function<void()> then);
  /// Gets the ends of the logs that agents have told in their acknowledgements.
  using WithHeads = std::function<void(const LogHeads&)>;
  /// Sends the table to the players, then the round's summary to everybody; `delivered` as in
  /// announce_round.
  void round_completed(int round, WithHeads delivered);
  /// Sends champion and final table to everybody, with the result signed by the league's key.
  /// `then` runs once: when every agent has taken the message or could not be reached, or when its
  /// time limit is over.
  void league_completed(WithHeads then);
  /// Tells an agent its new state, with best effort, even if it is shut down.
  void tell_state(const events::AgentStateChanged& change);
  /// Tells a player that its receipts for `match` are missing or false, with best effort.
  void tell_receipts(events::AgentRef player, events::MatchKey match, events::ReceiptState state);
  /// Drops waiting messages; running calls end by themselves.
  void stop();

 private:
  /// Sends `notice` to one agent, with best effort.
  void tell(events::AgentRef agent, const core::ConversationId& conversation,
            const envelope::LeagueError& notice);
  struct AddressedPlayer {
    events::AgentRef agent;
    transport::link::Endpoint endpoint;
    core::AuthToken token;
  };

  /// The agents to call for a broadcast, with address and own token; with `hearers` also those that
  /// listen to published events.
  [[nodiscard]] std::vector<AddressedPlayer> recipients(bool players, bool referees,
                                                        bool hearers = false) const;
  [[nodiscard]] bool hears_board(const events::AgentProfile& profile) const;
  /// The rows of one array of a message that differ from recipient to recipient. The array is empty
  /// in the message that is rendered once for all; each copy gets its own rows.
  struct OwnRows {
    std::string_view array;  ///< `matches`
    std::function<std::string(events::AgentRef)>
        of;  ///< JSON text of the recipient's rows, with commas
  };
  class CollectedHeads;
  /// Renders `message` once and sends it to each of `to`, with the recipient's own token and, where
  /// there are `rows`, its own rows spliced in. `heads`: gets what the acknowledgements say of the
  /// agents' logs; may be null.
  template <typename Message>
  void broadcast(const Message& message, std::optional<int> round,
                 const std::vector<AddressedPlayer>& to, const std::function<void()>& done_one,
                 const OwnRows& rows = {}, const std::shared_ptr<CollectedHeads>& heads = nullptr);
  /// Renders `message` without a token, signed, and publishes it where there is a board.
  template <typename Message>
  void publish(const Message& message, std::optional<int> round, std::function<void()> done);
  /// The number of times that `publish` will run `done` for one message.
  [[nodiscard]] std::size_t publications() const { return deps_.events != nullptr ? 1 : 0; }
  template <typename Message>
  [[nodiscard]] envelope::Envelope envelope_for(std::optional<int> round,
                                                std::optional<core::AuthToken> token) const;
  /// Encodes the message with the fields about the manager that every broadcast contains.
  template <typename Message>
  [[nodiscard]] nlohmann::json render(const envelope::Envelope& envelope,
                                      const Message& message) const;
  void send_standings(int round, const std::vector<AddressedPlayer>& players,
                      const std::function<void()>& done_one);

  const RoundDependencies deps_;
  const core::SigningKey key_;  ///< signs what is published
  Broadcaster broadcaster_;
};

}  // namespace league::league_manager::rounds

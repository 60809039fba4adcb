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
#include "league_manager/admission/seat_calls.h"
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
  /// The origin at which a referee reaches the seats of players that come to us, given the one
  /// under which it reached the manager: `http://localhost:8000`. Empty: there are no seats.
  std::function<std::string(const std::string& manager_url)> seats_at = {};
  /// When players at their seats were called; null: there are no seats.
  const admission::SeatCalls* seat_calls = nullptr;
  /// Receives facts that no event contains; may be null.
  OperatorLog* log = nullptr;
  /// Measures how late the manager itself is; null: it is assumed to be punctual.
  agent::runtime::DelayMeter* delays = nullptr;
  /// Where everything that waits runs.
  task::Executor executor = {};
};

/// Sends broadcasts about the league: renders each once from the league's current state, publishes
/// it once, signed, if there is a board, and sends it to all agents that do not listen there and
/// are not shut down. Used on its executor only. Source: protocol §4, messages 5 and 12 to 14, and
/// §8.
class Announcer {
 public:
  explicit Announcer(const RoundDependencies& dependencies);

  /// What of an announcement is still to be delivered; null if there is nobody to be told.
  using Told = std::shared_ptr<Delivery>;
  /// Announces the matches of `round` to the players.
  [[nodiscard]] Told announce_round(int round);
  /// Tells the players of `matches`, which belong to the current round, that the kind of their
  /// referee has changed.
  [[nodiscard]] Told announce_again(const std::vector<events::MatchKey>& matches);
  /// Waits until everybody has taken an announcement or could not be reached, or until
  /// Settings::League::announcement_grace is over.
  [[nodiscard]] task::Task<void> wait_a_while(Told told) const;
  /// Sends the table to the players, then the round's summary to everybody.
  [[nodiscard]] Told round_completed(int round);
  /// Sends champion and final table to everybody, with the result signed by the league's key.
  [[nodiscard]] Told league_completed();
  /// Tells an agent its new state, with best effort, even if it is shut down.
  void tell_state(const events::AgentStateChanged& change);
  /// Tells a player that its receipts for `match` are missing or false, with best effort.
  void tell_receipts(events::AgentRef player, events::MatchKey match, events::ReceiptState state);
  /// Drops waiting messages, and waits for no running call. On any thread.
  void stop();

 private:
  /// Sends `notice` to one agent, with best effort.
  void tell(events::AgentRef agent, const core::ConversationId& conversation,
            const envelope::LeagueError& notice);
  struct AddressedPlayer {
    events::AgentRef agent;
    transport::link::Endpoint endpoint;
    core::AuthToken token;
    bool takes_batches = false;
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
  /// What is to be delivered: `messages`, and each of `publications` where there is a board; null
  /// if that is nothing.
  [[nodiscard]] Told delivery_of(std::size_t messages, std::size_t publications) const;
  /// Renders `message` once and sends it to each of `to`, with the recipient's own token and, where
  /// there are `rows`, its own rows spliced in.
  template <typename Message>
  void broadcast(const Message& message, std::optional<int> round,
                 const std::vector<AddressedPlayer>& to, const Told& told,
                 const OwnRows& rows = {});
  /// Renders `message` without a token, signed, and publishes it where there is a board.
  template <typename Message>
  void publish(const Message& message, std::optional<int> round, const Told& told);
  template <typename Message>
  [[nodiscard]] envelope::Envelope envelope_for(std::optional<int> round,
                                                std::optional<core::AuthToken> token) const;
  /// Encodes the message with the fields about the manager that every broadcast contains.
  template <typename Message>
  [[nodiscard]] nlohmann::json render(const envelope::Envelope& envelope,
                                      const Message& message) const;
  void send_standings(int round, const std::vector<AddressedPlayer>& players, const Told& told);

  const RoundDependencies deps_;
  const core::SigningKey key_;  ///< signs what is published
  Broadcaster broadcaster_;
};

}  // namespace league::league_manager::rounds

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/agent/peers/peer_client.h"
#include "common/agent/runtime/settings.h"
#include "common/core/auth_token.h"
#include "common/core/ids.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/envelope/envelope.h"
#include "common/task/task.h"

namespace league::agent::identity {

/// The identity of an agent that the league manager has accepted.
struct Identity {
  std::string id;  ///< `P01`, `REF01`
  core::AuthToken token;
  core::LeagueId league;
  std::string broadcast_key = {};  ///< see RefereeRegisterResponse; empty where there is none
  std::string league_key = {};  ///< the league's identity; empty if its manager did not send one
  bool match_credentials = false;  ///< calls carry credentials that the agent can check
  std::string receipt_key = {};  ///< of a player's receipts; empty: it gives none. A secret
  std::string game = {};  ///< the definition of the league's game as JSON; empty: it was not sent
  std::string nonce = {};  ///< of the registration that created the identity, which may repeat it

  /// True in a league of ours: every call is checked, in both modes. Otherwise the agent is a
  /// guest, and `token` may be empty (protocol §8).
  [[nodiscard]] bool is_at_home() const { return match_credentials && !league_key.empty(); }
};

/// What identifies an agent when it registers.
struct Credentials {
  core::AuthToken token{};  ///< of the identity to come back as; empty for a new agent
  std::string nonce{};  ///< of this registration; empty: a new one is generated
};

struct RegistrationOptions {
  envelope::Role role = envelope::Role::kPlayer;  ///< kPlayer or kReferee
  std::string display_name;
  std::string contact_endpoint;
  std::vector<std::string> game_types;
  int max_concurrent_matches = 1;  ///< referees only
  transport::link::Endpoint manager;
  core::AuthToken token{};  ///< as in Credentials
  std::string nonce{};  ///< as in Credentials
  /// Called for other credentials when the manager does not know the token (E012); if it returns
  /// nothing, the registration ends. May be empty. Runs where the registration does.
  std::function<std::optional<Credentials>()> next_credentials = {};
  core::AuthToken admission_key{};  ///< of the manager; only for referees; may be empty
  core::AuthToken registration_code{};  ///< from the operator; only for players; may be empty
  std::string log_public_key{};  ///< of the agent's conversation log; may be empty
  bool hears_events = false;  ///< listens to broadcasts that are published once on the bus
  bool receipts = false;  ///< only for players: declares that its answers carry receipts
  bool batches = false;  ///< only for players: takes messages in JSON-RPC batches over HTTP
  bool game_definitions = false;  ///< only for players: plays any game whose definition it gets
  /// How often a manager that cannot be reached is tried again, since the agents of a league may
  /// start before it.
  int max_attempts = 60;
  std::chrono::milliseconds retry_delay{500};
};

/// What registration needs; all references must outlive it.
struct RegistrationContext {
  peers::PeerClient& peers;
  core::Timer& timer;
  const core::Clock& clock;
  core::RandomSource& random;
  const runtime::Settings& settings;
};

/// The identity in the answer to a player's registration. Fails if the manager rejected it.
[[nodiscard]] core::Result<Identity> identity_in(const envelope::Envelope& envelope,
                                                 const envelope::LeagueRegisterResponse& response);

/// `display_name` as the id of a temporary sender: every character other than a letter, digit or
/// underscore becomes an underscore.
[[nodiscard]] std::string temporary_id(const std::string& display_name);

/// Registers an agent; ends with its identity or with the error. Every attempt sends the same
/// registration nonce, so that a lost reply does not create a second identity (protocol §8). A
/// token that the manager does not know is shown only once; then other tokens are tried.
[[nodiscard]] task::Task<core::Result<Identity>> register_agent(RegistrationContext context,
                                                                RegistrationOptions options);

}  // namespace league::agent::identity

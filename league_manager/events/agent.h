#pragma once

#include <optional>
#include <string>
#include <vector>

#include "league_manager/events/agent_lifecycle.h"

namespace league::league_manager::events {

/// What an agent says about itself when it registers. Source: protocol §4, `referee_meta` and
/// `player_meta`.
struct AgentProfile {
  std::string display_name;
  std::string version;
  std::vector<std::string> game_types;
  std::string endpoint;  ///< canonical and already checked; compared as text
  std::optional<std::string> protocol_version;
  std::optional<std::string> contact_email;
  int max_concurrent_matches = 1;  ///< referees only
  bool assignments_in_ack =
      false;  ///< referees only: takes new matches in the answer to a report (protocol §7)
  std::optional<std::string> log_public_key = {};  ///< of the agent's conversation log
  bool hears_events = false;  ///< gets broadcasts as events on the bus instead of calls
  /// Referees only: shows players match credentials and reveals every seed; a referee that does not
  /// is a third-party one (protocol §8).
  bool match_credentials = false;
  /// Referees only: the origin under which it reached the manager, and reaches seats:
  /// `http://localhost:8000`; empty: unknown.
  std::string manager_url = {};
  bool is_from_loopback = false;  ///< it registered from this machine, not over a bus
  /// Players only: TokenIssuer::code_digest of the registration code with which it was admitted;
  /// its name is then that of the operator's list.
  std::optional<std::string> code_digest = {};
  bool receipts = false;  ///< players only: puts receipts into its answers (protocol §7)
  bool batches = false;  ///< players only: takes messages in JSON-RPC batches (protocol §4)
  /// Players at seats only: `person` or `host`, a chat program. Empty: a program.
  std::string played_by = {};

  /// Whether it has the time for people. Source: protocol §10.
  [[nodiscard]] bool has_seat_limits() const { return !played_by.empty(); }

  bool operator==(const AgentProfile&) const = default;
};

/// What is stored of a token: enough to recompute it with the manager's key and to recognise it. It
/// is not a credential by itself. Source: protocol §8.
struct Credential {
  std::string nonce;  ///< hexadecimal
  std::string token_hash;  ///< hexadecimal SHA-256

  bool operator==(const Credential&) const = default;
};

/// A credential that an operator's new token has replaced while the league was running. What was
/// made with its keys before that stays valid.
struct PastCredential {
  std::string nonce;
  core::UtcTimestamp until;

  bool operator==(const PastCredential&) const = default;
};

/// A registered agent.
struct Agent {
  AgentProfile profile;
  Credential credential;
  std::string registration_nonce_hash;  ///< SHA-256 of the request's nonce, which would give access
                                        ///< to the token; empty: none
  AgentLifecycle lifecycle;
  /// A referee that has been silent since the manager was restarted. Perhaps both ended together,
  /// so losing its matches again does not count as its fault.
  bool is_awaited = false;
  /// The operator gave the seat a new token, so the next registration with that token binds its
  /// nonce.
  bool awaits_nonce = false;
  /// Its seat was freed before the start: name, address, code and credentials belong to nobody, and
  /// the next new agent gets the id. A seat that nobody took plays no match.
  bool is_free = false;
  std::vector<PastCredential> past_credentials = {};  ///< the latest last

  /// The nonces of all credentials that the seat has had since `from`, the current one first.
  [[nodiscard]] std::vector<std::string> credential_nonces(core::UtcTimestamp from) const;

  bool operator==(const Agent&) const = default;
};

/// Whether the manager runs the player for a client that has tools only, and so knows its choices
/// before they are revealed. Source: protocol §10.
[[nodiscard]] inline bool is_hosted(const AgentProfile& profile) {
  return profile.played_by == "host";
}

}  // namespace league::league_manager::events

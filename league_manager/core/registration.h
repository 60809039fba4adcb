#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/core/result.h"
#include "league_manager/core/roster.h"
#include "league_manager/events/events.h"
#include "league_manager/events/settings.h"

namespace league::league_manager {

/// A register request that has passed admission.
struct RegistrationRequest {
  events::AgentKind kind = events::AgentKind::kPlayer;
  events::AgentProfile profile;
  std::optional<std::string> token_hash;  ///< AuthToken::hash() of the request's `auth_token`
  std::optional<std::string> registration_nonce;  ///< as sent
  /// Why the league refuses this request if it is from a new agent; nothing: it does not.
  std::optional<core::Error> not_admitted = std::nullopt;
};

/// Inputs that the core, which is pure, cannot compute itself.
struct RegistrationFacts {
  core::UtcTimestamp now;
  std::string token_nonce;  ///< 128 fresh random bits in hexadecimal
  /// The hash of the token that the manager's key gives for an agent id and a nonce. Must be pure.
  std::function<std::string(const std::string& agent_id, const std::string& nonce)> token_hash;
};

/// The identity that answers a request, and what has to be journalled first (nothing for an exact
/// repeat).
struct RegistrationDecision {
  events::Events events;
  events::AgentRef agent;
  std::string token_nonce;  ///< the token of the answer is derived from it and the agent's id
  std::optional<events::Recognition> recognised_by;  ///< nothing for a new agent
  /// The answer carries the key of the player's receipts: it declares them, and the request creates
  /// the identity or shows the nonce that did.
  bool gives_receipt_key = false;
  /// Parts of the request that were ignored, and why; for the operator and the agent's owner.
  std::vector<std::string> ignored = {};
};

/// What a registration has to know of the league beside its agents.
struct RegistrationScene {
  bool is_started = false;
  std::function<bool(events::AgentRef)> has_open_match =
      nullptr;  ///< a referee has one of its matches; null: nobody has
};

/// Decides a registration. Source: protocol §5, §6, §8.
///
/// A request with an agent's token is from that agent: it keeps its token and can change its
/// endpoint and profile; this also ends a suspension. Many bots show their token to their referees,
/// so a player's token alone, without its registration nonce, moves no address while one of its
/// matches is open, changes `receipts` not at all, takes back no log key, and gets no receipt key.
/// A player's nonce is bound when it registers first, and again after an operator's new token; no
/// other request replaces it. A request that repeats a registration nonce
/// from the same endpoint gets the same answer. A token that no agent of this kind has is refused
/// (kAuthTokenInvalid): its sender expects an existing identity and must not silently get a new
/// one. A sender that is not admitted is refused with the request's `not_admitted`. A registration
/// code is valid for one seat (kDuplicateRegistration), and a seat that was admitted with one keeps
/// the name that the operator gave it. Before the start, in open mode, the same endpoint and name
/// come back with the same id and a new token. Any other request is from a new agent: it is refused
/// after the start (kLateRegistration), at an endpoint that is taken by any agent or with a name
/// that is taken by one of its kind (kDuplicateRegistration), or when the league is full
/// (kLeagueFull). The error is meant for a RESPONSE with status REJECTED.
[[nodiscard]] core::Result<RegistrationDecision> decide_registration(
    const Roster& roster, const events::LeagueSettings& settings, const RegistrationScene& scene,
    const RegistrationRequest& request, const RegistrationFacts& facts);

/// Gives `agent`, which must be registered, a new token on the operator's behalf. The old token
/// becomes invalid, and so does the nonce of its registration, which could otherwise be used to get
/// the new token. Returns the events to be journalled. Source: protocol §8.
[[nodiscard]] events::Events decide_new_token(const Roster& roster, events::AgentRef agent,
                                              const RegistrationFacts& facts);

/// Whether `version` (semver) is in 2.0.0 <= v < 3.0.0.
[[nodiscard]] bool speaks_our_protocol(std::string_view version);

}  // namespace league::league_manager

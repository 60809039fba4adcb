#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/error_code.h"
#include "common/core/ids.h"
#include "common/envelope/message_type.h"

namespace league::envelope {

/// A JSON object that a message carries as it is, for those who know what it means.
struct RawJson {
  std::string text;

  bool operator==(const RawJson&) const = default;
};

/// What a referee says about itself. Source: protocol §4, message 1.
struct RefereeMeta {
  std::string display_name{};
  std::string version{};  ///< semantic version of the agent
  std::vector<std::string> game_types{};
  std::string contact_endpoint{};
  int max_concurrent_matches = 1;
  std::optional<std::string> protocol_version = std::nullopt;
  bool assignments_in_ack =
      false;  ///< takes its next matches from the answer to a report (protocol §7)
  std::optional<std::string> log_public_key =
      std::nullopt;  ///< with which its conversation log can be verified
  bool hears_events = false;  ///< listens to broadcasts that are published once on a bus
  /// The referee shows match credentials to players and reveals every seed, as our referees do
  /// (protocol §8). Without this field it is a third-party referee.
  bool match_credentials = false;
  /// The content of the manager's `referee.key`, if the manager requires it (protocol §8). A
  /// secret.
  std::optional<std::string> admission_key = std::nullopt;
  /// It takes the game's definition from the answer, so it plays games that it does not list.
  bool game_definitions = false;

  bool operator==(const RefereeMeta&) const = default;
};

/// What a player says about itself. Source: protocol §4, message 3.
struct PlayerMeta {
  std::string display_name{};
  std::string version{};
  std::vector<std::string> game_types{};
  std::string contact_endpoint{};
  std::optional<std::string> protocol_version = std::nullopt;
  std::optional<std::string> contact_email = std::nullopt;
  std::optional<std::string> log_public_key = std::nullopt;  ///< as a referee's
  bool hears_events = false;  ///< as a referee's
  /// The code that the operator gave to this bot, if one is required for registering (protocol §8).
  /// A secret.
  std::optional<std::string> registration_code = std::nullopt;
  /// The player puts receipts into its answers, and commits in every match (protocol §7).
  bool receipts = false;
  /// The player takes several messages of the manager in one JSON-RPC batch (protocol §4).
  bool batches = false;
  /// `person` or `host`, a chat program: it has the time for people, at a seat (protocol §10).
  /// Nothing: a program.
  std::optional<std::string> played_by = std::nullopt;
  bool game_definitions = false;  ///< as a referee's

  bool operator==(const PlayerMeta&) const = default;
};

/// Message 1. The token of an identity to come back to is `auth_token` of the envelope.
struct RefereeRegisterRequest {
  static constexpr MessageType kType = MessageType::kRefereeRegisterRequest;
  static const MessageCodec& codec();
  using Answer = struct RefereeRegisterResponse;
  RefereeMeta referee_meta{};
  std::optional<std::string> registration_nonce =
      std::nullopt;  ///< makes a lost reply repeatable (protocol §8)

  bool operator==(const RefereeRegisterRequest&) const = default;
};

/// Message 3. The token of an identity to come back to is `auth_token` of the envelope.
struct LeagueRegisterRequest {
  static constexpr MessageType kType = MessageType::kLeagueRegisterRequest;
  static const MessageCodec& codec();
  using Answer = struct LeagueRegisterResponse;
  PlayerMeta player_meta{};
  std::optional<std::string> registration_nonce = std::nullopt;

  bool operator==(const LeagueRegisterRequest&) const = default;
};

enum class RegistrationStatus { kAccepted, kRejected };

/// Message 2. When accepted, the new token and the league are in the envelope.
struct RefereeRegisterResponse {
  static constexpr MessageType kType = MessageType::kRefereeRegisterResponse;
  static const MessageCodec& codec();
  RegistrationStatus status = RegistrationStatus::kRejected;
  std::optional<core::RefereeId> referee_id = std::nullopt;  ///< null on the wire when rejected
  std::optional<std::string> reason = std::nullopt;  ///< null on the wire when accepted
  std::optional<core::ErrorCode>
      error_code;  ///< why it was rejected; one that is not in our table reads as nothing
  /// The manager's Ed25519 key, which signs what is published once (protocol §8); hexadecimal.
  std::optional<std::string> broadcast_key = std::nullopt;
  /// The same key, always there when one of our managers accepts: the league's identity.
  std::optional<std::string> league_key = std::nullopt;
  bool match_credentials = false;  ///< all calls carry credentials that can be checked
  /// The definition of the league's game (docs/games.md), a JSON object.
  std::optional<RawJson> game = std::nullopt;

  bool operator==(const RefereeRegisterResponse&) const = default;
};

/// Message 4. When accepted, the new token and the league are in the envelope.
struct LeagueRegisterResponse {
  static constexpr MessageType kType = MessageType::kLeagueRegisterResponse;
  static const MessageCodec& codec();
  RegistrationStatus status = RegistrationStatus::kRejected;
  std::optional<core::PlayerId> player_id = std::nullopt;
  std::optional<std::string> reason = std::nullopt;
  std::optional<core::ErrorCode> error_code = std::nullopt;
  /// The manager's Ed25519 key, which signs what is published once (protocol §8); hexadecimal.
  std::optional<std::string> broadcast_key = std::nullopt;
  /// The same key, always there when one of our managers accepts: the league's identity.
  std::optional<std::string> league_key = std::nullopt;
  bool match_credentials = false;  ///< all calls carry credentials that can be checked
  /// The definition of the league's game (docs/games.md), a JSON object.
  std::optional<RawJson> game = std::nullopt;
  /// The key of the player's receipts, only where the answer creates the identity or repeats that.
  /// A secret. Source: protocol §7.
  std::optional<std::string> receipt_key = std::nullopt;

  bool operator==(const LeagueRegisterResponse&) const = default;
};

}  // namespace league::envelope

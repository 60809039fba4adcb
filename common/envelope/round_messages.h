#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/auth_token.h"
#include "common/core/ids.h"
#include "common/envelope/message_type.h"

namespace league::envelope {

/// A player's own tally, which it gets before it chooses.
struct WinLossDraw {
  int wins = 0;
  int losses = 0;
  int draws = 0;

  bool operator==(const WinLossDraw&) const = default;
};

/// One row of the table. Rows of equal merit share a rank. Source: protocol §4 message 12, §7.
struct StandingsRow {
  int rank = 0;
  core::PlayerId player_id{};
  std::string display_name{};
  int played = 0;
  int wins = 0;
  int draws = 0;
  int losses = 0;
  int points = 0;

  bool operator==(const StandingsRow&) const = default;
};

/// A match as everybody sees it announced. Source: protocol §4, message 5.
struct AnnouncedMatch {
  core::MatchId match_id{};
  std::string game_type{};
  core::PlayerId player_a_id{};
  core::PlayerId player_b_id{};
  std::string referee_endpoint{};
  std::optional<core::RefereeId> referee_id = std::nullopt;
  std::optional<std::string>
      draw_commitment;  ///< hexadecimal SHA-256, public before any choice exists
  /// What the referee of this match shows its players: `match` (the match credential),
  /// `token:HASH` (its own token, whose SHA-256 this is) or `none`. Source: protocol §8.
  std::optional<std::string> referee_credential = std::nullopt;
  std::optional<core::MatchId> replay_of = std::nullopt;  ///< a void match, which this one repeats

  bool operator==(const AnnouncedMatch&) const = default;
};

/// How long a player has for its answers, where it has limits of its own; in milliseconds.
struct AnswerLimits {
  int game_invitation = 60'000;
  int choose_parity_call = 60'000;

  bool operator==(const AnswerLimits&) const = default;
};

/// The players of a match that have limits of their own. Source: protocol §10.
struct PlayerLimits {
  std::optional<AnswerLimits> player_a = std::nullopt;
  std::optional<AnswerLimits> player_b = std::nullopt;

  bool operator==(const PlayerLimits&) const = default;
};

/// What players A and B of a match chose when they met before; nothing (null) where that match
/// ended without a choice.
struct EarlierChoices {
  std::optional<std::string> player_a = std::nullopt;
  std::optional<std::string> player_b = std::nullopt;
};

/// A match as its referee gets it, with all that is needed to start it. Holds secrets: never to be
/// broadcast. Source: protocol §7.
struct MatchAssignment {
  core::MatchId match_id{};
  std::string game_type{};
  core::PlayerId player_a_id{};
  core::PlayerId player_b_id{};
  std::string referee_endpoint{};
  core::RefereeId referee_id{};
  std::optional<std::string> draw_commitment = std::nullopt;
  int attempt = 1;
  /// The term of the manager that assigned the match, if several managers stand by for each other:
  /// a referee accepts nothing from a manager with a lower term than it has seen.
  std::optional<int> term = std::nullopt;
  core::ConversationId conversation_id{};
  std::string player_a_endpoint{};
  std::string player_b_endpoint{};
  core::AuthToken
      player_a_credential;  ///< what the referee shows player A instead of a token (protocol §8)
  core::AuthToken player_b_credential{};
  std::string player_a_token_hash{};  ///< hexadecimal SHA-256 of the token that player A must show
  std::string player_b_token_hash{};
  /// Hexadecimal SHA-256 of the answer credential, which a player that declared receipts shows
  /// instead of its token. Source: protocol §8.
  std::optional<std::string> player_a_answer_hash = std::nullopt;
  std::optional<std::string> player_b_answer_hash = std::nullopt;
  bool player_a_receipts = false;  ///< the player declared receipts, so it has to commit
  bool player_b_receipts = false;
  std::optional<std::string>
      player_a_dialect;  ///< the way of calling that worked last (common/agent)
  std::optional<std::string> player_b_dialect = std::nullopt;
  std::string draw_seed{};  ///< 256 bits in hexadecimal
  std::optional<WinLossDraw> player_a_standings = std::nullopt;
  std::optional<WinLossDraw> player_b_standings = std::nullopt;
  bool player_a_suspended = false;  ///< true: ping before the match (protocol §6)
  bool player_b_suspended = false;
  std::optional<PlayerLimits> limits_ms = std::nullopt;  ///< nothing: nobody has any
  int meeting = 1;  ///< of the two players, ...
  int meetings = 1;  ///< ... who meet this often
  std::vector<EarlierChoices> history{};  ///< the oldest first, at most kLongestHistory

  static constexpr std::size_t kLongestHistory = 100;
};

/// Message 5 as players and referees get it at the start of a round.
struct RoundAnnouncement {
  static constexpr MessageType kType = MessageType::kRoundAnnouncement;
  static const MessageCodec& codec();
  std::vector<AnnouncedMatch> matches{};
  std::optional<int> total_matches = std::nullopt;  ///< set when `matches` is only a part

  bool operator==(const RoundAnnouncement&) const = default;
};

/// Message 5 as the copy to one referee: only its matches, ready to start.
struct RoundAssignment {
  static constexpr MessageType kType = MessageType::kRoundAnnouncement;
  static const MessageCodec& codec();
  std::vector<MatchAssignment> matches{};
};

/// Message 12.
struct LeagueStandingsUpdate {
  static constexpr MessageType kType = MessageType::kLeagueStandingsUpdate;
  static const MessageCodec& codec();
  std::vector<StandingsRow> standings{};  ///< by rank
  std::optional<int> total_players = std::nullopt;  ///< set when `standings` is only a part

  bool operator==(const LeagueStandingsUpdate&) const = default;
};

/// How a round went; the last three add up to the first.
struct RoundSummary {
  int total_matches = 0;
  int wins = 0;
  int draws = 0;
  int technical_losses = 0;

  bool operator==(const RoundSummary&) const = default;
};

/// Message 13. `matches_completed` is also written as `matches_played`, because peers differ.
struct RoundCompleted {
  static constexpr MessageType kType = MessageType::kRoundCompleted;
  static const MessageCodec& codec();
  int matches_completed = 0;
  std::optional<int> next_round_id = std::nullopt;  ///< null on the wire after the last round
  RoundSummary summary{};

  bool operator==(const RoundCompleted&) const = default;
};

/// The winner of a league.
struct Champion {
  core::PlayerId player_id{};
  std::string display_name{};
  int points = 0;
  bool is_shared =
      false;  ///< others are first with it, see `final_standings`; false: not on the wire

  bool operator==(const Champion&) const = default;
};

/// The result of a league, signed with the league's key. Source: protocol §8.
struct Attestation {
  std::string statement{};
  std::string signature{};  ///< Ed25519, in hexadecimal

  bool operator==(const Attestation&) const = default;
};

/// Message 14.
struct LeagueCompleted {
  static constexpr MessageType kType = MessageType::kLeagueCompleted;
  static const MessageCodec& codec();
  int total_rounds = 0;
  int total_matches = 0;
  std::optional<Champion> champion =
      std::nullopt;  ///< nothing (null) in a league that ended without a match
  std::vector<StandingsRow> final_standings{};
  std::vector<core::MatchId> voided_matches{};  ///< they count for nothing; none: not on the wire
  /// How often each pair meets. Nothing: once, in a league of an older manager.
  std::optional<int> meetings = std::nullopt;
  bool is_ended_early = false;  ///< by the operator; false: not on the wire
  std::optional<Attestation> attestation = std::nullopt;

  bool operator==(const LeagueCompleted&) const = default;
};

}  // namespace league::envelope

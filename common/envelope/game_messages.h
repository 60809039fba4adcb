#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/core/error_code.h"
#include "common/core/ids.h"
#include "common/core/timestamp.h"
#include "common/envelope/message_type.h"
#include "common/envelope/round_messages.h"

namespace league::envelope {

enum class PlayerRole { kPlayerA, kPlayerB };

/// What a match is about: the words to choose from, and which meeting of the two players it is.
struct GameContext {
  std::vector<std::string> choices{};
  int meeting = 1;
  int meetings = 1;

  bool operator==(const GameContext&) const = default;
};

/// What both chose in an earlier meeting; nothing (null) where that ended without a choice.
struct EarlierMeeting {
  std::optional<std::string> your_choice = std::nullopt;
  std::optional<std::string> opponent_choice = std::nullopt;

  bool operator==(const EarlierMeeting&) const = default;
};

/// Which play of a match a call belongs to, as its receipts name it, and what a player that commits
/// has to know before it chooses. Source: protocol §7, §11.
struct PlayContext {
  std::optional<int> attempt = std::nullopt;  ///< of the assignment, from 1
  std::optional<int> play = std::nullopt;  ///< 0, then 1, ... for replays of the fair clock
  std::optional<GameContext> game = std::nullopt;
  std::vector<EarlierMeeting> history{};  ///< the oldest first

  bool operator==(const PlayContext&) const = default;
};

/// Message 6.
struct GameInvitation {
  static constexpr MessageType kType = MessageType::kGameInvitation;
  static const MessageCodec& codec();
  using Answer = struct GameJoinAck;
  std::string game_type{};
  PlayerRole role_in_match = PlayerRole::kPlayerA;
  core::PlayerId opponent_id{};
  /// The invited player's id. A bot that somebody else has registered has no other way to learn it.
  std::optional<core::PlayerId> player_id = std::nullopt;
  std::optional<std::string> draw_commitment = std::nullopt;  ///< as announced
  std::optional<PlayContext> context = std::nullopt;
  /// Of a player that has a limit of its own; nothing: the usual limit.
  std::optional<core::UtcTimestamp> deadline = std::nullopt;

  bool operator==(const GameInvitation&) const = default;
};

/// Message 7.
struct GameJoinAck {
  static constexpr MessageType kType = MessageType::kGameJoinAck;
  static const MessageCodec& codec();
  core::PlayerId player_id{};
  core::UtcTimestamp arrival_timestamp{};
  bool accept = false;  ///< false is a technical loss
  std::optional<std::string> choice_commitment = std::nullopt;  ///< binds the player (protocol §7)
  std::optional<std::string> receipt = std::nullopt;  ///< see game/receipt.h

  bool operator==(const GameJoinAck&) const = default;
};

/// What a player knows before it chooses.
struct ChoiceContext {
  std::optional<core::PlayerId> opponent_id = std::nullopt;
  std::optional<int> round_id = std::nullopt;
  std::optional<WinLossDraw> your_standings = std::nullopt;
  std::optional<std::string> draw_commitment = std::nullopt;
  std::optional<std::string> opponent_commitment = std::nullopt;  ///< nothing: it has none
  std::optional<int> attempt = std::nullopt;  ///< as in PlayContext
  std::optional<int> play = std::nullopt;
  std::optional<GameContext> game = std::nullopt;
  std::vector<EarlierMeeting> history{};  ///< the oldest first

  bool operator==(const ChoiceContext&) const = default;
};

/// Message 8.
struct ChooseParityCall {
  static constexpr MessageType kType = MessageType::kChooseParityCall;
  static const MessageCodec& codec();
  using Answer = struct ChooseParityResponse;
  core::PlayerId player_id{};
  std::string game_type{};
  core::UtcTimestamp deadline{};
  std::optional<ChoiceContext> context = std::nullopt;

  bool operator==(const ChooseParityCall&) const = default;
};

/// Message 9.
struct ChooseParityResponse {
  static constexpr MessageType kType = MessageType::kChooseParityResponse;
  static const MessageCodec& codec();
  core::PlayerId player_id{};
  std::string parity_choice{};  ///< a word of the game, which checks it
  std::optional<std::string> choice_nonce = std::nullopt;  ///< opens the commitment of message 7
  std::optional<std::string> receipt = std::nullopt;  ///< see game/receipt.h

  bool operator==(const ChooseParityResponse&) const = default;
};

enum class GameStatus { kWin, kDraw, kTechnicalLoss };

/// Who chose what; nothing (null) for a player who did not.
using Choices = std::map<core::PlayerId, std::optional<std::string>>;
/// Commitments or nonces by player, in hexadecimal; those that count. Source: protocol §7.
using HexByPlayer = std::map<core::PlayerId, std::string>;

/// The result of a match, as it is sent to its players.
struct GameResult {
  GameStatus status = GameStatus::kDraw;
  std::optional<core::PlayerId> winner_player_id = std::nullopt;
  std::optional<int> drawn_number = std::nullopt;  ///< in Even/Odd 1-10
  std::optional<std::string> number_parity = std::nullopt;  ///< in the game's words
  Choices choices{};
  std::string reason{};  ///< a sentence for people

  bool operator==(const GameResult&) const = default;
};

/// Message 10. `game_result.reason` is also written beside `game_result`, because peers differ.
struct GameOver {
  static constexpr MessageType kType = MessageType::kGameOver;
  static const MessageCodec& codec();
  std::string game_type{};
  GameResult game_result{};
  std::optional<std::string> draw_proof =
      std::nullopt;  ///< the revealed seed of the draw, in hexadecimal (protocol §7)
  std::optional<int> draw_version = std::nullopt;  ///< 1 or 2
  HexByPlayer choice_commitments{};
  HexByPlayer choice_nonces{};

  bool operator==(const GameOver&) const = default;
};

/// The evidence for a time-out, or against it. An extension of ours; other referees may omit it.
struct ClockProof {
  int limit_ms = 0;  ///< what the player had for its answer
  std::optional<std::string> sent_at =
      std::nullopt;  ///< when the request was sent: UTC with microseconds; nothing if it never was
  std::string gave_up_at{};  ///< when the referee ended the wait: UTC with microseconds
  int scheduling_delay_us = 0;  ///< how late the referee's own threads ran meanwhile, at the worst
  int canary_us = 0;  ///< the slowest call of the referee to itself meanwhile
  /// How long the manager kept the call at the player's seat; nothing: not at all, or no seat.
  std::optional<int> seat_delay_us = std::nullopt;
  bool is_void = false;  ///< the referee was too late itself: no fault of the player

  bool operator==(const ClockProof&) const = default;
};

/// A call to a player that failed; the manager counts them (protocol §6).
struct CallFailure {
  core::PlayerId player_id{};
  std::string call{};  ///< wire name of the message, such as `GAME_INVITATION`
  core::ErrorCode error_code = core::ErrorCode::kTimeout;
  int elapsed_ms = 0;
  int attempt = 1;
  std::optional<ClockProof> clock = std::nullopt;  ///< of a time-out
  std::string error_description{};  ///< for people; empty: not on the wire
  /// How far the call came: `connect` (it was not written to the player), `sent` (written, without
  /// an answer), `answered`. Empty: not said, and not on the wire. Source: protocol §7.
  std::string phase{};
  /// JSON pointer of the wrong field in the player's answer; empty: none, and not on the wire.
  std::string field{};

  bool operator==(const CallFailure&) const = default;
};

/// How a player answered in a match: for the player's own report (protocol 4.28).
struct PlayerAnswers {
  core::PlayerId player_id{};
  std::vector<int> elapsed_us{};  ///< of each answered call, in the order of the answers
  std::vector<std::string> leniencies{};  ///< names, each once; none: not on the wire

  bool operator==(const PlayerAnswers&) const = default;
};

/// What a player's receipts say that it answered. Source: protocol §7.
struct PlayerReceipts {
  std::optional<std::string> join = std::nullopt;
  std::optional<std::string> choice = std::nullopt;

  bool operator==(const PlayerReceipts&) const = default;
};
using ReceiptsByPlayer = std::map<core::PlayerId, PlayerReceipts>;

/// What the referee reports beside winner and score.
struct ResultDetails {
  std::optional<int> drawn_number = std::nullopt;
  std::optional<std::string> number_parity = std::nullopt;
  Choices choices{};
  std::optional<int> attempt = std::nullopt;  ///< of the assignment; ours always say it
  std::vector<CallFailure> failures{};
  std::vector<PlayerAnswers> answers{};  ///< none: not on the wire
  std::optional<int> replays = std::nullopt;  ///< how often the match was played before in vain
  std::optional<std::string> termination =
      std::nullopt;  ///< machine-readable reason, such as `TIMEOUT_CHOICE`
  std::optional<std::string> draw_proof =
      std::nullopt;  ///< the revealed seed of the draw, in hexadecimal (protocol §7)
  std::optional<int> draw_version = std::nullopt;  ///< 1 or 2
  HexByPlayer choice_commitments{};
  HexByPlayer choice_nonces{};
  // How long each player took for the answer that counted, in microseconds.
  std::map<core::PlayerId, int> join_times_us{};
  std::map<core::PlayerId, int> choice_times_us{};
  ReceiptsByPlayer receipts{};  ///< of the play that counts, as the players sent them

  bool operator==(const ResultDetails&) const = default;
};

/// The result of a match as a fact for the table.
struct MatchResult {
  std::optional<core::PlayerId> winner =
      std::nullopt;  ///< null on the wire for a draw or two losers
  std::map<core::PlayerId, int> score{};
  ResultDetails details{};

  bool operator==(const MatchResult&) const = default;
};

/// As in MATCH_RESULT_REPORT. Thread-safe.
[[nodiscard]] std::string to_text(const MatchResult& result);

/// Message 11.
struct MatchResultReport {
  static constexpr MessageType kType = MessageType::kMatchResultReport;
  static const MessageCodec& codec();
  std::string game_type{};
  MatchResult result{};

  bool operator==(const MatchResultReport&) const = default;
};

}  // namespace league::envelope

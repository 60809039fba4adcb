#pragma once

#include <string>
#include <string_view>

namespace league::game {

/// What every receipt of a player names. Absent parts are empty. Source: protocol §7.
struct ReceiptScope {
  std::string_view league_key;  ///< the league's identity, hexadecimal
  std::string_view match_id;
  int attempt = 1;  ///< of the assignment, as the call says
  int play = 0;  ///< 0, then 1, ... for replays of the fair clock, as the call says
  std::string_view draw_commitment;
};

/// The text whose receipt goes into GAME_JOIN_ACK:
/// `JOIN|LEAGUE_KEY|MATCH|ATTEMPT|PLAY|DRAW_COMMITMENT|ACCEPT|CHOICE_COMMITMENT`.
[[nodiscard]] std::string join_receipt_text(const ReceiptScope& scope, bool accept,
                                            std::string_view choice_commitment);

/// What a player reveals in CHOOSE_PARITY_RESPONSE, and what it had been shown by then.
struct RevealedChoice {
  std::string_view choice;
  std::string_view nonce;
  std::string_view opponent_commitment;
};

/// The text whose receipt goes into CHOOSE_PARITY_RESPONSE:
/// `CHOICE|LEAGUE_KEY|MATCH|ATTEMPT|PLAY|DRAW_COMMITMENT|CHOICE|NONCE|OPPONENT_COMMITMENT`.
[[nodiscard]] std::string choice_receipt_text(const ReceiptScope& scope,
                                              const RevealedChoice& revealed);

/// The receipt of `text`: lower-case hexadecimal HMAC-SHA-256. `key` is the player's receipt key as
/// it was sent, used as text. Only the player and the manager can make it.
[[nodiscard]] std::string receipt_of(std::string_view key, std::string_view text);

/// Whether `receipt` is that of `text`; compares in constant time.
[[nodiscard]] bool is_receipt_of(std::string_view key, std::string_view text,
                                 std::string_view receipt);

}  // namespace league::game

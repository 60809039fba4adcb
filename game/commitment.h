#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "game/side.h"

namespace league::game {

/// What a commitment of a player binds. Source: protocol §7, "Players can bind the draw".
struct CommittedChoice {
  std::string_view draw_commitment;  ///< of the invitation: unique per league and match
  std::string_view match_id;
  std::string_view player_id;  ///< as the manager calls the player
  std::string_view choice;
  std::string_view nonce;  ///< 64 characters of [0-9a-f] from a cryptographic source
};

/// Lower-case hexadecimal SHA-256 of the ASCII text `DRAW_COMMITMENT|MATCH|PLAYER|CHOICE|NONCE`.
[[nodiscard]] std::string choice_commitment(const CommittedChoice& committed);

/// Exactly 64 characters of [0-9a-f]: the form of commitments and of nonces.
[[nodiscard]] bool is_hex_256(std::string_view text);

/// The commitments of a match that count, and the nonces that opened them. A commitment counts if
/// it came in the GAME_JOIN_ACK and was handed to the opponent.
struct Bindings {
  PerSide<std::optional<std::string>> commitments;
  PerSide<std::optional<std::string>> nonces;

  bool operator==(const Bindings&) const = default;
};

/// How many players have bound the draw; docs/protocol.md says who could have influenced it.
///
/// `kClaimed`: the commitments are only what the referee says, because a player's receipts are
/// missing or false. `kHosted`: the manager runs a player of the match, so it knows its choice
/// before that is revealed. Ordered: the best is the last.
enum class Fairness : std::uint8_t { kNone, kClaimed, kHosted, kOne, kBoth };
inline constexpr std::array<Fairness, 5> kAllFairness = {
    Fairness::kNone, Fairness::kClaimed, Fairness::kHosted, Fairness::kOne, Fairness::kBoth};
/// `none`, `claimed`, `hosted`, `one`, `both`.
[[nodiscard]] std::string_view fairness_name(Fairness fairness);
[[nodiscard]] std::optional<Fairness> parse_fairness(std::string_view text);
[[nodiscard]] Fairness fairness_of(const Bindings& bindings);

}  // namespace league::game

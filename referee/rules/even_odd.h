#pragma once

#include "referee/rules/rules_module.h"

namespace league::referee::rules {

/// Even/Odd: each player says `even` or `odd`, a number from 1 to 10 is drawn. One right and the
/// other wrong: the right one wins; else a draw. Source: protocol §7.
///
/// The draw, exactly, so that it can be checked in any language:
///
///   counter = 0
///   repeat:
///     message = match_id "|" choice of player A "|" choice of player B "|" counter     (ASCII;
///     counter in decimal) digest  = HMAC-SHA-256(key = the 32 bytes of the seed, message) for each
///     of the 32 bytes of the digest, first to last:
///       if byte < 250: the number is (byte mod 10) + 1; stop
///     counter = counter + 1
///
/// Bytes from 250 on are thrown away because 256 is no multiple of 10: with them 1 to 6 would come
/// more often.
class EvenOdd final : public RulesModule {
 public:
  [[nodiscard]] std::string_view game_type() const override;
  [[nodiscard]] GameState init_game_state() const override;
  [[nodiscard]] core::Result<std::string> validate_choice(std::string_view choice) const override;
  [[nodiscard]] int draw_number(const DrawSeed& seed, std::string_view match_id,
                                const Choices& choices) const override;
  [[nodiscard]] Outcome determine_winner(const Choices& choices, int number) const override;
};

}  // namespace league::referee::rules

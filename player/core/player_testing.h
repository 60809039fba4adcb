#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/envelope/envelope_testing.h"
#include "game/draw.h"
#include "game/games.h"
#include "game/result.h"

namespace league::testing {

/// A match R1M1 between the player under test, P01 as player A, and P02, with the messages of an
/// honest referee. What the opponent does stands in the members.
struct ScriptedMatch {
  const game::Definition& rules = *game::even_odd();
  game::Seed seed = [] {
    game::Seed bytes{};
    bytes.fill(7);
    return bytes;
  }();
  std::string match_id = "R1M1";
  std::string self = "P01";
  std::string opponent = "P02";
  std::string their_choice = "odd";
  std::optional<std::string> their_nonce = std::string(64, 'b');  ///< nothing: does not commit

  [[nodiscard]] std::string draw_commitment() const {
    return game::draw_commitment(seed, match_id);
  }
  [[nodiscard]] std::string commitment_of(const std::string& player, const std::string& choice,
                                          const std::string& nonce) const {
    return game::choice_commitment({.draw_commitment = draw_commitment(),
                                    .match_id = match_id,
                                    .player_id = player,
                                    .choice = choice,
                                    .nonce = nonce});
  }
  [[nodiscard]] std::optional<std::string> their_commitment() const {
    if (!their_nonce) return std::nullopt;
    return commitment_of(opponent, their_choice, *their_nonce);
  }

  [[nodiscard]] nlohmann::json invitation() const {
    auto message = of_this_match("game_invitation");
    message["draw_commitment"] = draw_commitment();
    message["opponent_id"] = opponent;
    message["player_id"] = self;
    return message;
  }
  [[nodiscard]] nlohmann::json call() const {
    auto message = of_this_match("choose_parity_call");
    message["player_id"] = self;
    message["context"]["opponent_id"] = opponent;
    message["context"]["draw_commitment"] = draw_commitment();
    message["context"].erase("opponent_commitment");
    if (their_nonce) message["context"]["opponent_commitment"] = *their_commitment();
    return message;
  }
  [[nodiscard]] nlohmann::json announcement() const {
    auto message = envelope::testing::golden("round_announcement");
    message["matches"][0]["match_id"] = match_id;
    message["matches"][0]["draw_commitment"] = draw_commitment();
    return message;
  }
  /// Of a match in which we chose `choice`, opened with `nonce` where we are committed.
  [[nodiscard]] nlohmann::json game_over(const std::string& choice,
                                         const std::optional<std::string>& nonce) const {
    game::Bindings bindings{.commitments = {}, .nonces = {{nonce, their_nonce}}};
    if (nonce) bindings.commitments[game::Side::kA] = commitment_of(self, choice, *nonce);
    bindings.commitments[game::Side::kB] = their_commitment();
    const game::Choices choices{{choice, their_choice}};
    const auto result =
        game::play(rules,
                   {.seed = seed, .match_id = match_id, .choices = choices, .bindings = bindings})
            .result;
    auto message = envelope::testing::golden("game_over");
    auto winner = game::winner_of(result.outcome);
    auto& told = message["game_result"];
    told["status"] = winner ? "WIN" : "DRAW";
    told["winner_player_id"] =
        winner ? nlohmann::json(*winner == game::Side::kA ? self : opponent) : nullptr;
    told["drawn_number"] = *result.drawn_number;
    told["number_parity"] = *rules.kind_of(*result.drawn_number);
    told["choices"] = {{self, choice}, {opponent, their_choice}};
    message["draw_proof"] = core::to_hex(seed);
    message["draw_version"] = game::draw_version(bindings);
    for (const char* field : {"choice_commitments", "choice_nonces"}) message.erase(field);
    if (nonce) message["choice_commitments"][self] = *bindings.commitments[game::Side::kA];
    if (nonce) message["choice_nonces"][self] = *nonce;
    if (their_nonce) message["choice_commitments"][opponent] = *their_commitment();
    if (their_nonce) message["choice_nonces"][opponent] = *their_nonce;
    message["match_id"] = match_id;
    return message;
  }
  /// Of a match that `winner` won because the other one failed, before anything was drawn.
  [[nodiscard]] nlohmann::json technical(const std::string& winner) const {
    auto message = envelope::testing::golden("game_over");
    message["game_result"] = {{"status", "TECHNICAL_LOSS"},
                              {"winner_player_id", winner},
                              {"drawn_number", nullptr},
                              {"number_parity", nullptr},
                              {"choices", {{self, nullptr}, {opponent, nullptr}}},
                              {"reason", "somebody failed"}};
    for (const char* field : {"choice_commitments", "choice_nonces", "draw_version"}) {
      message.erase(field);
    }
    message["draw_proof"] = core::to_hex(seed);
    message["match_id"] = match_id;
    return message;
  }

 private:
  [[nodiscard]] nlohmann::json of_this_match(const char* name) const {
    auto message = envelope::testing::golden(name);
    message["match_id"] = match_id;
    return message;
  }
};

}  // namespace league::testing

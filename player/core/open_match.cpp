#include "player/core/open_match.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/core/crypto.h"
#include "common/schema/fields.h"
#include "game/commitment.h"

namespace league::player {

using nlohmann::json;

std::optional<std::string> OpenMatch::commitment() const {
  if (!is_committed()) return std::nullopt;
  return game::choice_commitment({.draw_commitment = draw_commitment,
                                  .match_id = match_id.str(),
                                  .player_id = player_id.str(),
                                  .choice = choice,
                                  .nonce = nonce});
}

bool OpenMatch::is_same_match(const OpenMatch& other) const {
  return player_id == other.player_id && match_id == other.match_id &&
         game_type == other.game_type && draw_commitment == other.draw_commitment;
}

OpenMatch after_invitation(const OpenMatch* known, OpenMatch invited) {
  if (known == nullptr || !known->is_same_match(invited)) return invited;
  const bool is_repetition =
      invited.attempt > 0 && known->attempt == invited.attempt && known->play == invited.play;
  if (is_repetition || !known->is_revealed || known->is_bound_by_both()) {
    OpenMatch same = *known;
    same.attempt = invited.attempt;
    same.play = invited.play;
    return same;
  }
  invited.earlier_commitment = known->commitment();
  return invited;
}

void commit(OpenMatch& match, std::string choice, core::RandomSource& random) {
  match.choice = std::move(choice);
  match.nonce = core::to_hex(random.bytes<32>());
}

std::optional<std::string> handed_over(OpenMatch& match,
                                       const std::optional<std::string>& opponent_commitment) {
  match.revealed_attempt = match.attempt;
  match.revealed_play = match.play;
  if (!std::exchange(match.is_revealed, true)) {
    match.opponent_commitment = opponent_commitment;
    return std::nullopt;
  }
  if (match.opponent_commitment == opponent_commitment) return std::nullopt;
  if (!opponent_commitment) return "the opponent's commitment, handed over before, is missing now";
  return "the opponent's commitment is not the one that was handed over before";
}

static void describe(schema::Fields& a, OpenMatch& s) {
  a.required("player_id", s.player_id, "league_id", s.league_id, "match_id", s.match_id);
  a.count("round_id", s.round_id);
  a.required("game_type", s.game_type);
  std::string role(game::side_name(s.side));
  a.required("role_in_match", role);
  if (a.reads()) s.side = role == game::side_name(game::Side::kB) ? game::Side::kB : game::Side::kA;
  if (a.reads() && role != game::side_name(s.side))
    a.fail(core::ErrorCode::kInvalidFieldValue, "role_in_match", "is no role");
  a.required("opponent_id", s.opponent_id, "draw_commitment", s.draw_commitment, "choice", s.choice,
             "choice_nonce", s.nonce, "revealed", s.is_revealed);
  // Absent where the referee does not say attempts.
  if (a.reads() ? a.has("attempt") : s.attempt > 0) {
    a.count("attempt", s.attempt);
    a.count("play", s.play);
  }
  if (a.reads() ? a.has("revealed_attempt") : s.revealed_attempt > 0) {
    a.count("revealed_attempt", s.revealed_attempt);
    a.count("revealed_play", s.revealed_play);
  }
  a.optional("opponent_commitment", s.opponent_commitment, "earlier_commitment",
             s.earlier_commitment);
}

std::string open_match_to_text(const OpenMatch& match) { return schema::to_text(match); }

std::optional<OpenMatch> open_match_from_json(const json& note) {
  auto match = schema::read<OpenMatch>(note);
  if (!match || match->match_id.empty() || match->choice.empty() || !game::is_hex_256(match->nonce))
    return std::nullopt;
  return std::move(*match);
}

}  // namespace league::player

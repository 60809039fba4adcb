#include "player/core/open_match.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/core/crypto.h"
#include "common/rpc/json_object.h"
#include "game/commitment.h"

namespace league::player {
namespace {

using nlohmann::json;

core::Error fault(const char* field) {
  return {core::ErrorCode::kInvalidFieldValue, std::string(field) + " is missing or malformed",
          std::string("/") + field};
}

/// Reads texts from an object and remembers the name of the first field that is not a text.
class Texts {
 public:
  explicit Texts(const json& object) : object_(object) {}

  std::string take(const char* field) {
    auto text = take_optional(field);
    if (!text && bad_ == nullptr) bad_ = field;
    return text.value_or("");
  }
  std::optional<std::string> take_optional(const char* field) {
    const auto found = object_.find(field);
    if (found == object_.end()) return std::nullopt;
    if (found->is_string()) return found->get<std::string>();
    if (bad_ == nullptr) bad_ = field;
    return std::nullopt;
  }
  [[nodiscard]] const char* bad_field() const { return bad_; }

 private:
  const json& object_;
  const char* bad_ = nullptr;
};

}  // namespace

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
  if (!known->is_revealed || known->is_bound_by_both()) return *known;
  invited.earlier_commitment = known->commitment();
  return invited;
}

void commit(OpenMatch& match, std::string choice, core::RandomSource& random) {
  match.choice = std::move(choice);
  match.nonce = core::to_hex(random.bytes<32>());
}

std::optional<std::string> handed_over(OpenMatch& match,
                                       const std::optional<std::string>& opponent_commitment) {
  if (!std::exchange(match.is_revealed, true)) {
    match.opponent_commitment = opponent_commitment;
    return std::nullopt;
  }
  if (match.opponent_commitment == opponent_commitment) return std::nullopt;
  if (!opponent_commitment) return "the opponent's commitment, handed over before, is missing now";
  return "the opponent's commitment is not the one that was handed over before";
}

std::string open_match_to_text(const OpenMatch& match) {
  std::string text;
  rpc::JsonObject note(text);
  note.text("player_id", match.player_id.str())
      .text("league_id", match.league_id.str())
      .text("match_id", match.match_id.str())
      .number("round_id", match.round_id)
      .text("game_type", match.game_type)
      .text("role_in_match", game::side_name(match.side))
      .text("opponent_id", match.opponent_id.str())
      .text("draw_commitment", match.draw_commitment)
      .text("choice", match.choice)
      .text("choice_nonce", match.nonce)
      .flag("revealed", match.is_revealed);
  if (match.opponent_commitment) note.text("opponent_commitment", *match.opponent_commitment);
  if (match.earlier_commitment) note.text("earlier_commitment", *match.earlier_commitment);
  note.end();
  return text;
}

core::Result<OpenMatch> open_match_from_json(const json& object) {
  if (!object.is_object()) return fault("note");
  Texts texts(object);
  OpenMatch match{.player_id = core::PlayerId(texts.take("player_id")),
                  .league_id = core::LeagueId(texts.take("league_id")),
                  .match_id = core::MatchId(texts.take("match_id")),
                  .game_type = texts.take("game_type"),
                  .opponent_id = core::PlayerId(texts.take("opponent_id")),
                  .draw_commitment = texts.take("draw_commitment"),
                  .choice = texts.take("choice"),
                  .nonce = texts.take("choice_nonce"),
                  .opponent_commitment = texts.take_optional("opponent_commitment"),
                  .earlier_commitment = texts.take_optional("earlier_commitment")};
  const std::string role = texts.take("role_in_match");
  if (texts.bad_field() != nullptr) return fault(texts.bad_field());
  if (match.match_id.empty()) return fault("match_id");
  if (match.choice.empty()) return fault("choice");
  if (!game::is_hex_256(match.nonce)) return fault("choice_nonce");
  if (role == game::side_name(game::Side::kB)) match.side = game::Side::kB;
  if (role != game::side_name(match.side)) return fault("role_in_match");
  const auto round = object.find("round_id");
  if (round == object.end() || !round->is_number_integer() || *round < 0 ||
      *round > 1'000'000'000) {
    return fault("round_id");
  }
  match.round_id = round->get<int>();
  const auto revealed = object.find("revealed");
  if (revealed == object.end() || !revealed->is_boolean()) return fault("revealed");
  match.is_revealed = revealed->get<bool>();
  return match;
}

}  // namespace league::player

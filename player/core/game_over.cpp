#include "player/core/game_over.h"

#include <algorithm>
#include <array>
#include <utility>

#include "game/judge.h"

namespace league::player {
namespace {

using core::Error;
using core::ErrorCode;
using envelope::GameStatus;

/// A stand-in for the termination, which GAME_OVER does not have.
constexpr const char* kTechnical = "TECHNICAL_LOSS";

Error result_fault(std::string_view field, std::string text) {
  return {ErrorCode::kInvalidResult, std::move(text), "/" + std::string(field)};
}

Error commitment_fault(std::string_view field, std::string text) {
  return {ErrorCode::kCommitmentMismatch, std::move(text), "/" + std::string(field)};
}

std::optional<std::string> value_of(const envelope::HexByPlayer& values,
                                    const core::PlayerId& player) {
  const auto found = values.find(player);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> choice_of(const envelope::GameOver& message,
                                     const core::PlayerId& player) {
  const auto found = message.game_result.choices.find(player);
  return found == message.game_result.choices.end() ? std::nullopt : found->second;
}

game::ByPlayer by_player(const envelope::HexByPlayer& values) {
  game::ByPlayer out;
  for (const auto& [player, value] : values) out.emplace_back(player.str(), value);
  return out;
}

game::Claim claim_of(const envelope::GameOver& message) {
  const auto& result = message.game_result;
  game::Claim claim;
  if (result.winner_player_id) claim.winner = result.winner_player_id->str();
  claim.drawn_number = result.drawn_number;
  claim.number_kind = result.number_parity;
  for (const auto& [player, choice] : result.choices) {
    claim.choices.emplace_back(player.str(), choice);
  }
  claim.commitments = by_player(message.choice_commitments);
  claim.nonces = by_player(message.choice_nonces);
  claim.draw_version = message.draw_version;
  claim.seed = message.draw_proof;
  if (result.status == GameStatus::kTechnicalLoss) claim.technical_reason = kTechnical;
  return claim;
}

game::MatchFacts facts_of(const KnownMatch& known) {
  game::MatchFacts facts;
  facts.match_id = known.notes.match_id.str();
  facts.players[known.notes.side] = known.notes.player_id.str();
  facts.players[game::other(known.notes.side)] = known.notes.opponent_id.str();
  facts.draw_commitment = known.draw_commitment;
  return facts;
}

bool is_technical(const envelope::GameOver& message) {
  return message.game_result.status == GameStatus::kTechnicalLoss;
}

std::optional<Error> check_own_choice(const OpenMatch& notes, const envelope::GameOver& message) {
  const auto claimed = choice_of(message, notes.player_id);
  if (!claimed || (notes.is_revealed && *claimed == notes.choice)) return std::nullopt;
  return commitment_fault("game_result/choices",
                          notes.is_revealed
                              ? "choices shows a different choice for us from the one that we made"
                              : "choices shows a choice for us, but we made none");
}

std::optional<Error> check_own_commitment(const OpenMatch& notes,
                                          const envelope::GameOver& message) {
  const auto claimed = value_of(message.choice_commitments, notes.player_id);
  // Commitments count only after both players have joined.
  if (!claimed && is_technical(message)) return std::nullopt;
  if (claimed == notes.commitment()) return std::nullopt;
  // If a replay failed before the choices, the commitments of the previous play are still valid.
  if (is_technical(message) && !notes.is_revealed && claimed == notes.earlier_commitment) {
    return std::nullopt;
  }
  std::string text =
      "choice_commitments has a different commitment for us from the one that we gave";
  if (!claimed) text = "choice_commitments lacks the commitment that we gave";
  if (!notes.is_committed()) text = "choice_commitments has a commitment for us, but we gave none";
  return commitment_fault("choice_commitments", std::move(text));
}

std::optional<Error> check_opponent_commitment(const OpenMatch& notes,
                                               const envelope::GameOver& message) {
  const auto claimed = value_of(message.choice_commitments, notes.opponent_id);
  // If this player was not asked for its choice, it did not get the opponent's commitment, and no
  // number was drawn.
  if (is_technical(message) && (!claimed || !notes.is_revealed)) return std::nullopt;
  if (claimed == notes.opponent_commitment) return std::nullopt;
  std::string text = "the opponent's commitment is not the one that was handed over to us";
  if (!claimed) text = "the opponent's commitment, which was handed over to us, is missing";
  if (!notes.opponent_commitment) text = "the opponent's commitment was never handed over to us";
  return commitment_fault("choice_commitments", std::move(text));
}

std::optional<Error> check_status(const envelope::GameOver& message) {
  const auto& result = message.game_result;
  if (result.status == GameStatus::kWin && !result.winner_player_id) {
    return result_fault("game_result/winner_player_id", "a WIN needs a winner");
  }
  if (result.status == GameStatus::kDraw && result.winner_player_id) {
    return result_fault("game_result/winner_player_id", "a DRAW has no winner");
  }
  return std::nullopt;
}

Error fault_of(const game::Contradiction& contradiction) {
  constexpr std::array<std::string_view, 4> kInside = {"winner", "drawn_number", "number_parity",
                                                       "choices"};
  std::string field = contradiction.field;
  if (std::ranges::find(kInside, field) != kInside.end()) {
    field = "game_result/" + (field == "winner" ? "winner_player_id" : field);
  }
  return contradiction.aspect == game::Aspect::kOpening
             ? commitment_fault(field, contradiction.text)
             : result_fault(field, contradiction.text);
}

/// Whether a message contains enough to be judged. Without a draw commitment the referee is a
/// third-party one, for which missing fields are no fault.
bool can_be_judged(const KnownMatch& known, const envelope::GameOver& message,
                   const game::Definition& rules) {
  if (known.draw_commitment && !known.may_be_unproven) return true;
  return !is_technical(message) && choice_of(message, known.notes.player_id) &&
         choice_of(message, known.notes.opponent_id) &&
         (message.game_result.drawn_number || !rules.numbers());
}

/// Whether a contradiction counts, given what this player knows.
bool counts(const game::Contradiction& contradiction, const KnownMatch& known,
            const envelope::GameOver& message) {
  const bool is_proof = contradiction.aspect == game::Aspect::kProof;
  const bool is_unproven = contradiction.aspect == game::Aspect::kUnproven;
  if (!known.draw_commitment) return !is_proof && !is_unproven;
  if (known.may_be_unproven) return !is_unproven;
  return !(is_unproven && is_technical(message));  // a technical loss has no number to prove
}

constexpr std::size_t kLongestChoice = 64;

MatchVerdict verdict_of(const envelope::GameResult& result, const core::PlayerId& self) {
  if (result.status == envelope::GameStatus::kDraw) return MatchVerdict::kDraw;
  return result.winner_player_id == self ? MatchVerdict::kWin : MatchVerdict::kLoss;
}

/// A choice to remember, of any game; nothing if it is empty or too long, since a stranger has sent
/// it.
std::optional<std::string> remembered(const std::optional<std::string>& choice) {
  if (!choice || choice->empty() || choice->size() > kLongestChoice) return std::nullopt;
  return choice;
}

}  // namespace

PlayedMatch played_match(const envelope::Envelope& envelope, const envelope::GameOver& message,
                         const core::PlayerId& self, const core::LeagueId& league) {
  const auto& result = message.game_result;
  PlayedMatch match;
  match.league_id = envelope.league_id.value_or(league);
  match.match_id = envelope.match_id.value_or(core::MatchId{});
  match.round_id = envelope.round_id.value_or(0);
  match.verdict = verdict_of(result, self);
  match.is_technical = result.status == envelope::GameStatus::kTechnicalLoss;
  match.drawn_number = result.drawn_number;
  for (const auto& [player, choice] : result.choices) {
    if (player == self) {
      match.own_choice = remembered(choice);
    } else {
      match.opponent_id = player;
      match.opponent_choice = remembered(choice);
    }
  }
  return match;
}

std::optional<Error> check_game_over(const game::Definition& rules, const KnownMatch& known,
                                     const envelope::GameOver& message) {
  if (known.is_guest)
    return known.was_invited ? check_own_choice(known.notes, message) : std::nullopt;
  if (message.game_type != rules.game_type()) {
    return result_fault("game_type", "this is a match of " + std::string(rules.game_type()) +
                                         ", not of the named game");
  }
  if (known.was_invited) {
    for (auto check : {check_own_choice, check_own_commitment, check_opponent_commitment}) {
      if (auto fault = check(known.notes, message)) return fault;
    }
  }
  if (auto fault = check_status(message)) return fault;
  if (!can_be_judged(known, message, rules)) return std::nullopt;
  const auto judgement = game::judge(rules, facts_of(known), claim_of(message));
  for (const auto& contradiction : judgement.contradictions) {
    if (counts(contradiction, known, message)) return fault_of(contradiction);
  }
  return std::nullopt;
}

}  // namespace league::player

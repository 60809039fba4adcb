#include "player/core/game_over.h"

namespace league::player {
namespace {

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

}  // namespace league::player

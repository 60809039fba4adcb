#include "tools/league/up/technical_losses.h"

#include <map>
#include <utility>

namespace league::tools {
namespace {

namespace lm = league_manager;

/// Why the player on `side` lost `match`, for which the referee or the manager gave `reason`.
std::string reason_of(const lm::files::LeagueBook& book, lm::events::MatchKey match,
                      lm::events::AgentRef player, game::Side side, const std::string& reason) {
  if (const auto* cause = book.cause(match, side)) return cause->str();
  if (reason != lm::events::kReasonPlayerShutDown) return reason;
  // Takes the last shut-down, which is the cause unless an earlier one was undone in between.
  std::string why;
  for (const auto& note : book.state_changes()) {
    if (note.change.agent == player && note.change.to == lm::events::AgentState::kShutdown)
      why = note.change.reason;
  }
  return why.empty() ? reason : reason + " (" + why + ")";
}

}  // namespace

std::vector<TechnicalLosses> technical_losses_of(const lm::files::LeagueBook& book) {
  std::map<std::pair<lm::events::AgentRef, std::string>, std::vector<std::string>> found;
  const lm::League& league = book.league();
  for (const auto& view : league.schedule_page(0, league.schedule().total_matches())) {
    if (!view.result || view.result->is_voided || !view.result->is_technical()) continue;
    const auto winner = game::winner_of(view.result->outcome);
    const std::string& reason = book.note(view.match).technical_reason;
    for (game::Side side : game::kBothSides) {
      if (winner == side) continue;
      const auto player = lm::events::AgentRef::player(
          side == game::Side::kA ? view.pairing.player_a : view.pairing.player_b);
      found[{player, reason_of(book, view.match, player, side, reason)}].push_back(
          view.match.id().str());
    }
  }
  std::vector<TechnicalLosses> losses;
  for (auto& [key, matches] : found)
    losses.push_back({key.first.id(), key.second, std::move(matches)});
  return losses;
}

}  // namespace league::tools

#include "tools/league/up/table_figures.h"

namespace league::tools {
namespace {

void take_figures(TableRow& row, const league_manager::table::Figures& figures) {
  const auto player = league_manager::events::AgentRef::parse(row.player_id);
  if (!player || static_cast<std::size_t>(player->index) >= figures.players.size()) return;
  const auto& rating = figures.players[static_cast<std::size_t>(player->index)];
  if (!rating) return;
  row.rating = rating->rating;
  row.rating_error = rating->error;
  row.p_first = rating->p_first;
}

}  // namespace

void take_figures(TournamentOutcome& outcome, const league_manager::table::Figures& figures) {
  for (TableRow& row : outcome.standings) take_figures(row, figures);
  if (auto& champion = outcome.progress.champion; champion && figures.matches > 0) {
    take_figures(*champion, figures);
    const auto player = league_manager::events::AgentRef::parse(champion->player_id);
    outcome.progress.is_decided =
        player && league_manager::table::is_decided(figures, player->index);
  }
  outcome.progress.luck = figures.luck;
  outcome.progress.luck_sentence = league_manager::table::luck_sentence(figures.luck);
}

}  // namespace league::tools

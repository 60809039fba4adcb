#include "tools/league/up/result_report.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "common/core/counted.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

using nlohmann::ordered_json;

double rounded(double value) { return std::round(value * 1000) / 1000; }

std::string name_of(const TournamentOutcome& outcome, const std::string& player_id) {
  for (const auto& row : outcome.standings) {
    if (row.player_id == player_id) return row.display_name;
  }
  return {};
}

double rate(const TournamentOutcome& outcome) {
  return outcome.seconds > 0 ? outcome.progress.matches_completed / outcome.seconds : 0;
}

ordered_json row_json(const TableRow& row) {
  return {{"rank", row.rank},     {"player_id", row.player_id}, {"display_name", row.display_name},
          {"played", row.played}, {"wins", row.wins},           {"draws", row.draws},
          {"losses", row.losses}, {"points", row.points}};
}

void add_figures(ordered_json& out, const TableRow& row) {
  if (row.rating) out["rating"] = *row.rating;
  if (row.rating_error) out["rating_error"] = *row.rating_error;
  if (row.p_first) out["p_first"] = *row.p_first;
}

void print_disputes(const std::map<std::string, std::vector<std::string>>& disputed,
                    std::ostream& out) {
  constexpr std::size_t kMostShown = 10;
  out << "disputed matches: " << disputed.size();
  std::size_t shown = 0;
  for (const auto& [match, players] : disputed) {
    if (++shown > kMostShown) {
      out << ", ...";
      break;
    }
    out << (shown == 1 ? " (" : ", ") << safe_text(match) << " by";
    for (const auto& player : players) out << ' ' << safe_text(player);
  }
  out << ")\n";
}

/// The lines sum to the number above them, which counts a match twice that both players lost.
void print_losses(const TournamentOutcome& outcome, std::ostream& out) {
  std::size_t losses = 0;
  for (const auto& one : outcome.technical_losses) losses += one.matches.size();
  const int matches = outcome.progress.technical_losses;
  out << "\ntechnical losses: "
      << (outcome.technical_losses.empty() ? matches : static_cast<long>(losses));
  if (static_cast<long>(losses) > matches)
    out << " in " << core::counted(matches, "match", "matches");
  out << '\n';
  for (const auto& one : outcome.technical_losses) {
    out << "  " << safe_text(name_of(outcome, one.player_id)) << " (" << safe_text(one.player_id)
        << "), " << core::counted(static_cast<long>(one.matches.size()), "match", "matches")
        << ", first " << safe_text(one.matches.front()) << ": " << safe_text(one.reason) << '\n';
  }
}

}  // namespace

ordered_json result_json(const TournamentOutcome& outcome, const RunDirectories& directories) {
  const LeagueProgress& progress = outcome.progress;
  ordered_json result = {{"league_id", progress.league_id},
                         {"state", outcome.was_interrupted ? "INTERRUPTED" : progress.state},
                         {"players", progress.players},
                         {"referees", progress.referees},
                         {"rounds", progress.total_rounds},
                         {"matches", progress.matches_completed},
                         {"matches_scheduled", progress.total_matches},
                         {"technical_losses", progress.technical_losses},
                         {"champion", nullptr},
                         {"standings", ordered_json::array()},
                         {"seconds", rounded(outcome.seconds)},
                         {"matches_per_second", rounded(rate(outcome))},
                         {"logs", directories.logs.string()},
                         {"data", directories.data.string()}};
  if (progress.champion) {
    result["champion"] = {{"player_id", progress.champion->player_id},
                          {"display_name", progress.champion->display_name},
                          {"points", progress.champion->points}};
    add_figures(result["champion"], *progress.champion);
    result["champion"]["decided"] = progress.is_decided;
  }
  if (!progress.shares_first_place.empty())
    result["shared_first_place"] = progress.shares_first_place;
  for (const auto& row : outcome.standings) {
    result["standings"].push_back(row_json(row));
    add_figures(result["standings"].back(), row);
  }
  if (progress.luck) {
    result["luck"] = *progress.luck;
    result["luck_sentence"] = progress.luck_sentence;
  }
  if (!progress.disputed.empty()) result["disputed"] = progress.disputed;
  result["technical_loss_reasons"] = ordered_json::array();
  for (const auto& losses : outcome.technical_losses) {
    result["technical_loss_reasons"].push_back(
        {{"player_id", losses.player_id}, {"reason", losses.reason}, {"matches", losses.matches}});
  }
  return result;
}

void print_result(const TournamentOutcome& outcome, const RunDirectories& directories,
                  std::size_t width, std::ostream& out) {
  const LeagueProgress& progress = outcome.progress;
  for (const auto& line :
       table_lines(outcome.standings, width, outcome.standings.size(), outcome.standings.size()))
    out << line << '\n';
  out << '\n';
  if (outcome.was_interrupted) {
    out << "interrupted: " << progress.matches_completed << " of " << progress.total_matches
        << " matches were played";
  } else if (progress.champion) {
    out << champion_line(progress) << "\n"
        << progress.matches_completed
        << (progress.matches_completed == 1 ? " match in " : " matches in ")
        << progress.total_rounds << (progress.total_rounds == 1 ? " round" : " rounds");
  }
  if (outcome.seconds > 0)
    out << ", " << short_number(outcome.seconds) << " s, " << short_number(rate(outcome))
        << " matches/s";
  if (!progress.luck_sentence.empty()) out << '\n' << safe_text(progress.luck_sentence);
  print_losses(outcome, out);
  if (!progress.disputed.empty()) print_disputes(progress.disputed, out);
  out << "logs: " << directories.logs.string() << "\ndata: " << directories.data.string() << '\n';
}

}  // namespace league::tools

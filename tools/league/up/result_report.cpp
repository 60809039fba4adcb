#include "tools/league/up/result_report.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "common/core/counted.h"
#include "common/schema/fields.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

using league_manager::table::Figures;
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

/// The champion of a result, or nobody.
struct ResultChampion {
  TableRow row;
  bool is_decided = true;

  void describe(schema::Fields& a) {
    a.required("player_id", row.player_id);
    a.required("display_name", row.display_name);
    a.required("points", row.points);
    row.describe_figures(a);
    a.required("decided", is_decided);
  }
};

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

void take_figures(TableRow& row, const Figures& figures) {
  const auto* rating = league_manager::table::rating_of(figures, row.player_id);
  if (rating == nullptr) return;
  row.rating = rating->rating;
  row.rating_error = rating->error;
  row.p_first = rating->p_first;
}

}  // namespace

void take_figures(TournamentOutcome& outcome, const Figures& figures) {
  for (TableRow& row : outcome.standings) take_figures(row, figures);
  if (auto& champion = outcome.progress.champion; champion && figures.matches > 0) {
    take_figures(*champion, figures);
    outcome.progress.is_decided = league_manager::table::is_decided(
        league_manager::table::rating_of(figures, champion->player_id));
  }
  outcome.progress.luck = figures.luck;
  outcome.progress.luck_sentence = league_manager::table::luck_sentence(figures.luck);
}

ordered_json result_json(const TournamentOutcome& outcome, const RunDirectories& directories) {
  const LeagueProgress& progress = outcome.progress;
  std::optional<ResultChampion> champion;
  if (progress.champion) champion = {*progress.champion, progress.is_decided};
  return ordered_json::parse(schema::object_to_text([&](schema::Fields& a) {
    a.required("league_id", progress.league_id);
    a.required("state", outcome.was_interrupted ? std::string("INTERRUPTED") : progress.state);
    a.required("players", progress.players);
    a.required("referees", progress.referees);
    a.required("rounds", progress.total_rounds);
    a.required("matches", progress.matches_completed);
    a.required("matches_scheduled", progress.total_matches);
    a.required("technical_losses", progress.technical_losses);
    a.nullable("champion", champion);
    a.required("standings", outcome.standings);
    a.required("seconds", rounded(outcome.seconds));
    a.required("matches_per_second", rounded(rate(outcome)));
    a.required("logs", directories.logs.string());
    a.required("data", directories.data.string());
    a.filled("shared_first_place", progress.shares_first_place);
    a.optional("luck", progress.luck);
    if (progress.luck) a.required("luck_sentence", progress.luck_sentence);
    a.filled("disputed", progress.disputed);
    a.required("technical_loss_reasons", outcome.technical_losses);
  }));
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

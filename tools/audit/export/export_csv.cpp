#include "tools/audit/export/export_files.h"

#include <array>
#include <cstdio>

#include "common/core/csv.h"
#include "common/core/text.h"
#include "league_manager/files/league_files.h"
#include "league_manager/table/figures.h"
#include "tools/audit/export/export_source.h"

namespace league::tools::auditor {
namespace {

namespace lm = league_manager;

/// A name, which stays text in a spreadsheet: one that begins like a number or a date would become
/// one.
std::string name_of(const lm::files::LeagueBook& book, int player) {
  const std::string& name = agent_of(book, player).profile.display_name;
  return !name.empty() && (name[0] == '.' || (name[0] >= '0' && name[0] <= '9')) ? "'" + name
                                                                                 : name;
}

std::string cell_of(std::string_view text) {
  std::string cell;
  // Spreadsheets run text that begins like this as a formula.
  if (!text.empty() && std::string_view("=+-@\t\r\n").find(text.front()) != std::string_view::npos)
    cell += '\'';
  return cell.append(text);
}

std::string standings_csv(const lm::files::LeagueBook& book, const std::string& head) {
  std::string out = head;
  const lm::table::Figures figures = lm::table::figures_of(book.league());
  for (const auto& row : book.table()) {
    const lm::table::Rating own =
        figures.players[static_cast<std::size_t>(row.player)].value_or(lm::table::Rating{});
    const bool is_rated = figures.players[static_cast<std::size_t>(row.player)].has_value();
    out += csv_record(
        {std::to_string(row.rank), player_id_of(row.player), name_of(book, row.player),
         std::to_string(row.tally.played), std::to_string(row.tally.wins),
         std::to_string(row.tally.draws), std::to_string(row.tally.losses),
         std::to_string(row.tally.points),
         std::string(lm::events::agent_state_name(agent_of(book, row.player).lifecycle.state())),
         agent_of(book, row.player).lifecycle.reason(),
         is_rated ? decimal(own.rating, 7) : std::string(), decimal(own.error, 7),
         decimal(own.p_first, 4)});
  }
  return out;
}

/// The players that dispute the result of `match`, separated by spaces.
std::string disputed_by(const lm::League& league, lm::events::MatchKey match) {
  std::string players;
  const auto disputed = league.disputes().find(match);
  if (disputed == league.disputes().end()) return players;
  for (int player : disputed->second)
    players += (players.empty() ? "" : " ") + player_id_of(player);
  return players;
}

/// Adds the cells of a result; empty cells for a match without one.
void add_result(std::vector<std::string>& cells, const lm::files::LeagueBook& book,
                const lm::MatchView& view) {
  constexpr std::size_t kCells = 22;
  if (view.result) {
    const lm::events::CompactResult& result = *view.result;
    const auto& note = book.note(view.match);
    const auto choices = book.choices(view.match);
    const auto fairness = lm::files::shown_fairness(book.league(), view);
    for (std::string cell :
         {std::string(lm::files::result_status(result)),
          player_id_of(lm::files::winner_of(view.pairing, result)),
          std::to_string(result.points[game::Side::kA]),
          std::to_string(result.points[game::Side::kB]), std::string(choices[game::Side::kA]),
          std::string(choices[game::Side::kB]),
          result.drawn_number > 0 ? std::to_string(result.drawn_number) : std::string(),
          note.technical_reason, note.finished_at.to_log(),
          fairness ? std::string(game::fairness_name(*fairness)) : std::string(),
          std::string(result.by_manager    ? ""
                      : result.is_unproven ? "unproven"
                                           : "proven"),
          disputed_by(book.league(), view.match), cause_of(book, view.match, game::Side::kA),
          cause_of(book, view.match, game::Side::kB)})
      cells.push_back(std::move(cell));
  }
  cells.resize(kCells);
}

std::string matches_csv(const lm::files::LeagueBook& book, const std::string& head) {
  std::string out = head;
  const lm::League& league = book.league();
  for (const auto& view : league.schedule_page(0, league.schedule().total_matches())) {
    std::vector<std::string> cells = {
        std::to_string(view.match.round),
        view.match.id().str(),
        player_id_of(view.pairing.player_a),
        name_of(book, view.pairing.player_a),
        player_id_of(view.pairing.player_b),
        name_of(book, view.pairing.player_b),
        std::string(lm::files::match_status(view.status)),
        view.referee < 0 ? std::string() : lm::events::AgentRef::referee(view.referee).id()};
    add_result(cells, book, view);
    const auto original = league.schedule().replay_of(view.match);
    cells.push_back(original ? original->id().str() : std::string());
    cells.push_back(std::to_string(league.schedule().meeting_of(view.match)));
    out += csv_record(cells);
  }
  return out;
}

}  // namespace

std::string decimal(const std::optional<double>& value, int digits) {
  if (!value) return {};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, *value);
  return text.data();
}

OutputFile csv_file(const std::filesystem::path& path, std::string text, const std::string& head) {
  return {.path = path,
          .write = text_of(std::string(core::kByteOrderMark) + std::move(text)),
          .is_ours = [head](const std::filesystem::path& file) {
            const std::string content = head_of_file(file);
            std::string_view begin = content;
            if (begin.starts_with(core::kByteOrderMark))
              begin.remove_prefix(core::kByteOrderMark.size());
            // An older version wrote fewer columns.
            const std::string_view line = begin.substr(0, begin.find('\r'));
            return line.find(',') != std::string_view::npos && head.starts_with(line);
          }};
}

std::string csv_record(const std::vector<std::string>& cells) {
  std::vector<std::string> safe;
  for (const auto& cell : cells) safe.push_back(cell_of(cell));
  return core::csv_line(safe);
}

std::vector<OutputFile> csv_files(const lm::files::LeagueBook& book,
                                  const std::filesystem::path& out) {
  const std::string standings =
      csv_record({"rank", "player_id", "display_name", "played", "wins", "draws", "losses",
                  "points", "state", "state_reason", "rating", "rating_error", "p_first"});
  const std::string matches = csv_record(
      {"round_id",         "match_id",    "player_A_id", "player_A_name", "player_B_id",
       "player_B_name",    "status",      "referee_id",  "result",        "winner_player_id",
       "score_A",          "score_B",     "choice_A",    "choice_B",      "drawn_number",
       "technical_reason", "finished_at", "fairness",    "proof",         "disputed_by",
       "failure_A",        "failure_B",   "replay_of",   "meeting"});
  return {csv_file(out / "standings.csv", standings_csv(book, standings), standings),
          csv_file(out / "matches.csv", matches_csv(book, matches), matches)};
}

}  // namespace league::tools::auditor

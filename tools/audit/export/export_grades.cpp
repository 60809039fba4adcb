#include "tools/audit/export/export_grades.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/core/comparable_name.h"
#include "common/core/csv.h"
#include "common/core/text.h"
#include "common/schema/parse_json.h"
#include "game/outcome.h"
#include "league_manager/files/remedies.h"
#include "tools/audit/evidence/json_fields.h"
#include "tools/audit/export/export_files.h"

namespace league::tools::auditor {
namespace {

namespace fs = std::filesystem;
namespace lm = league_manager;
using nlohmann::json;

int points_of_a_win() { return game::points_of(game::Outcome::kPlayerAWins)[game::Side::kA]; }

core::Error unusable(const fs::path& file, const std::string& why) {
  return {core::ErrorCode::kInternalError, file.string() + ": " + why, ""};
}

core::Result<std::string> content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return unusable(file, "cannot be read");
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

core::Result<void> read_names(const fs::path& file, GradeColumns& columns) {
  auto text = content_of(file);
  if (!text) return text.error();
  auto table = core::parse_csv(*text);
  if (!table) return unusable(file, table.error().message);
  if (table->records.empty()) return unusable(file, "is empty");
  const auto& heading = table->records.front().fields;
  const auto name = std::ranges::find(heading, "name");
  if (name == heading.end()) return unusable(file, "has no column `name` in its first line");
  const auto name_at = static_cast<std::size_t>(name - heading.begin());
  std::vector<std::size_t> copied;
  for (std::size_t i = 0; i < heading.size(); ++i) {
    if (i == name_at || heading[i] == "code") continue;  // a code is a secret
    copied.push_back(i);
    columns.headings.push_back(heading[i]);
  }
  for (std::size_t row = 1; row < table->records.size(); ++row) {
    const auto& fields = table->records[row].fields;
    if (fields.size() <= name_at) continue;
    auto& cells = columns.by_name[core::comparable_name(fields[name_at])];
    for (std::size_t i : copied) cells.push_back(i < fields.size() ? fields[i] : std::string());
  }
  return {};
}

core::Result<void> read_levels(const fs::path& file, GradeColumns& columns) {
  auto text = content_of(file);
  if (!text) return text.error();
  const auto report = schema::parse_json(*text);
  if (!report || !field_at(*report, "bots").is_array())
    return unusable(file, "is not a report of `league check --format json`");
  for (const json& bot : (*report)["bots"])
    columns.levels[text_at(bot, "subject")] = text_at(bot, "level");
  return {};
}

std::string milliseconds(std::optional<double> value) {
  if (!value) return {};
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", *value);
  return text;
}

std::vector<std::string> grade_row(const lm::files::LeagueBook& book, const PlayerFigures& figures,
                                   const GradeColumns& columns) {
  const int player = figures.row.player;
  const lm::events::Agent& agent = agent_of(book, player);
  const lm::Tally& tally = figures.row.tally;
  std::vector<std::string> row = {player_id_of(player), agent.profile.display_name};
  const auto known = columns.by_name.find(core::comparable_name(agent.profile.display_name));
  for (std::size_t i = 0; i < columns.headings.size(); ++i)
    row.push_back(known != columns.by_name.end() ? known->second[i] : std::string());
  for (int number : {figures.row.rank, tally.played, tally.wins, tally.draws, tally.losses,
                     tally.points, points_of_a_win() * tally.played, figures.technical_losses()})
    row.push_back(std::to_string(number));
  for (int cause = 0; cause < kLossCauses; ++cause)
    row.push_back(std::to_string(figures.losses(static_cast<LossCause>(cause))));
  for (int percent : {50, 90, 99}) row.push_back(milliseconds(figures.answer_percentile(percent)));
  std::uint64_t leniencies = 0;
  for (const auto& [name, count] : figures.leniencies) leniencies += count;
  row.push_back(std::to_string(leniencies));
  row.emplace_back(lm::events::agent_state_name(agent.lifecycle.state()));
  const auto level = columns.levels.find(agent.profile.endpoint);
  row.push_back(level != columns.levels.end() ? level->second : std::string());
  return row;
}

std::vector<const PlayerFigures*> by_rank(std::span<const PlayerFigures> players) {
  std::vector<const PlayerFigures*> order;
  for (const auto& one : players) order.push_back(&one);
  std::ranges::stable_sort(order, {}, [](const auto* one) { return one->row.rank; });
  return order;
}

std::string opponent_of(const lm::files::LeagueBook& book, const OwnMatch& match) {
  return player_id_of(match.opponent) + " " + agent_of(book, match.opponent).profile.display_name;
}

std::string gradescope_json(const lm::files::LeagueBook& book, const PlayerFigures& figures) {
  json tests = json::array();
  for (const OwnMatch& match : figures.matches) {
    if (!match.points) continue;
    tests.push_back({{"name", match.view.match.id().str() + " against " + opponent_of(book, match)},
                     {"score", *match.points},
                     {"max_score", points_of_a_win()},
                     {"output", match_in_words(book, match)}});
  }
  const json out = {
      {"extra_data",
       {{"made_by", "league export"}, {"player_id", player_id_of(figures.row.player)}}},
      {"score", figures.row.tally.points},
      {"output", "rank " + std::to_string(figures.row.rank) + " of " +
                     std::to_string(book.league().roster().count(lm::events::AgentKind::kPlayer))},
      {"tests", tests},
      {"leaderboard", {{{"name", "points"}, {"value", figures.row.tally.points}}}}};
  return out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

core::Result<GradeColumns> read_grade_columns(const GradeSources& sources) {
  GradeColumns columns;
  if (!sources.names.empty()) {
    if (auto read = read_names(sources.names, columns); !read) return read.error();
  }
  for (const auto& file : sources.checks) {
    if (auto read = read_levels(file, columns); !read) return read.error();
  }
  return columns;
}

std::string match_in_words(const lm::files::LeagueBook& book, const OwnMatch& match) {
  const lm::events::CompactResult& result = *match.view.result;
  if (match.lost_technically) {
    const std::string cause = cause_of(book, match.view.match, match.side);
    if (cause.empty())
      return "lost without being played: " + book.note(match.view.match).technical_reason;
    const lm::files::Remedy& remedy =
        lm::files::remedy_of(book.cause(match.view.match, match.side)->error_code);
    return "lost by a failure: " + cause + ". What to do: " + std::string(remedy.text) +
           " (docs/protocol.md, " + std::string(remedy.clause) + ")";
  }
  if (result.is_technical()) return "won, because the opponent failed";
  const auto choices = book.choices(match.view.match);
  const std::string drawn =
      result.drawn_number > 0 ? "; " + std::to_string(result.drawn_number) + " was drawn" : "";
  const char* how = *match.points == points_of_a_win() ? "won"
                    : *match.points == 0               ? "lost"
                                                       : "drew";
  return std::string(how) + ": chose " + std::string(choices[match.side]) + " against " +
         std::string(choices[game::other(match.side)]) + drawn;
}

std::vector<OutputFile> grades_files(const lm::files::LeagueBook& book,
                                     std::span<const PlayerFigures> players,
                                     const GradeColumns& columns, const fs::path& out) {
  std::vector<std::string> heading = {"player_id", "display_name"};
  heading.insert(heading.end(), columns.headings.begin(), columns.headings.end());
  for (const char* name :
       {"rank", "played", "wins", "draws", "losses", "points", "max_points", "technical_losses"})
    heading.emplace_back(name);
  for (int cause = 0; cause < kLossCauses; ++cause)
    heading.emplace_back(loss_cause_name(static_cast<LossCause>(cause)));
  for (const char* name :
       {"answer_p50_ms", "answer_p90_ms", "answer_p99_ms", "leniencies", "state", "check_level"})
    heading.emplace_back(name);
  std::string text = csv_record(heading);
  for (const auto* one : by_rank(players)) text += csv_record(grade_row(book, *one, columns));
  return {{.path = out / "grades.csv",
           .write = text_of(std::move(text)),
           .is_ours = [](const fs::path& file) {
             return head_of_file(file).starts_with("player_id,display_name,");
           }}};
}

std::vector<OutputFile> gradescope_files(const lm::files::LeagueBook& book,
                                         std::span<const PlayerFigures> players,
                                         const fs::path& out) {
  std::vector<OutputFile> files;
  for (const auto& one : players) {
    files.push_back({.path = out / (player_id_of(one.row.player) + ".json"),
                     .write = text_of(gradescope_json(book, one)),
                     .is_ours = [](const fs::path& file) {
                       return head_of_file(file).find("\"made_by\": \"league export\"") !=
                              std::string::npos;
                     }});
  }
  return files;
}

}  // namespace league::tools::auditor

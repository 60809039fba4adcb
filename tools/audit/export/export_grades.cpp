#include "tools/audit/export/export_grades.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "common/agent/identity/course_list.h"
#include "common/core/text.h"
#include "common/envelope/display_name.h"
#include "common/schema/parse_json.h"
#include "game/outcome.h"
#include "league_manager/files/remedies.h"
#include "tools/audit/export/export_files.h"
#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {
namespace {

namespace fs = std::filesystem;
namespace lm = league_manager;
using nlohmann::json;

/// The most points that a match can bring.
int points_of_a_match(const lm::files::LeagueBook& book) {
  const game::Definition& rules = *book.league().settings().rules;
  return std::max(rules.highest_payoff(), rules.technical().winner);
}

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
  auto list = agent::identity::parse_course_list(*text, true);
  if (!list) return unusable(file, list.error().message);
  std::vector<std::size_t> copied;
  for (std::size_t i = 0; i < list->header.size(); ++i) {
    if (list->name_columns == std::vector{i} || i == list->code) continue;  // a code is a secret
    copied.push_back(i);
    columns.headings.push_back(list->header[i]);
  }
  for (const auto& row : list->rows) {
    GradeColumns::Person person{row.line, row.name, {}};
    for (const std::size_t i : copied) person.cells.push_back(row.fields[i]);
    columns.by_name.emplace(envelope::comparable_name(row.name), columns.people.size());
    columns.people.push_back(std::move(person));
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

std::vector<std::string> grade_row(const lm::files::LeagueBook& book, const PlayerFigures& figures,
                                   const GradeColumns& columns) {
  const int player = figures.row.player;
  const lm::events::Agent& agent = agent_of(book, player);
  const lm::Tally& tally = figures.row.tally;
  std::vector<std::string> row = {player_id_of(player), agent.profile.display_name};
  const auto* person = columns.find(agent.profile.display_name);
  for (std::size_t i = 0; i < columns.headings.size(); ++i)
    row.push_back(person != nullptr ? person->cells[i] : std::string());
  for (int number :
       {figures.row.rank, tally.played, tally.wins, tally.draws, tally.losses, tally.points,
        points_of_a_match(book) * tally.played, figures.technical_losses()})
    row.push_back(std::to_string(number));
  for (int cause = 0; cause < kLossCauses; ++cause)
    row.push_back(std::to_string(figures.losses(static_cast<LossCause>(cause))));
  for (int percent : {50, 90, 99}) row.push_back(decimal(figures.answer_percentile(percent), 3));
  std::uint64_t leniencies = 0;
  for (const auto& [name, count] : figures.leniencies) leniencies += count;
  row.push_back(std::to_string(leniencies));
  row.emplace_back(lm::events::agent_state_name(agent.lifecycle.state()));
  const auto level = columns.levels.find(agent.profile.endpoint);
  row.push_back(level != columns.levels.end() ? level->second : std::string());
  return row;
}

/// The row of somebody on the list who has no player: as if each match had been lost.
std::vector<std::string> absent_row(const GradeColumns::Person& person, int most_points) {
  std::vector<std::string> row = {"", person.name};
  row.insert(row.end(), person.cells.begin(), person.cells.end());
  row.insert(row.end(), {"", "0", "0", "0", "0", "0", std::to_string(most_points), "0"});
  row.resize(row.size() + kLossCauses, "0");
  row.insert(row.end(), {"", "", "", "0", "ABSENT", ""});
  return row;
}

/// The people of the list that the league knows: those with a bot.
std::set<const GradeColumns::Person*> people_with_bot(const lm::files::LeagueBook& book,
                                                      std::span<const PlayerFigures> players,
                                                      const GradeColumns& columns) {
  std::set<const GradeColumns::Person*> known;
  for (const auto& one : players)
    known.insert(columns.find(agent_of(book, one.row.player).profile.display_name));
  return known;
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
                     {"max_score", points_of_a_match(book)},
                     {"output", match_in_words(book, match)}});
  }
  const json out = {
      {"extra_data",
       {{"made_by", "league export"}, {"player_id", player_id_of(figures.row.player)}}},
      {"score", figures.row.tally.points},
      {"output", "rank " + std::to_string(figures.row.rank) + " of " +
                     std::to_string(book.league().roster().taken(lm::events::AgentKind::kPlayer))},
      {"tests", tests},
      {"leaderboard", {{{"name", "points"}, {"value", figures.row.tally.points}}}}};
  return out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

const GradeColumns::Person* GradeColumns::find(std::string_view name) const {
  const auto found = by_name.find(envelope::comparable_name(name));
  return found == by_name.end() ? nullptr : &people[found->second];
}

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
  const auto winner = game::winner_of(result.outcome);
  const char* how = !winner ? "drew" : *winner == match.side ? "won" : "lost";
  return std::string(how) + ": chose " + std::string(choices[match.side]) + " against " +
         std::string(choices[game::other(match.side)]) + drawn;
}

std::vector<std::string> unmatched(const lm::files::LeagueBook& book,
                                   std::span<const PlayerFigures> players,
                                   const GradeColumns& columns) {
  std::vector<std::string> notes;
  if (columns.people.empty()) return notes;
  const auto known = people_with_bot(book, players, columns);
  const auto quoted = [](std::string_view name) { return '"' + core::shown(name, 200) + '"'; };
  for (const auto& person : columns.people) {
    const auto* first = columns.find(person.name);
    const std::string line =
        "the list's line " + std::to_string(person.line) + ", " + quoted(person.name);
    if (first != &person) {
      notes.push_back(line + ", has the same name as line " + std::to_string(first->line) +
                      ": ABSENT");
    } else if (!known.contains(&person)) {
      notes.push_back(line + ", has no bot in the league: ABSENT");
    }
  }
  for (const auto& one : players) {
    const std::string& name = agent_of(book, one.row.player).profile.display_name;
    if (columns.find(name) == nullptr)
      notes.push_back(player_id_of(one.row.player) + " " + quoted(name) + " is not on the list");
  }
  return notes;
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
  int most_points = 0;
  for (const auto* one : by_rank(players)) {
    text += csv_record(grade_row(book, *one, columns));
    most_points = std::max(most_points, points_of_a_match(book) * one->row.tally.played);
  }
  const auto known = people_with_bot(book, players, columns);
  for (const auto& person : columns.people)
    if (!known.contains(&person)) text += csv_record(absent_row(person, most_points));
  return {csv_file(out / "grades.csv", std::move(text), "player_id,display_name,")};
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

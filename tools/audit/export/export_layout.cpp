#include "tools/audit/export/export_files.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "league_manager/files/league_files.h"
#include "player/core/history.h"
#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {
namespace {

namespace fs = std::filesystem;
namespace lm = league_manager;
using nlohmann::json;

/// The history in `file`, if it is one of `player`.
std::optional<player::MatchHistory> history_at(const fs::path& file, const std::string& player) {
  std::ifstream in(file, std::ios::binary);
  auto document = json::parse(in, nullptr, false);
  if (!document.is_object() || text_at(document, "player_id") != player) return std::nullopt;
  auto history = player::history_from_json(document);
  if (!history) return std::nullopt;
  return std::move(*history);
}

/// Prepends the matches that the player had played in other leagues before.
player::MatchHistory with_other_leagues(const player::MatchHistory& played, const fs::path& file,
                                        const std::string& player, const core::LeagueId& league) {
  player::MatchHistory all;
  if (auto before = history_at(file, player)) {
    for (const auto& match : before->matches()) {
      if (match.league_id != league) all.add(match);
    }
  }
  for (const auto& match : played.matches()) all.add(match);
  return all;
}

OutputFile history_output(const ExportedLeague& league, const fs::path& out,
                          const std::string& player, const player::MatchHistory& played) {
  const lm::League& of = league.book.league();
  fs::path path = out / "players" / player / "history.json";
  auto all = with_other_leagues(played, path, player, of.settings().league_id);
  auto ref = lm::events::AgentRef::parse(player);
  player::HistoryOwner owner{
      .player_id = core::PlayerId(player),
      .display_name = ref ? of.roster().agent(*ref).profile.display_name : std::string()};
  return {.path = path,
          .write = text_of(player::history_text(all, owner)),
          .is_ours = [player](const fs::path& file) { return !!history_at(file, player); }};
}

/// Whether `path` is the referee's own file of the attempt that counts. It is kept, since a file
/// that is made without the referee's log contains less.
bool is_whole(const fs::path& path, const referee::files::MatchRecordHead& head) {
  std::ifstream in(path, std::ios::binary);
  auto match = json::parse(in, nullptr, false);
  return text_at(match, "league_id") == head.league_id.str() &&
         number_at(match, "attempt") == head.attempt && text_at(match, "state") == "FINISHED" &&
         !field_at(match, "transcript").empty();
}

}  // namespace

std::vector<OutputFile> manager_files(const lm::files::LeagueBook& book, const fs::path& out) {
  const core::LeagueId& id = book.league().settings().league_id;
  auto is_ours = [name = id.str()](const fs::path& file) { return is_file_of_league(file, name); };
  auto writer = [&book](auto write) {
    return [&book, write](core::DraftFile& draft) {
      return write(book, [&draft](std::string_view part) { return draft.write(part); });
    };
  };
  return {{lm::files::standings_file(out, id), writer(lm::files::write_standings), is_ours},
          {lm::files::rounds_file(out, id), writer(lm::files::write_rounds), is_ours}};
}

std::vector<OutputFile> layout_files(ExportedLeague& league, const fs::path& out) {
  auto files = manager_files(league.book, out);
  const core::LeagueId& id = league.book.league().settings().league_id;
  for (const auto& [match, record] : league.matches) {
    auto path = referee::files::match_file(out, id, match.id());
    if (!path) {
      league.notes.push_back(path.error().message);
      continue;
    }
    const referee::files::MatchRecord* one = record.get();
    if (!one->has_transcript() && is_whole(*path, one->head())) continue;
    files.push_back(
        {.path = *path,
         .write = [one](core::DraftFile& draft) { return draft.write(one->json()); },
         .is_ours =
             [name = id.str()](const fs::path& file) { return is_file_of_league(file, name); }});
  }
  for (const auto& [player, played] : league.histories)
    files.push_back(history_output(league, out, player, played));
  return files;
}

}  // namespace league::tools::auditor

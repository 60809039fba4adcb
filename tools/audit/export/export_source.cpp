#include "tools/audit/export/export_source.h"

#include <nlohmann/json.hpp>

#include "common/audit/log/log_reader.h"
#include "common/envelope/codec.h"
#include "player/core/game_over.h"
#include "tools/audit/inspect/audit_text.h"

namespace league::tools::auditor {
namespace fs = std::filesystem;
namespace lm = league_manager;

const lm::events::Agent& agent_of(const lm::files::LeagueBook& book, int player) {
  return book.league().roster().agent(lm::events::AgentRef::player(player));
}

std::string player_id_of(int index) {
  return index < 0 ? std::string() : lm::events::AgentRef::player(index).id();
}

std::string cause_of(const lm::files::LeagueBook& book, lm::events::MatchKey match,
                     game::Side side) {
  const auto* cause = book.cause(match, side);
  if (cause == nullptr) return {};
  return cause->text.empty() ? cause->str() : cause->str() + " (" + cause->text + ")";
}

core::Result<ExportSource> find_export_source(const fs::path& directory, const fs::path& logs) {
  ExportSource source;
  const auto data = league_manager::files::find_data(directory);
  if (!data) {
    return core::Error{core::ErrorCode::kInternalError,
                       directory.string() +
                           " contains no league: neither data/journal/journal.sqlite nor "
                           "journal/journal.sqlite is there. Give the directory of a run, or the "
                           "--data of its manager",
                       ""};
  }
  source.data = *data;
  if (*data != directory) source.logs = directory / "logs";
  if (!logs.empty()) source.logs = logs;
  return source;
}

core::Result<ExportedLeague> read_league(const ExportSource& source) {
  auto book = league_manager::files::read_book(source.data);
  if (!book) return book.error();
  ExportedLeague league;
  league.book = std::move(*book);
  if (source.logs.empty())
    league.notes.emplace_back(
        "no logs were given (--logs): matches are without transcripts, and there are no histories");
  read_matches(source.logs, league);
  read_histories(source.logs, league);
  return league;
}

void read_histories(const fs::path& logs, ExportedLeague& league) {
  if (logs.empty()) return;
  const core::LeagueId& id = league.book.league().settings().league_id;
  for (const auto& path : audit::log::find_logs(logs)) {
    if (!path.filename().string().starts_with("P")) continue;
    auto summary = audit::log::read_log(path, [&](const audit::log::LogEntry& entry) {
      constexpr std::string_view kPlayer = "player:";
      if (!entry.agent.starts_with(kPlayer) || entry.outbound || entry.kind != "request" ||
          entry.message_type != "GAME_OVER" || !entry.verdict.empty())
        return;
      auto player =
          lm::events::AgentRef::parse(std::string_view(entry.agent).substr(kPlayer.size()));
      if (!player || !league.book.league().roster().contains(*player)) return;
      auto message = message_of(entry);
      auto envelope = envelope::decode_envelope(message);
      auto over = envelope::decode<envelope::GameOver>(message);
      if (!envelope || !over || envelope->league_id.value_or(id) != id) return;
      auto played = player::played_match(*envelope, *over, core::PlayerId(player->id()), id);
      played.league_key = league.book.league().settings().league_key;
      league.histories[player->id()].add(std::move(played));
    });
    if (!summary) league.notes.push_back(summary.error().message);
  }
}

}  // namespace league::tools::auditor

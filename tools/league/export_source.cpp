#include "tools/league/export_source.h"

#include <nlohmann/json.hpp>

#include "common/audit/log_reader.h"
#include "common/envelope/codec.h"
#include "common/journal/sqlite_journal.h"
#include "league_manager/event_codec.h"
#include "player/game_over.h"
#include "tools/league/audit_body.h"

namespace league::tools {
namespace {

namespace fs = std::filesystem;
namespace lm = league_manager;

fs::path journal_of(const fs::path& data) { return data / "journal" / "journal.sqlite"; }

}  // namespace

std::string player_id_of(int index) {
  return index < 0 ? std::string() : lm::AgentRef::player(index).id();
}

core::Result<ExportSource> find_export_source(const fs::path& directory, const fs::path& logs) {
  std::error_code ignored;
  ExportSource source;
  if (fs::exists(journal_of(directory / "data"), ignored)) {
    source = {.data = directory / "data", .logs = directory / "logs"};
  } else if (fs::exists(journal_of(directory), ignored)) {
    source.data = directory;
  } else {
    return core::Error{core::ErrorCode::kInternalError,
                       directory.string() +
                           " holds no league: neither data/journal/journal.sqlite nor "
                           "journal/journal.sqlite is there. Give the directory of a run, or the "
                           "--data of its manager",
                       ""};
  }
  if (!logs.empty()) source.logs = logs;
  return source;
}

core::Result<lm::LeagueBook> read_book(const fs::path& data) {
  lm::LeagueBook book;
  auto read = journal::read_journal(journal_of(data),
                                    [&book](const journal::Entry& entry) -> core::Result<void> {
                                      auto event = lm::from_record(entry.record);
                                      if (!event) return event.error();
                                      return book.apply(*event);
                                    });
  if (!read) return read.error();
  if (!book.is_open()) {
    return core::Error{core::ErrorCode::kInternalError,
                       journal_of(data).string() + " holds no event yet: there is no league", ""};
  }
  return book;
}

core::Result<ExportedLeague> read_league(const ExportSource& source) {
  auto book = read_book(source.data);
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
  for (const auto& path : audit::find_logs(logs)) {
    if (!path.filename().string().starts_with("P")) continue;
    auto summary = audit::read_log(path, [&](const audit::LogEntry& entry) {
      constexpr std::string_view kPlayer = "player:";
      if (!entry.agent.starts_with(kPlayer) || entry.outbound || entry.kind != "request" ||
          entry.message_type != "GAME_OVER" || !entry.verdict.empty())
        return;
      auto player = lm::AgentRef::parse(std::string_view(entry.agent).substr(kPlayer.size()));
      if (!player || !league.book.league().roster().contains(*player)) return;
      auto message = message_of(entry);
      auto envelope = envelope::decode_envelope(message);
      auto over = envelope::decode<envelope::GameOver>(message);
      if (!envelope || !over || envelope->league_id.value_or(id) != id) return;
      league.histories[player->id()].add(
          player::played_match(*envelope, *over, core::PlayerId(player->id()), id));
    });
    if (!summary) league.notes.push_back(summary.error().message);
  }
}

}  // namespace league::tools

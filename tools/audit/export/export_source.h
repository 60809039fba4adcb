#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/core/result.h"
#include "league_manager/files/journal_book.h"
#include "league_manager/files/league_book.h"
#include "player/core/history.h"
#include "referee/files/match_record.h"

namespace league::tools::auditor {

/// The player's entry in the roster.
[[nodiscard]] const league_manager::events::Agent& agent_of(
    const league_manager::files::LeagueBook& book, int player);

/// `P01` of the player 0; empty for -1.
[[nodiscard]] std::string player_id_of(int index);

/// Why the player on `side` lost `match` technically, `CALL: E001 TIMEOUT_ERROR (text)`; empty if
/// no cause is known.
[[nodiscard]] std::string cause_of(const league_manager::files::LeagueBook& book,
                                   league_manager::events::MatchKey match, game::Side side);

/// Where a league's journal and conversation logs are.
struct ExportSource {
  std::filesystem::path data;
  std::filesystem::path logs;  ///< may be missing
};

/// Everything that a league has left in its journal and logs, combined.
struct ExportedLeague {
  league_manager::files::LeagueBook book;
  std::map<league_manager::events::MatchKey, std::unique_ptr<referee::files::MatchRecord>> matches;
  std::map<std::string, player::MatchHistory> histories;  ///< by player id: of those with a log
  std::vector<std::string> notes;  ///< what could not be found, for people
};

/// `directory` holds data/ and logs/, or is a data directory itself. Fails when it holds no
/// journal.
[[nodiscard]] core::Result<ExportSource> find_export_source(const std::filesystem::path& directory,
                                                            const std::filesystem::path& logs);

/// Journal and logs. Missing or damaged logs are only noted; a missing or damaged journal is an
/// error.
[[nodiscard]] core::Result<ExportedLeague> read_league(const ExportSource& source);

/// The matches of `league.book` that have been assigned or decided: life cycle and transcript from
/// the referees' logs, results from the journal if no log has them.
void read_matches(const std::filesystem::path& logs, ExportedLeague& league);

/// What each player with a log was told by GAME_OVER in this league.
void read_histories(const std::filesystem::path& logs, ExportedLeague& league);

}  // namespace league::tools::auditor

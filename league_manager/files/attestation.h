#pragma once

#include <optional>
#include <string>

#include "common/journal/journal_mark.h"
#include "league_manager/files/league_book.h"

namespace league::league_manager::files {

/// The texts under the signed result of a completed league, pure functions of its journal: manager
/// and verifier make them with the same code. Each line ends with a line feed. Source: protocol §8.

/// `RANK|ID|PLAYED|WINS|DRAWS|LOSSES|POINTS` of each row of the final table, in its order.
[[nodiscard]] std::string table_text(const LeagueBook& book);

/// `MATCH|ATTEMPT|REFEREE|WINNER|NUMBER|CHOICE_A|CHOICE_B|TERMINATION|VOID` of each match that has
/// a result, in the order of the schedule. `-` stands for what there is not; TERMINATION is
/// `NORMAL` unless somebody lost by a failure; VOID is `VOID` or `-`, and a void match keeps its
/// winner.
[[nodiscard]] std::string results_text(const LeagueBook& book);

/// `ID SEQ HASH` of each agent's log, sorted by id.
[[nodiscard]] std::string heads_text(const LogHeads& heads);

/// What is signed: the league's key, the digests of the texts above, and `end`, the entry of the
/// journal up to which all of it holds. `supersedes`: the statement that this one replaces, if any.
[[nodiscard]] std::string attestation_statement(
    const LeagueBook& book, const journal::JournalPosition& end,
    const std::optional<std::string>& supersedes = std::nullopt);

}  // namespace league::league_manager::files

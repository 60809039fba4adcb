#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "game/games.h"
#include "tools/audit/evidence/verify_journal.h"
#include "tools/audit/verify/verify_accepted_losses.h"
#include "tools/audit/verify/verify_match.h"

namespace league::tools::auditor {

/// Checks the accepted reports against the players' own records: the choices, and technical losses
/// of players that did answer.
void check_choices(const LeagueEvidence& evidence, Findings& findings);

/// Adds an incident for each dispute on whom the sealed records support in the very claim that the
/// player makes. Call it after all other checks, whose results in `findings` it uses.
void note_disputes(const LeagueEvidence& evidence, Findings& findings);

/// Compares what players were told in GAME_OVER with the reports that the manager accepted.
void check_endings(const std::vector<LeagueLog>& logs, const LeagueEvidence& evidence,
                   Findings& findings);

/// Checks the technical losses that the manager accepted at a call that had left the referee: it
/// has asked the player, if that declared receipts, and the player's log has the call. Protocol §7.
void check_losses(const LeagueEvidence& evidence, const JournalLeague* kept, Findings& findings);

/// Notes referees whose uncommitted players win too often against committed ones.
void note_steered(const LeagueEvidence& evidence, Findings& findings);

/// Recomputes the receipts that the manager found valid, once it has published their keys.
void check_receipts(const std::vector<LeagueLog>& logs, const LeagueEvidence& evidence,
                    const audit::log::LeagueIdentity& league, const JournalLeague* kept,
                    Findings& findings);

/// Whether `player` lost by the report because it declined the invitation.
[[nodiscard]] bool has_declined(const AcceptedReport& report, const std::string& player);

/// Whether the manager found the receipts of `player` in an accepted report valid.
[[nodiscard]] bool has_valid_receipts(const std::string& player, const std::string& match_id,
                                      const MatchEvidence& match, const JournalLeague* kept);

/// Checks what the ends of logs and journal, as agents and manager told them to each other, and the
/// signed end of the league say. Protocol §8.
void check_witnesses(const std::vector<LeagueLog>& logs, const audit::log::LeagueIdentity& league,
                     const JournalLeague* kept, Findings& findings);

/// The results up to an entry of the journal, in the text whose digest is signed at the league's
/// end; nothing if there is no such entry.
[[nodiscard]] std::optional<std::string> attested_results(const std::filesystem::path& journal,
                                                          std::uint64_t entry);

/// Keeps one fault for each match of those that follow from each other, so that one false statement
/// is one finding. docs/audit.md, "One finding".
void judge_once(const std::vector<LeagueLog>& logs, Findings& findings);

/// Checks that the commitments in the accepted reports are those in the players' sealed logs, that
/// they are opened, and that they stay the same in all attempts. Protocol §7.
void check_commitments(const LeagueEvidence& evidence, Findings& findings);

/// What a player's own log shows that it was handed over, as the opponent's commitment.
struct HandedOver {
  const GameCall* call = nullptr;  ///< that it answered; null: its log does not show it
  bool is_proof = false;  ///< one process recorded the match, and a seal covers it
};
[[nodiscard]] HandedOver handed_to(const std::string& player, const AcceptedReport& report,
                                   const MatchEvidence& match, const LeagueEvidence& evidence);

/// Checks that the manager calls no match fairer than `hosted` in which it runs a player.
/// Protocol §10.
void check_hosted(const LeagueEvidence& evidence, const JournalLeague* kept, Findings& findings);

/// The fairness of a match: `both`, `one` or `none` of the players committed; `hosted` for the
/// first two if the manager runs one of them; `claimed` if the
/// report lists a commitment of which no sealed log shows that it was handed over to the opponent;
/// `disputed` if a player says that the result is false.
[[nodiscard]] std::string sealed_fairness(const AcceptedReport& report, const MatchEvidence& match,
                                          const LeagueEvidence& evidence,
                                          const JournalLeague* kept);

/// How a match counts in the table.
struct Score {
  game::Outcome outcome = game::Outcome::kNoWinner;
  game::PerSide<int> points;

  bool operator==(const Score&) const = default;
};

/// The result of a match as the manager accepted it.
struct LeagueResult {
  Score score;
  std::optional<std::string> conversation;  ///< of the report, if it is known; empty: none
  LogPosition place;
};
using LeagueResults = std::map<std::string, LeagueResult>;

/// Checks one accepted report against all facts about its match; returns the score, if it has one
/// that can count in a table.
std::optional<Score> check_report(const AcceptedReport& report, const LeagueEvidence& evidence,
                                  Findings& findings);

/// Whether the revealed `seed` matches the commitment for the match; a fault otherwise.
bool check_seed(const std::string& match_id, const std::string& seed, const LogPosition& place,
                const LeagueEvidence& evidence, Findings& findings);

/// Checks the accepted reports (commitments, drawn numbers, winners, one result per match) and the
/// final table, and compares them with the manager's journal (null: unknown). Protocol §7.
void check_results(const std::vector<LeagueLog>& logs, const LeagueEvidence& evidence,
                   const JournalLeague* kept, const std::vector<DecidedAttempt>& decided,
                   Findings& findings);

/// Compares the final `table` that the manager sent with `results`.
void check_table(const FinalTable& table, const LeagueEvidence& evidence,
                 const LeagueResults& results, const JournalLeague* kept, Findings& findings);

/// Compares `leagues/*/standings.json` and `rounds.json` in `data`, byte by byte, with the content
/// that follows from the journal up to the entry that the file names; also compares the rows of a
/// finished league with `final_standings`, the table that the manager sent to everybody (null if it
/// sent none). A file that is older than the journal is no fault, since files are written in the
/// background. A file that is ahead of it is a fault, unless a manager took over from another one
/// since. docs/files.md.
void check_projections(const std::filesystem::path& data, const nlohmann::json& final_standings,
                       Findings& findings);

/// Compares the referees' `matches/*/*.json` and the players' `history.json` in `data` with the
/// results in the manager's journal (`kept`), or with the accepted reports if `kept` is null. A
/// file that was written before its match was given up is no fault. docs/files.md.
void check_match_files(const std::filesystem::path& data, const LeagueEvidence& evidence,
                       const JournalLeague* kept, const AcceptedLosses& past,
                       const audit::log::LeagueIdentity& league, Findings& findings);

}  // namespace league::tools::auditor

#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "tools/audit/rules/accepted_losses.h"
#include "tools/audit/rules/evidence.h"

namespace league::tools::auditor {

/// What the rules judge: the records of one league. Everything outlives it.
struct LeagueCase {
  const std::vector<LeagueLog>& logs;
  const audit::log::LeagueIdentity& league;
  const JournalLeague* kept = nullptr;  ///< null: there is no journal
  const AcceptedLosses& past;
  const LeagueEvidence& evidence;
  std::filesystem::path data = {};  ///< empty: its files are not judged
};

/// Adds what is wrong with a league. Several rules may have the same check, which runs once.
using Check = void (*)(const LeagueCase& league, Findings& findings);

/// Of what a rule finds: a contradiction, evidence that is not there, or what breaks no rule.
enum class RuleKind { kFault, kMissing, kIncident };
/// Whether scripts/verify_log.py has the rule, too.
enum class Verifiers { kBoth, kOurs };
/// What a rule needs: single lines, single records, what stands in the directory (these are checked
/// while they are read, and have no check); the logs of a league, its journal, its other files.
enum class Needs { kLine, kRecord, kDirectory, kLogs, kJournal, kFiles };

/// A row of the table of rules, which docs/audit.md shows.
struct Rule {
  std::string_view names;  ///< one or several that are explained together, with blanks between them
  RuleKind kind;
  std::string_view
      about;  ///< its class: `damage`, `protocol`, `secret`, `draw`, `result`, `missing`
  Verifiers verifiers;
  Needs needs;
  Check check;  ///< null: checked where the evidence is read
  std::string_view text;  ///< what is wrong, in Markdown
};

/// All rules, in the order in which they are checked; faults and missing evidence come first.
[[nodiscard]] std::span<const Rule> all_rules();

/// The class of a rule, for people.
[[nodiscard]] std::string_view class_of_rule(std::string_view name);

/// Checks one league by all rules that have a check. Of the faults that follow from each other it
/// keeps one for each match: docs/audit.md, "One finding".
void check_rules(const LeagueCase& league, Findings& findings);

/// Keeps one fault for each match of those that follow from each other, so that one false statement
/// is one finding.
void judge_once(const std::vector<LeagueLog>& logs, Findings& findings);

// The checks of the table; each says more where it is defined.
void check_senders(const LeagueCase& league, Findings& findings);
void check_heads(const LeagueCase& league, Findings& findings);
void check_transfers(const LeagueCase& league, Findings& findings);
void check_copies(const LeagueCase& league, Findings& findings);
void check_strays(const LeagueCase& league, Findings& findings);
void check_keys(const LeagueCase& league, Findings& findings);
void check_order(const LeagueCase& league, Findings& findings);
void check_results(const LeagueCase& league, Findings& findings);
void check_choices(const LeagueCase& league, Findings& findings);
void check_commitments(const LeagueCase& league, Findings& findings);
void check_losses(const LeagueCase& league, Findings& findings);
void check_receipts(const LeagueCase& league, Findings& findings);
void check_hosted(const LeagueCase& league, Findings& findings);
void check_endings(const LeagueCase& league, Findings& findings);
void check_witnesses(const LeagueCase& league, Findings& findings);
void note_steered(const LeagueCase& league, Findings& findings);
void note_disputes(const LeagueCase& league, Findings& findings);
void check_projections(const LeagueCase& league, Findings& findings);
void check_match_files(const LeagueCase& league, Findings& findings);

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

/// What a check of one accepted report works with. Everything outlives it.
class ReportJudge {
 public:
  ReportJudge(const AcceptedReport& report, const MatchEvidence& match,
              const LeagueEvidence& evidence, Findings& findings)
      : report_(report),
        match_(match),
        evidence_(evidence),
        findings_(findings),
        read_(read_report(report)) {}

 protected:
  void fault(const char* rule, std::string text) {
    findings_.fault(report_.place, rule, std::move(text));
  }
  void incident(const char* rule, std::string text) {
    findings_.incident(report_.place, rule, std::move(text));
  }

  const AcceptedReport& report_;
  const MatchEvidence& match_;
  const LeagueEvidence& evidence_;
  Findings& findings_;
  const ReadReport read_;
};

/// Checks one accepted report against all facts about its match; returns the score, if it has one
/// that can count in a table.
std::optional<Score> check_report(const AcceptedReport& report, const LeagueEvidence& evidence,
                                  Findings& findings);

/// Whether the revealed `seed` matches the commitment for the match; a fault otherwise.
bool check_seed(const std::string& match_id, const std::string& seed, const LogPosition& place,
                const LeagueEvidence& evidence, Findings& findings);

/// Checks the clock proofs of a report: that a match that was lost by a time-out has them, and that
/// they justify the loss. Source: the fair clock of docs/protocol.md.
void check_clock(const AcceptedReport& report, Findings& findings);

/// Compares the final `table` that the manager sent with `results`.
void check_table(const FinalTable& table, const LeagueCase& league, const LeagueResults& results,
                 Findings& findings);

}  // namespace league::tools::auditor

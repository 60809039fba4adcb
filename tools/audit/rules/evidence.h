#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "game/judge.h"
#include "tools/audit/facts/journal.h"
#include "tools/audit/rules/league_log.h"

namespace league::tools::auditor {

/// The facts about one match. Pointers refer to the facts of the league's logs.
struct MatchEvidence {
  std::string player_a;
  std::string player_b;
  std::string game_type;
  std::int64_t round = 0;
  std::map<std::string, LogPosition> commitments;  ///< of the draw, each with its first place
  std::string promised;  ///< the first of them, from the manager if possible
  const Described* other = nullptr;  ///< the first description with another commitment
  std::vector<const Assignment*> assignments;  ///< in order
  std::vector<const AcceptedReport*> reports;
  std::vector<const GameCall*> own;  ///< in the logs of the players themselves
  std::vector<const GameCall*> at_referee;  ///< in the logs of the match's referees
  std::vector<const Dispute*> disputes;

  /// The last assignment in `conversation`; null if it is a conversation of the referee's own.
  [[nodiscard]] const Assignment* assigned_in(const std::string& conversation) const;
  [[nodiscard]] bool is_announced() const { return !player_a.empty() && !player_b.empty(); }
  [[nodiscard]] const std::string& opponent_of(const std::string& player) const {
    return player == player_a ? player_b : player_a;
  }
};

/// The facts of all logs of one league, put together. `logs` outlives it. Not thread-safe.
class LeagueEvidence {
 public:
  /// `kept`: the journal; null where there is none.
  LeagueEvidence(const std::vector<LeagueLog>& logs, const JournalLeague* kept);

  [[nodiscard]] const std::map<std::string, MatchEvidence>& matches() const { return matches_; }
  /// The conversation of the attempt that `report` is about, even if the report names another one.
  [[nodiscard]] static std::string conversation_of(const AcceptedReport& report,
                                                   const MatchEvidence& match);
  /// Whether `call` belongs to the attempt that `report` is about.
  [[nodiscard]] static bool is_of(const AcceptedReport& report, const MatchEvidence& match,
                                  const GameCall& call);
  /// The calls of the attempt that `report` is about, in the log of `player`, in order.
  [[nodiscard]] static std::vector<const GameCall*> own_calls(const AcceptedReport& report,
                                                              const MatchEvidence& match,
                                                              const std::string& player);
  /// Null for an unknown match.
  [[nodiscard]] const MatchEvidence* match(const std::string& id) const;
  /// The log of `agent` (`player:P01`), from any of its processes; null if there is none.
  [[nodiscard]] const LeagueLog* log_of(const std::string& agent) const;
  /// The registrations of `agent` that the manager accepted.
  [[nodiscard]] std::vector<const Registration*> registrations_of(const std::string& agent) const;
  /// Whether `referee` declared match credentials, which means that it is one of this project.
  [[nodiscard]] bool has_match_credentials(const std::string& referee) const;
  /// Whether the league's logs are from versions in which referees could declare match credentials.
  [[nodiscard]] bool knows_credentials() const { return knows_credentials_; }
  /// The game called `game_type`, as this league plays it.
  [[nodiscard]] core::Result<game::SharedDefinition> game_of(const std::string& game_type) const;
  /// Where the manager told an agent another game than the league's; nothing: nowhere.
  [[nodiscard]] const std::optional<LogPosition>& other_game() const { return other_game_; }
  /// The commitment of the draw as it was announced; nothing if none was announced.
  [[nodiscard]] static std::optional<std::string> commitment_of(const MatchEvidence& match);
  /// Whether `referee` (`referee:REF01`) was assigned the match, in any attempt.
  [[nodiscard]] static bool is_referee_of(const std::string& referee, const MatchEvidence& match);

 private:
  enum class Source { kManagersLog, kManagersWord, kReferees };
  void take_descriptions(const LeagueLog& log, Source source);
  void take_calls(const LeagueLog& log);

  const std::vector<LeagueLog>& logs_;
  std::map<std::string, MatchEvidence> matches_;
  bool knows_credentials_ = false;
  game::SharedDefinition game_;  ///< the league's; null where nothing says it
  std::optional<LogPosition> other_game_;
};

/// The referee's measurements at a time-out: the fair clock of docs/protocol.md.
struct ReportedClock {
  std::optional<std::int64_t> limit_ms;
  std::optional<std::int64_t> sent_us;  ///< when the call left
  std::int64_t scheduling_delay_us = 0;
  std::int64_t canary_us = 0;
  std::int64_t seat_delay_us = 0;
  bool is_void = false;
};

/// A call that failed, as a report has it.
struct ReportedFailure {
  std::string player;
  std::string call;  ///< message type; empty where the report does not say
  std::string code;
  std::string phase;
  std::int64_t attempt = 0;
  std::optional<ReportedClock> clock;
};

/// A report in the form that the judge needs, with additional fields.
struct ReadReport {
  game::Claim claim;
  std::string termination;
  bool is_played = false;  ///< both chose
  std::optional<std::int64_t> attempt;
  std::int64_t replays = 0;
  std::vector<ReportedFailure> failures;
  std::string form_error;  ///< why it is not a valid result; empty: it is

  /// Whether `player` lost, in a match that somebody lost by a failure.
  [[nodiscard]] bool has_lost(const std::string& player) const {
    return player != claim.winner && (claim.winner || termination == "BOTH_FAILED");
  }
  /// Whether it says that somebody lost by a failure.
  [[nodiscard]] bool is_technical() const {
    return !termination.empty() && termination != "NORMAL";
  }
  [[nodiscard]] std::vector<ReportedFailure> failures_of(const std::string& player) const;
  /// The players that failed.
  [[nodiscard]] std::set<std::string> failed() const;
};
[[nodiscard]] ReadReport read_report(const AcceptedReport& report);
/// The failures that the result of a report lists.
[[nodiscard]] std::vector<ReportedFailure> failures_in(const nlohmann::json& result);

/// The outcome according to winner and score of a `result`; nothing if they are not valid.
[[nodiscard]] std::optional<game::Outcome> outcome_in(const nlohmann::json& result,
                                                      const MatchEvidence& match,
                                                      const LeagueEvidence& evidence);

/// The value that a report lists for `player`; nothing if it lists none.
[[nodiscard]] std::optional<std::string> value_of(const game::ByPlayer& values,
                                                  const std::string& player);

/// Whether `player` lost by the report because it declined the invitation.
[[nodiscard]] bool has_declined(const AcceptedReport& report, const std::string& player);

/// Whether the manager found the receipts of `player` in an accepted report valid.
[[nodiscard]] bool has_valid_receipts(const std::string& player, const std::string& match_id,
                                      const MatchEvidence& match, const JournalLeague* kept);

/// What a player's own log shows that it was handed over, as the opponent's commitment.
struct HandedOver {
  const GameCall* call = nullptr;  ///< that it answered; null: its log does not show it
  bool is_proof = false;  ///< one process recorded the match, and a seal covers it
};
[[nodiscard]] HandedOver handed_to(const std::string& player, const AcceptedReport& report,
                                   const MatchEvidence& match, const LeagueEvidence& evidence);

/// The fairness of a match: `both`, `one` or `none` of the players committed; `hosted` for the
/// first two if the manager runs one of them; `claimed` if the
/// report lists a commitment of which no sealed log shows that it was handed over to the opponent;
/// `disputed` if a player says that the result is false.
[[nodiscard]] std::string sealed_fairness(const AcceptedReport& report, const MatchEvidence& match,
                                          const LeagueEvidence& evidence,
                                          const JournalLeague* kept);

}  // namespace league::tools::auditor

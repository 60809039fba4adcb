#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/audit/rules/rules.h"

#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {
namespace {

/// Checks the results of a league in its manager's log and in the journal.
class ResultCheck {
 public:
  ResultCheck(const LeagueCase& league, Findings& findings)
      : league_(league), logs_(league.logs), evidence_(league.evidence), findings_(findings) {}

  void run() {
    const JournalLeague* kept = league_.kept;
    check_commitments();
    if (const auto& place = evidence_.other_game()) {
      findings_.fault(*place, "game.differs",
                      "the manager told another game than the one that the league plays");
    }
    for (const LeagueLog& log : logs_) {
      for (const AcceptedReport& report : log.facts.reports) take(report);
    }
    check_revealed();
    if (kept != nullptr) check_kept(*kept);
    note_undrawn(kept != nullptr ? *kept : JournalLeague());
    note_abandoned(findings_.decided);
    note_voided(kept);
    for (const LeagueLog& log : logs_) {
      if (const FinalTable* table = log.facts.final_table())
        check_table(*table, league_, results_, findings_);
    }
  }

 private:
  void check_commitments() {
    for (const auto& [id, match] : evidence_.matches()) {
      if (match.other == nullptr) continue;
      findings_.fault(match.other->place, "draw.commitment",
                      id + " has several commitments: not everybody got the same one");
    }
  }

  void take(const AcceptedReport& report) {
    reported_.insert(report.match_id);
    auto score = check_report(report, evidence_, findings_);
    if (!score) return;
    // A third-party referee reports in a conversation of its own: that conversation does not
    // identify the attempt.
    const MatchEvidence* match = evidence_.match(report.match_id);
    auto conversation = match->assigned_in(report.conversation) != nullptr
                            ? std::optional(report.conversation)
                            : std::nullopt;
    auto [known, is_new] = results_.try_emplace(
        report.match_id, LeagueResult{*score, std::move(conversation), report.place});
    if (!is_new && known->second.score != *score)
      findings_.fault(report.place, "result.second",
                      report.match_id + " already has a different result");
  }

  /// Checks the seeds that the referees of the matches revealed to players in GAME_OVER.
  void check_revealed() {
    for (const LeagueLog& log : logs_) {
      for (const ReceivedGameOver& one : log.facts.ends) {
        const MatchEvidence* match = evidence_.match(one.match_id);
        if (match != nullptr && !one.seed.empty() &&
            LeagueEvidence::is_referee_of(one.sender, *match))
          (void)check_seed(one.match_id, one.seed, one.place, evidence_, findings_);
      }
    }
  }

  void check_kept(const JournalLeague& kept) {
    kept_file_ = kept.file.string();
    for (const JournalResult& result : kept.results) compare(result, {&kept_file_, result.entry});
    for (const auto& [match, result] : results_) {
      if (!journalled_.contains(match))
        findings_.fault(result.place, "journal.missing",
                        "the journal does not have the result of " + match);
    }
  }

  void compare(const JournalResult& kept, const LogPosition& place) {
    const std::string& match = kept.match_id;
    if (!journalled_.insert(match).second)
      findings_.fault(place, "journal.twice", match + " has two results in the journal");
    auto logged = results_.find(match);
    if (kept.by_manager) {
      results_.try_emplace(match, LeagueResult{{kept.outcome, kept.points}, "", place});
    } else if (logged == results_.end()) {
      if (!reported_.contains(match)) compare_with_referee(kept, place);
      results_.try_emplace(match, LeagueResult{{kept.outcome, kept.points}, std::nullopt, place});
    } else if (logged->second.score.outcome != kept.outcome) {
      findings_.fault(logged->second.place, "journal.differs",
                      "the journal has a different result for " + match);
    }
  }

  /// A manager that was killed, or one whose log is not here, has no record of a report that it
  /// accepted: the record of the referee that sent it is evidence, too.
  void compare_with_referee(const JournalResult& kept, const LogPosition& place) {
    const MatchEvidence* match = evidence_.match(kept.match_id);
    for (const LeagueLog& log : logs_) {
      for (const AcceptedReport& sent : log.facts.sent_reports) {
        if (match == nullptr || sent.match_id != kept.match_id) continue;
        if (outcome_in(sent.result, *match, evidence_) == kept.outcome) return;
        return findings_.fault(sent.place, "journal.differs",
                               "the journal has a different result for " + kept.match_id);
      }
    }
    if (is_log_complete())
      findings_.fault(place, "journal.unlogged", "no log has the report of " + kept.match_id);
  }

  [[nodiscard]] bool is_log_complete() const {
    bool has_manager = false;
    for (const LeagueLog& log : logs_) {
      if (!log.names.contains("league_manager")) continue;
      has_manager = true;
      if (!log.log->chain.complete) return false;
    }
    return has_manager;
  }

  /// Notes draw commitments that were never used, once the league or the match is over.
  void note_undrawn(const JournalLeague& kept) {
    bool is_over = std::ranges::any_of(
        logs_, [](const LeagueLog& log) { return log.facts.final_table() != nullptr; });
    std::map<std::string, std::string> reasons;
    for (const JournalResult& result : kept.results) {
      if (result.by_manager) reasons[result.match_id] = result.reason;
    }
    for (const auto& [id, match] : evidence_.matches()) {
      if (match.commitments.empty() || (reported_.contains(id) && !reasons.contains(id))) continue;
      auto result = results_.find(id);
      bool is_reported = result != results_.end() && !reasons.contains(id);
      if (is_reported || (result == results_.end() && !is_over)) continue;
      std::string text = id + " was ended by the manager" +
                         (reasons.contains(id) ? " (" + reasons[id] + ")" : "") +
                         ": nothing was drawn, and its seed was revealed to nobody";
      auto seed = kept.seeds.find(id);
      if (seed != kept.seeds.end() &&
          check_seed(id, seed->second, {&kept_file_, 0}, evidence_, findings_))
        text += "; the manager's journal has the promised one";
      findings_.incident(match.commitments.begin()->second, "draw.unrevealed", std::move(text));
    }
  }

  /// Notes abandoned attempts in which both players had chosen: everybody who knew the seed knew
  /// the result and could have abandoned it because of that.
  void note_abandoned(const std::vector<DecidedAttempt>& decided) {
    std::set<std::string> played;
    for (const DecidedAttempt& attempt : decided) played.insert(attempt.conversation);
    for (const DecidedAttempt& attempt : decided) {
      auto result = results_.find(attempt.match_id);
      if (result == results_.end()) continue;
      const std::string reported = result->second.conversation.value_or(attempt.conversation);
      if (reported == attempt.conversation) continue;
      // A third-party referee may call in one conversation and report in another.
      const MatchEvidence* match = evidence_.match(attempt.match_id);
      if (!played.contains(reported) && match != nullptr &&
          match->assigned_in(attempt.conversation) == nullptr)
        continue;
      findings_.incident(attempt.place, "draw.abandoned",
                         "both players of " + attempt.match_id + " had chosen in " +
                             attempt.conversation + referee_of(attempt) +
                             ", which was abandoned; the result is from another attempt");
    }
  }

  /// Notes void matches, which are no faults: from the journal, with author and reason, otherwise
  /// from the manager's final table.
  void note_voided(const JournalLeague* kept) {
    std::set<std::string> told;
    for (const LeagueLog& log : logs_) {
      const FinalTable* table = log.facts.final_table();
      if (table == nullptr) continue;
      for (const std::string& match : table->voided) {
        const bool is_new = told.insert(match).second;
        if (kept == nullptr && is_new)
          findings_.incident(table->place, "match.voided",
                             match + " is void: by the final table it counts for nobody");
      }
    }
    if (kept == nullptr) return;
    for (const VoidedMatch& one : kept->voided) {
      findings_.incident({&kept_file_, one.entry}, "match.voided", words_of(one));
    }
  }

  [[nodiscard]] std::string referee_of(const DecidedAttempt& attempt) const {
    const MatchEvidence* match = evidence_.match(attempt.match_id);
    if (match == nullptr) return {};
    const Assignment* given = match->assigned_in(attempt.conversation);
    return given == nullptr ? std::string() : " with referee:" + given->referee;
  }

  const LeagueCase& league_;
  const std::vector<LeagueLog>& logs_;
  const LeagueEvidence& evidence_;
  Findings& findings_;
  LeagueResults results_;
  std::set<std::string> reported_;
  std::set<std::string> journalled_;
  std::string kept_file_;
};

}  // namespace

void check_results(const LeagueCase& league, Findings& findings) {
  ResultCheck(league, findings).run();
}

namespace {

using nlohmann::json;

/// Whether two texts by player, of which one may lack a player, name different ones.
std::string other_player(const json& ours, const json& theirs) {
  if (!ours.is_object() || !theirs.is_object()) return {};
  for (const auto& [player, value] : theirs.items()) {
    const std::string& own = text_at(ours, player.c_str());
    if (value.is_string() && !own.empty() && value != own) return player;
  }
  return {};
}

/// In which field the result in a GAME_OVER is another one than that of the report that the manager
/// accepted; empty: in none. What one of them lacks or has in another form is not compared: a
/// third-party referee may say less, and the schema judges forms.
std::string first_difference(const json& message, const AcceptedReport& report) {
  const json& told = field_at(message, "game_result");
  const json& details = field_at(report.result, "details");
  if (!told.is_object()) return {};
  const json& winner = field_at(told, "winner_player_id");
  const std::string& accepted = text_at(report.result, "winner");
  const bool has_winner =
      winner.is_string() || (winner.is_null() && told.contains("winner_player_id"));
  if (has_winner && winner != accepted && !(winner.is_null() && accepted.empty()))
    return "the winner";
  const auto drawn = number_at(details, "drawn_number");
  const auto other = number_at(told, "drawn_number");
  const bool says_none = told.contains("drawn_number") && field_at(told, "drawn_number").is_null();
  if (drawn && (says_none || (other && *other != *drawn))) return "the number";
  const std::string choice = other_player(field_at(details, "choices"), field_at(told, "choices"));
  if (!choice.empty()) return "the choice of " + choice;
  for (const char* key : {"choice_commitments", "choice_nonces"}) {
    const std::string player = other_player(field_at(details, key), field_at(message, key));
    if (!player.empty()) return std::string(key) + " of " + player;
  }
  return {};
}

}  // namespace

void check_endings(const LeagueCase& league, Findings& findings) {
  std::set<std::string> judged;
  for (const LeagueLog& log : league.logs) {
    for (const ReceivedGameOver& told : log.facts.ends) {
      const MatchEvidence* match = league.evidence.match(told.match_id);
      if (match == nullptr || !is_sealed(*log.log, told.place)) continue;
      std::string difference;
      bool fits = false;
      for (const AcceptedReport* report : match->reports) {
        const bool is_other_attempt = told.conversation != report->conversation &&
                                      match->assigned_in(told.conversation) != nullptr;
        if (report->sender != told.sender || is_other_attempt) continue;
        difference = first_difference(told.message, *report);
        fits = fits || difference.empty();
      }
      if (fits || difference.empty() || !judged.insert(told.match_id).second) continue;
      findings.fault(told.place, "over.contradicts",
                     told.sender + " told " + log.log->chain.agent + " another result of " +
                         told.match_id + " than the one that it reported: " + difference);
    }
  }
}

}  // namespace league::tools::auditor
